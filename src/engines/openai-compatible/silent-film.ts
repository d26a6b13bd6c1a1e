/** Takes the sound out of an MP4 for engines that always make some: its track becomes free space, nothing else moves. */

/** Boxes that hold boxes, on the way to a track's kind. */
const holders = new Set(['moov', 'trak', 'mdia']);

interface Box {
  readonly type: string;
  readonly start: number;
  readonly body: number;
  readonly end: number;
}

function* boxesIn(bytes: Buffer, from: number, to: number): Generator<Box> {
  for (let start = from; start + 8 <= to; ) {
    const short = bytes.readUInt32BE(start);
    const type = bytes.toString('latin1', start + 4, start + 8);
    const isLong = short === 1 && start + 16 <= to;
    const size = isLong ? Number(bytes.readBigUInt64BE(start + 8)) : short === 0 ? to - start : short;
    const body = start + (isLong ? 16 : 8);
    const end = start + size;
    // A broken file is handed on as it is: whoever reads it says so.
    if (end > to || end < body) return;
    yield { type, start, body, end };
    start = end;
  }
}

function isSound(bytes: Buffer, track: Box): boolean {
  for (const box of boxesIn(bytes, track.body, track.end)) {
    if (box.type === 'hdlr') return bytes.toString('latin1', box.body + 8, box.body + 12) === 'soun';
    if (holders.has(box.type) && isSound(bytes, box)) return true;
  }
  return false;
}

/** The same memory, changed. */
export function withoutSound(bytes: Buffer): Buffer {
  for (const movie of boxesIn(bytes, 0, bytes.length)) {
    if (movie.type !== 'moov') continue;
    for (const track of boxesIn(bytes, movie.body, movie.end)) {
      if (track.type === 'trak' && isSound(bytes, track)) bytes.write('free', track.start + 4, 'latin1');
    }
  }
  return bytes;
}
