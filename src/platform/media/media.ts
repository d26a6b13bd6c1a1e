/** The one door to sound and film: tells what a file is, hands the work to a process, and says in our words what went wrong. */
import assert from 'node:assert';
import { GatewayError, refusal } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { acceptedSound, sniffContainer } from './container.ts';
import { JobFailure } from './failure.ts';
import { createPool, type Job, type MediaLimits } from './pool.ts';
import type { Container, JobKind, JobKinds } from './program/protocol.ts';
import type { FilmInfo, Media, MediaInfo } from './types.ts';
import { toWav } from './wav.ts';

export const mediaLimits: MediaLimits = {
  processes: 8,
  queueMs: 20_000,
  timeoutMs: 60_000,
  cpuMs: 180_000,
  memoryMb: 512,
  idleMs: 60_000,
};

/** Five hours of 24 kHz. */
const mostOutputBytes = 1e9;
const bytesPerSample = 2;
const slowest = 0.25;
const fastest = 4;

export interface MediaParts {
  readonly log: Log;
  readonly limits?: Partial<MediaLimits>;
  /** Tests put one of their own here. */
  readonly program?: URL;
}

export interface RunningMedia extends Media {
  /** The processes there are. */
  readonly pids: readonly number[];
}

export function createMedia({ log, limits: given, program = ownProgram() }: MediaParts): RunningMedia {
  const limits = { ...mediaLimits, ...given };
  const pool = createPool({ log, limits, program });

  /** Output that is wanted as a whole. */
  async function collect<Kind extends JobKind>(
    job: Job<Kind>,
    signal: AbortSignal,
  ): Promise<{ bytes: Buffer; result: JobKinds[Kind]['result'] }> {
    const parts: Uint8Array[] = [];
    const run = pool.run(job, signal);
    for (;;) {
      const step = await run.next();
      if (step.done) return { bytes: Buffer.concat(parts), result: step.value };
      parts.push(step.value);
    }
  }

  async function stretch(
    samples: Int16Array,
    { sampleRate, channels, speed }: JobKinds['stretch']['options'],
    signal: AbortSignal,
  ): Promise<Int16Array> {
    signal.throwIfAborted();
    checkSpeed(speed);
    if (speed === 1 || samples.length === 0) return samples;
    const options = { sampleRate, channels, speed };
    const job = { kind: 'stretch', options, input: toBytes(samples), maxBytes: mostOutputBytes } as const;
    try {
      return toSamples((await collect(job, signal)).bytes);
    } catch (error) {
      throw toOurFault(error);
    }
  }

  async function probe(
    bytes: Buffer,
    param: string,
    options: JobKinds['probe']['options'],
    signal: AbortSignal,
  ): Promise<MediaInfo> {
    try {
      return (await collect({ kind: 'probe', options, input: bytes, maxBytes: 0 }, signal)).result;
    } catch (error) {
      throw toRefusal(error, param, limits);
    }
  }

  async function* decode(
    bytes: Buffer,
    { param, ...given }: Omit<JobKinds['decode']['options'], 'container'> & { param: string },
    signal: AbortSignal,
  ): AsyncGenerator<Int16Array> {
    const options = { container: toSoundContainer(bytes, param), ...given };
    const { sampleRate, maxSeconds, channels = 1 } = options;
    const maxBytes = (maxSeconds + 1) * sampleRate * channels * bytesPerSample;
    try {
      const parts = pool.run({ kind: 'decode', options, input: bytes, maxBytes }, signal);
      for await (const part of parts) yield toSamples(part);
    } catch (error) {
      throw toRefusal(error, param, limits);
    }
  }

  return {
    get pids() {
      return pool.pids;
    },

    probe: async (bytes, param, signal, accepted) =>
      probe(bytes, param, { container: toSoundContainer(bytes, param, accepted) }, signal),

    async probeFilm(bytes, param, signal) {
      const options = { container: toFilmContainer(bytes, param), isFilm: true };
      // The program refuses a film without pictures.
      return (await probe(bytes, param, options, signal)) as FilmInfo;
    },

    decode: (bytes, { sampleRate, maxSeconds, param }, signal) =>
      decode(bytes, { sampleRate, maxSeconds, param }, signal),

    async encode(samples, { format, sampleRate, channels = 1, speed = 1 }, signal) {
      signal.throwIfAborted();
      checkSpeed(speed);
      assert(samples.length % channels === 0, 'samples are whole in every channel');
      if (format === 'wav')
        return toWav(await stretch(samples, { sampleRate, channels, speed }, signal), sampleRate, channels);
      const options = { format, sampleRate, channels, speed };
      const seconds = samples.length / channels / sampleRate;
      const job = {
        kind: 'encode',
        options,
        input: toBytes(samples),
        maxBytes: mostOutputBytes,
        // All of it comes at the end, and even on a busy machine no later than one could have listened to it.
        timeoutMs: limits.timeoutMs + seconds * 1000,
      } as const;
      try {
        return (await collect(job, signal)).bytes;
      } catch (error) {
        throw toOurFault(error);
      }
    },

    stretch: (samples, sampleRate, speed, signal) =>
      stretch(samples, { sampleRate, channels: 1, speed }, signal),

    async cut(bytes, options, signal) {
      const { sampleRate, channels, startSeconds, endSeconds, maxSeconds, param } = options;
      assert(startSeconds >= 0 && endSeconds >= startSeconds, 'a stretch begins before it ends');
      const wanted = { sampleRate, channels, maxSeconds, param, stretch: { startSeconds, endSeconds } };
      const samples = await gather(decode(bytes, wanted, signal));
      return toWav(samples, sampleRate, channels);
    },

    async join(sounds, { sampleRate, channels, maxSeconds }, signal) {
      async function* all() {
        for (const { bytes, param } of sounds)
          yield* decode(bytes, { sampleRate, channels, maxSeconds, param }, signal);
      }
      return toWav(await gather(all()), sampleRate, channels);
    },

    close: () => pool.close(),
  };
}

