import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../lib/log.ts';
import { createRecordings, type Recordings } from './index.ts';

const log = createLog('silent');
const minuteMs = 60_000;
const jobId = 'music_0123456789abcdef01234567';
const song = { jobId, index: 0 };
const id = (attempt: number, index = 0) => ({ jobId, attempt, index });

let folder: string;
let time: number;
const opened: Recordings[] = [];

/** A process of its own, as far as the folder can tell. */
function openRecordings(parts: { pollMs?: number; sweepEveryMs?: number } = {}): Recordings {
  const made = createRecordings({ folder, now: () => time, log, ...parts });
  opened.push(made);
  return made;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-test-'));
  time = Date.now();
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const made of opened.splice(0)) await made.close();
  await rm(folder, { recursive: true });
});

const goesOn = async () => false;
const present = new AbortController().signal;

/** Listens to the end. */
async function hear(sound: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of sound) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

const files = async () => (await readdir(join(folder, 'recordings', jobId)).catch(() => [])).toSorted();

describe('a recording', () => {
  it('[MUSIC-33] is heard from its first byte, by who came early, in the middle and after the end', async () => {
    const recordings = openRecordings({ pollMs: minuteMs });
    const pieces = Array.from({ length: 7 }, (_, at) => randomBytes(20_000 * at + 1));
    const listeners = [hear(recordings.follow(song, goesOn, present))];
    const recorder = await recordings.record(id(1));
    for (const piece of pieces) {
      await recorder.write(piece);
      listeners.push(hear(recordings.follow(song, goesOn, present)));
    }
    await recorder.end();
    listeners.push(hear(recordings.follow(song, goesOn, present)));
    const whole = Buffer.concat(pieces);
    for (const listener of listeners) expect((await listener).equals(whole)).toBe(true);
  });

  it('reaches a listener while it is made, woken and not asked', async () => {
    const recordings = openRecordings({ pollMs: minuteMs });
    const sound = recordings.follow(song, goesOn, present)[Symbol.asyncIterator]();
    const first = sound.next();
    const recorder = await recordings.record(id(1));
    await recorder.write(Buffer.from('one'));
    expect(String((await first).value)).toBe('one');
    const second = sound.next();
    await recorder.write(Buffer.from('two'));
    expect(String((await second).value)).toBe('two');
    const third = sound.next();
    await recorder.end();
    expect((await third).done).toBe(true);
  });

  it('is followed in another process too', async () => {
    const maker = openRecordings();
    const other = openRecordings({ pollMs: 5 });
    const early = hear(other.follow(song, goesOn, present));
    const recorder = await maker.record(id(1));
    await recorder.write(Buffer.from('one'));
    const middle = other.follow(song, goesOn, present)[Symbol.asyncIterator]();
    expect(String((await middle.next()).value)).toBe('one');
    expect(await other.isKept(song)).toBe(true);
    await recorder.write(Buffer.from('two'));
    expect(String((await middle.next()).value)).toBe('two');
    await recorder.end();
    expect((await middle.next()).done).toBe(true);
    expect(String(await early)).toBe('onetwo');
    expect(String(await hear(other.follow(song, goesOn, present)))).toBe('onetwo');
  });

  it('keeps the order of writes that nobody waits for', async () => {
    const recordings = openRecordings();
    const recorder = await recordings.record(id(1));
    const pieces = Array.from({ length: 50 }, (_, at) => Buffer.alloc(5_000, at));
    await Promise.all([...pieces.map((piece) => recorder.write(piece)), recorder.end()]);
    const heard = await hear(recordings.follow(song, goesOn, present));
    expect(heard.equals(Buffer.concat(pieces))).toBe(true);
  });

  it('is not slowed by a listener that does not read, and holds nothing for it', async () => {
    const recordings = openRecordings();
    const recorder = await recordings.record(id(1));
    await recorder.write(Buffer.alloc(10));
    const slow = recordings.follow(song, goesOn, present)[Symbol.asyncIterator]();
    await slow.next();
    const before = process.memoryUsage.rss();
    const piece = Buffer.alloc(1024 * 1024, 7);
    for (let at = 0; at < 100; at++) await recorder.write(piece);
    await recorder.end();
    expect(process.memoryUsage.rss() - before).toBeLessThan(60 * 1024 * 1024);
    let bytes = 0;
    for (let next = await slow.next(); next.done !== true; next = await slow.next())
      bytes += next.value.length;
    expect(bytes).toBe(100 * piece.length);
  });

  it('has songs that do not mix', async () => {
    const recordings = openRecordings();
    const second = hear(recordings.follow({ jobId, index: 1 }, goesOn, present));
    for (const index of [0, 1]) {
      const recorder = await recordings.record(id(1, index));
      await recorder.write(Buffer.from(`song ${index}`));
      await recorder.end();
    }
    expect(String(await second)).toBe('song 1');
    expect(String(await hear(recordings.follow(song, goesOn, present)))).toBe('song 0');
  });
});

