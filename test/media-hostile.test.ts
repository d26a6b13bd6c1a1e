/** Files that try to break, hang, fill or misuse the gateway: each is refused by name or decoded harmlessly. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayError } from '../src/lib/errors.ts';
import { createLog } from '../src/lib/log.ts';
import { createMedia, type Media } from '../src/platform/media/index.ts';
import { makeSound, soundFormats } from './support/audio-files.ts';
import { type HostileFile, makeHostileFiles, type SoundSamples } from './support/hostile-audio.ts';

const seconds = 2;
/** A length that no other file has: if it is ever told, the file on disk was read. */
const baitSeconds = 7;
const maxSeconds = 600;
const sampleRate = 16_000;
const signal = new AbortController().signal;

let folder: string;
let server: Server;
let connections = 0;
let media: Media;
let samples: SoundSamples;
let files: HostileFile[];
const lines: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-hostile-'));
  const path = join(folder, 'bait.wav');
  await writeFile(path, await makeSound('wav', baitSeconds));
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const made = await Promise.all(
    soundFormats.map(async (format) => [format, await makeSound(format, seconds)] as const),
  );
  samples = Object.fromEntries(made) as SoundSamples;
  files = makeHostileFiles(samples, { path, url: `http://127.0.0.1:${port}/bait.wav` });
  media = createMedia({
    log: createLog('warn', { write: (line) => lines.push(line) }),
    limits: { timeoutMs: 15_000, processes: 2 },
  });
});

afterAll(async () => {
  await media.close();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

async function decode(bytes: Buffer, longest = maxSeconds): Promise<number> {
  const options = { sampleRate, maxSeconds: longest, param: 'file' };
  let count = 0;
  for await (const piece of media.decode(bytes, options, signal)) count += piece.length;
  return count / sampleRate;
}

/** What a client may be told: the field, and what is wrong with it in words of ours. */
function expectRefusal(error: unknown): string {
  expect(error).toBeInstanceOf(GatewayError);
  const { kind, param, message } = error as GatewayError;
  expect({ kind, param }).toEqual({ kind: 'invalid_request', param: 'file' });
  expect(message).toMatch(/^file (is|has|holds|cannot|takes) /);
  expect(message).not.toMatch(/ffmpeg|libav|avcodec|averror|errno|signal|SIG|process|\/tmp|0x/i);
  return message;
}

describe('a hostile file', () => {
  it('is one of many kinds', () => {
    expect(files.length).toBeGreaterThan(200);
    expect(new Set(files.map(({ name }) => name)).size).toBe(files.length);
  });

  it('[STT-11] is refused with a 400 that names the field, or decoded within the limits; no file is read, no server called', async () => {
    const outcomes: string[] = [];
    const work = [...files];
    const worker = async () => {
      for (let next = work.shift(); next !== undefined; next = work.shift()) {
        const { name, bytes } = next;
        const startedAt = performance.now();
        const probed = await media
          .probe(bytes, 'file', signal)
          .then(
            ({ container, durationSeconds }) => `${container} ${durationSeconds.toFixed(2)} s`,
            expectRefusal,
          );
        const decoded = await decode(bytes).then((length) => {
          expect(length, name).toBeLessThanOrEqual(maxSeconds);
          expect(Math.abs(length - baitSeconds), name).toBeGreaterThan(0.05);
          return `${length.toFixed(2)} s`;
        }, expectRefusal);
        expect(performance.now() - startedAt, name).toBeLessThan(30_000);
        outcomes.push(`${name}: ${probed} | ${decoded}`);
      }
    };
    await Promise.all([worker(), worker()]);
    expect(outcomes).toHaveLength(files.length);
    expect(connections).toBe(0);
    // Playlists are no containers of ours: they are not even tried.
    const tried = outcomes.filter((line) => /^(hls|concat list|dash|session|pls|asx|xspf|bare)/.test(line));
    expect(tried.length).toBeGreaterThan(15);
    for (const line of tried)
      expect(line).toMatch(/is not audio of an accepted kind.*\|.*is not audio of an accepted kind/);
    // Nothing of it is over: the next sound is decoded as ever.
    expect(await decode(samples.wav)).toBeCloseTo(seconds, 2);
    if (process.env['SHOW_HOSTILE'] !== undefined)
      process.stdout.write(`${[...outcomes, ...lines].join('\n')}\n`);
  }, 240_000);

  it('that unpacks to hours of silence is refused when it passes the limit', async () => {
    for (const [format, bombSeconds] of [
      ['flac', 3_600],
      ['opus', 90],
    ] as const) {
      const silence = new Int16Array(8_000 * bombSeconds);
      const bomb = await media.encode(silence, { format, sampleRate: 8_000 }, signal);
      expect(bomb.length).toBeLessThan(silence.byteLength / 10);
      await expect(decode(bomb, 60)).rejects.toMatchObject({
        kind: 'invalid_request',
        message: 'file is longer than the limit of 1 minute',
      });
    }
  }, 60_000);

  it('that hides its length is refused in the middle, when it passes the limit', async () => {
    const hour = await media.encode(
      new Int16Array(8_000 * 3_600),
      { format: 'flac', sampleRate: 8_000 },
      signal,
    );
    // The 36 bits of its length, set to "unknown".
    hour[21] = (hour[21] ?? 0) & 0xf0;
    hour.fill(0, 22, 26);
    let read = 0;
    const reading = (async () => {
      for await (const piece of media.decode(hour, { sampleRate, maxSeconds, param: 'file' }, signal))
        read += piece.length;
    })();
    await expect(reading).rejects.toMatchObject({ message: 'file is longer than the limit of 10 minutes' });
    expect(read / sampleRate).toBeGreaterThan(maxSeconds - 3);
    expect(read / sampleRate).toBeLessThanOrEqual(maxSeconds);
  }, 60_000);
});