function ownProgram(): URL {
  return new URL('./program/program.ts', import.meta.url);
}

function checkSpeed(speed: number): void {
  assert(speed >= slowest && speed <= fastest, `a speed is from ${slowest} to ${fastest}`);
}

function toSoundContainer(bytes: Buffer, param: string, accepted?: readonly string[]): Container {
  const container = sniffContainer(bytes);
  if (container !== undefined && (accepted?.includes(container) ?? true)) return container;
  const words = accepted?.join(' or ') ?? acceptedSound;
  throw refusal(param, bytes.length === 0 ? 'is empty' : `is not audio of an accepted kind: ${words}`);
}

function toFilmContainer(bytes: Buffer, param: string): Container {
  const container = sniffContainer(bytes);
  if (container === 'mp4' || container === 'mov') return container;
  throw refusal(param, bytes.length === 0 ? 'is empty' : 'is not a video of an accepted kind: mp4 or mov');
}

async function gather(parts: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const all = await Array.fromAsync(parts);
  const samples = new Int16Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of all) {
    samples.set(part, at);
    at += part.length;
  }
  return samples;
}

/** What becomes of a file is its own doing, a crash included: a client must not be told to try it again. */
function toRefusal(error: unknown, param: string, { timeoutMs, memoryMb }: MediaLimits): unknown {
  if (!(error instanceof JobFailure)) return error;
  switch (error.reason) {
    case 'input':
      return refusal(param, error.problem ?? 'cannot be decoded', error);
    case 'crash':
    case 'output':
      return refusal(param, 'cannot be decoded', error);
    case 'time':
      return refusal(param, `takes too long to decode: the limit is ${timeoutMs / 1000} s`, error);
    case 'memory':
      return refusal(param, `takes more than ${memoryMb} MB of memory to decode`, error);
    case 'job':
    case 'missing':
    case 'outside':
      return toOurFault(error);
  }
}

function toOurFault(error: unknown): unknown {
  if (!(error instanceof JobFailure)) return error;
  if (error.reason === 'outside')
    return new GatewayError('unreachable', 'The audio was not processed to its end; try again', {
      cause: error,
    });
  return new GatewayError('internal', 'The audio could not be processed', { cause: error });
}

function toBytes({ buffer, byteOffset, byteLength }: Int16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Bytes of a message begin anywhere; samples must begin at an even place. */
function toSamples(bytes: Uint8Array): Int16Array {
  const aligned = bytes.byteOffset % bytesPerSample === 0 ? bytes : new Uint8Array(bytes);
  return new Int16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / bytesPerSample);
}
