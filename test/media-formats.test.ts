/** Long sound in every format of the API: the right length, and memory that does not grow with it. */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../src/lib/log.ts';
import { createMedia, type Media } from '../src/platform/media/index.ts';
import { makeSound, soundFormats } from './support/audio-files.ts';

const minutes = 10;
const sampleRate = 16_000;
const signal = new AbortController().signal;
const megabyte = 1024 * 1024;
let media: Media & { readonly pids: readonly number[] };
let collectGarbage: () => void;

beforeAll(() => {
  setFlagsFromString('--expose-gc');
  collectGarbage = runInNewContext('gc');
  media = createMedia({ log: createLog('silent') });
});

afterAll(() => media.close());

/** A format whose frames are numbered cannot be made of a repeated stretch. */
async function makeLong(format: (typeof soundFormats)[number]): Promise<Buffer> {
  const isRepeatable = format !== 'flac' && format !== 'wav';
  return isRepeatable ? makeSound(format, 30, 440, minutes * 2) : makeSound(format, minutes * 60);
}

it.each(soundFormats)(
  '[STT-7] decodes ten minutes of %s: right seconds, flat memory',
  async (format) => {
    const file = await makeLong(format);
    const { durationSeconds } = await media.probe(file, 'file', signal);
    expect(Math.abs(durationSeconds - minutes * 60)).toBeLessThan(3);

    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    let pieces = 0;
    let samples = 0;
    for await (const piece of media.decode(file, { sampleRate, maxSeconds: 3_600, param: 'file' }, signal)) {
      samples += piece.length;
      pieces += 1;
      if (pieces % 60 === 0) {
        collectGarbage();
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      }
    }
    expect(Math.abs(samples / sampleRate - minutes * 60)).toBeLessThan(3);
    // All of it would be 19 MB.
    expect(most).toBeLessThan(2 * megabyte);

    // One process did it all, and never held more than the file and a little besides.
    expect(media.pids).toHaveLength(1);
    if (process.platform !== 'linux') return;
    const status = readFileSync(`/proc/${media.pids[0]}/status`, 'utf8');
    const peakMb = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    expect(peakMb).toBeGreaterThan(50);
    expect(peakMb).toBeLessThan(250);
  },
  120_000,
);
