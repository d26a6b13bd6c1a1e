/**
 * Puts the index of an MP4 in front of its pictures and sound, so that a player can begin before all has arrived.
 * FFmpeg's own way reopens the file by its name, and ours has none. Pure.
 */
import assert from 'node:assert';

interface Box {
  readonly type: string;
  readonly start: number;
  /** Behind its size and its name. */
  readonly body: number;
  readonly end: number;
}

/** On the way from the index to the places of the chunks (ISO 14496-12, section 6.2.3). */
const parents = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl']);
const largest = 0xffffffff;

export function toFastStart(file: Buffer): Buffer {
  const boxes = [...readBoxes(file, 0, file.length)];
  const index = boxes.find(({ type }) => type === 'moov');
  const media = boxes.find(({ type }) => type === 'mdat');
  assert(index !== undefined && media !== undefined, 'an MP4 has an index and media');
  if (index.start < media.start) return file;
  const moov = Buffer.from(file.subarray(index.start, index.end));
  // All that stands between the media's start and the index moves back by the length of the index.
  moveChunks(moov, 0, moov.length, moov.length);
  return Buffer.concat([
    file.subarray(0, media.start),
    moov,
    file.subarray(media.start, index.start),
    file.subarray(index.end),
  ]);
}

function moveChunks(bytes: Buffer, from: number, to: number, by: number): void {
  for (const { type, body, end } of readBoxes(bytes, from, to)) {
    if (parents.has(type)) moveChunks(bytes, body, end, by);
    if (type !== 'stco' && type !== 'co64') continue;
    // Behind version, flags and count.
    for (let at = body + 8; at < end; at += type === 'stco' ? 4 : 8) {
      if (type === 'co64') {
        bytes.writeBigUInt64BE(bytes.readBigUInt64BE(at) + BigInt(by), at);
        continue;
      }
      const place = bytes.readUInt32BE(at) + by;
      assert(place <= largest, 'a film of more than 4 GB has long places');
      bytes.writeUInt32BE(place, at);
    }
  }
}

function* readBoxes(bytes: Buffer, from: number, to: number): Generator<Box> {
  for (let start = from; start + 8 <= to; ) {
    const size = bytes.readUInt32BE(start);
    const type = bytes.toString('latin1', start + 4, start + 8);
    // 1: the size follows in 64 bits; 0: it goes on to the end.
    const end =
      size === 1 ? start + Number(bytes.readBigUInt64BE(start + 8)) : size === 0 ? to : start + size;
    const body = start + (size === 1 ? 16 : 8);
    assert(end >= body && end <= to, `the box ${type} is whole`);
    yield { type, start, body, end };
    start = end;
  }
}