describe('a retry', () => {
  it.each(['this process', 'another process'])(
    '[MUSIC-37] drops the listeners, in %s, and a new one hears the new attempt alone',
    async (where) => {
      const maker = openRecordings();
      const recordings = where === 'this process' ? maker : openRecordings({ pollMs: 5 });
      const first = await maker.record(id(1));
      await first.write(Buffer.alloc(200_000, 1));
      const sound = recordings.follow(song, goesOn, present)[Symbol.asyncIterator]();
      expect((await sound.next()).value?.[0]).toBe(1);
      const second = await maker.record(id(2));
      expect((await sound.next()).done).toBe(true);
      await second.write(Buffer.from('new'));
      // The first maker may live on for a moment, thought dead.
      await first.write(Buffer.alloc(10, 1));
      await first.end();
      await second.end();
      expect(String(await hear(recordings.follow(song, goesOn, present)))).toBe('new');
      expect(await files()).toEqual(['2-0.end', '2-0.pcm']);
    },
  );

  it('drops the listeners of a song that had ended, and of songs that it has not come to', async () => {
    const recordings = openRecordings();
    const ended = await recordings.record(id(1, 0));
    await ended.write(Buffer.alloc(200_000, 1));
    await ended.end();
    const running = await recordings.record(id(1, 1));
    await running.write(Buffer.alloc(10, 1));
    const sounds = [0, 1].map((index) =>
      recordings.follow({ jobId, index }, goesOn, present)[Symbol.asyncIterator](),
    );
    for (const sound of sounds) await sound.next();
    await recordings.record(id(2, 0));
    for (const sound of sounds) expect((await sound.next()).done).toBe(true);
    expect(await recordings.isKept({ jobId, index: 1 })).toBe(false);
    await running.end();
  });

  it('with the number of the attempt that was given back starts over too', async () => {
    const recordings = openRecordings();
    const first = await recordings.record(id(1));
    await first.write(Buffer.alloc(200_000, 1));
    await first.end();
    const sound = recordings.follow(song, goesOn, present)[Symbol.asyncIterator]();
    await sound.next();
    const again = await recordings.record(id(1));
    expect((await sound.next()).done).toBe(true);
    await again.write(Buffer.from('again'));
    await again.end();
    expect(String(await hear(recordings.follow(song, goesOn, present)))).toBe('again');
  });
});

describe('after the end', () => {
  it('it is kept for ten minutes, across restarts, and then swept', async () => {
    const recordings = openRecordings();
    expect(await recordings.isKept(song)).toBe(false);
    const recorder = await recordings.record(id(1));
    expect(await recordings.isKept(song)).toBe(true);
    await recorder.write(Buffer.from('song'));
    await recorder.end();
    time += 10 * minuteMs - 1;
    const restarted = openRecordings();
    await restarted.close();
    expect(await recordings.isKept(song)).toBe(true);
    expect(String(await hear(recordings.follow(song, goesOn, present)))).toBe('song');
    time += 1;
    expect(await recordings.isKept(song)).toBe(false);
    expect(await hear(openRecordings({ pollMs: 1 }).follow(song, async () => true, present))).toHaveLength(0);
    await openRecordings().close();
    expect(await readdir(join(folder, 'recordings'))).toEqual([]);
  });

  it('who listens when it is swept hears it to its end', async () => {
    const recordings = openRecordings();
    const recorder = await recordings.record(id(1));
    await recorder.write(Buffer.alloc(200_000, 1));
    await recorder.end();
    const sound = recordings.follow(song, goesOn, present);
    const heard = [];
    for await (const chunk of sound) {
      heard.push(chunk.length);
      time += 10 * minuteMs;
      await openRecordings().close();
    }
    expect(heard.reduce((sum, length) => sum + length)).toBe(200_000);
    expect(await files()).toEqual([]);
  });

  it('is swept at intervals', async () => {
    const recordings = openRecordings({ sweepEveryMs: 5 });
    await (await recordings.record(id(1))).end();
    time += 10 * minuteMs;
    await expect.poll(files).toEqual([]);
  });
});

describe('a maker that died', () => {
  it('ends nothing: who listens is let go when the job is over, with all that there is', async () => {
    const maker = openRecordings();
    const recorder = await maker.record(id(1));
    await recorder.write(Buffer.from('half'));
    const recordings = openRecordings({ pollMs: 1 });
    let isOver = false;
    const asked = vi.fn(async () => isOver);
    const heard = hear(recordings.follow(song, asked, present));
    await expect.poll(() => asked.mock.calls.length).toBeGreaterThan(1);
    isOver = true;
    expect(String(await heard)).toBe('half');
    const nothing = recordings.follow({ jobId: 'music_none', index: 0 }, async () => true, present);
    expect(await hear(nothing)).toHaveLength(0);
  });

  it('leaves a recording that is swept when it has not grown for hours', async () => {
    const maker = openRecordings();
    await (await maker.record(id(1))).write(Buffer.from('half'));
    await maker.close();
    const path = join(folder, 'recordings', jobId, '1-0.pcm');
    await utimes(path, time / 1000, time / 1000);
    time += 6 * 60 * minuteMs - 1000;
    await openRecordings().close();
    expect(await files()).toEqual(['1-0.pcm']);
    time += 1000;
    await openRecordings().close();
    expect(await files()).toEqual([]);
  });

  it('but never one that this process still makes', async () => {
    const recordings = openRecordings({ sweepEveryMs: 5 });
    const recorder = await recordings.record(id(1));
    const other = 'music_other';
    await (await recordings.record({ ...id(1), jobId: other })).end();
    time += 24 * 60 * minuteMs;
    await expect.poll(() => readdir(join(folder, 'recordings'))).toEqual([jobId]);
    await recorder.write(Buffer.from('late'));
    await recorder.end();
    expect(String(await hear(recordings.follow(song, goesOn, present)))).toBe('late');
  });
});

describe('a full disk', () => {
  it('is an internal failure for who records; what cannot even be ended is removed', async () => {
    const recordings = openRecordings();
    const recorder = await recordings.record(id(1));
    const handle = await open(join(folder, 'recordings', jobId, '1-0.pcm'));
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
    vi.spyOn(prototype, 'appendFile').mockRejectedValueOnce(full);
    await expect(recorder.write(Buffer.from('x'))).rejects.toMatchObject({
      kind: 'internal',
      message: 'There is no room left for the recording',
    });
    vi.spyOn(prototype, 'stat').mockRejectedValueOnce(full);
    await recorder.end();
    expect(await files()).toEqual([]);
  });
});

describe('a listener', () => {
  it('that leaves is forgotten at once', async () => {
    const recordings = openRecordings({ pollMs: minuteMs });
    await recordings.record(id(1));
    const leaving = new AbortController();
    const heard = hear(recordings.follow(song, goesOn, leaving.signal));
    const waiting = hear(recordings.follow({ jobId, index: 3 }, goesOn, leaving.signal));
    leaving.abort();
    expect(await heard).toHaveLength(0);
    expect(await waiting).toHaveLength(0);
  });

  it('is let go when the gateway closes, and when the job is removed', async () => {
    const recordings = openRecordings({ pollMs: minuteMs });
    await (await recordings.record(id(1))).write(Buffer.from('half'));
    const removed = recordings.follow(song, goesOn, present)[Symbol.asyncIterator]();
    await removed.next();
    const next = removed.next();
    await recordings.remove(jobId);
    expect((await next).done).toBe(true);
    const other = hear(recordings.follow({ jobId: 'music_other', index: 0 }, goesOn, present));
    await recordings.close();
    expect(await other).toHaveLength(0);
  });

  it('ids that are no ids of jobs lead nowhere', async () => {
    const recordings = openRecordings();
    await expect(recordings.remove('../x')).rejects.toThrow(/not the id of a job/);
    await expect(recordings.isKept({ jobId: '', index: 0 })).rejects.toThrow(/not the id of a job/);
  });
});
