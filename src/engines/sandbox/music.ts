/**
 * The sandbox's music port: songs that are composed from the words of the prompt and played in a studio, on recorded
 * instruments once those have been fetched and on plain ones until then. The same request on the same instruments is
 * the same song. For a script, half a second is a token.
 */
import { readFile } from 'node:fs/promises';
import { GatewayError } from '../../lib/errors.ts';
import type { MusicPort, MusicRequest } from '../contract/music.ts';
import type { Studio } from '../contract/studio.ts';
import type { Packs } from '../packs/index.ts';
import type { MusicOrder } from './music/render.ts';
import { systemTimers, type Timers, wait } from './script.ts';
import { createScripts } from './scripts.ts';
import { toSeed } from './seed.ts';

export interface SandboxMusicParts {
  readonly studio: Studio;
  /** Undefined: plain instruments are enough. */
  readonly packs: Pick<Packs, 'require'> | undefined;
  /** How much faster than `expectedMs` a song may be there. */
  readonly speedup: number;
  readonly timers?: Timers;
}

const partSeconds = 0.5;
const bytesPerSample = 2;
const module = new URL('./music/render.ts', import.meta.url);

export function createSandboxMusic({
  studio,
  packs,
  speedup,
  timers = systemTimers,
}: SandboxMusicParts): MusicPort {
  const scriptOf = createScripts(timers);

  return {
    async *render(request, context, signal) {
      const { sampleRate, durationSeconds, count } = request;
      const channels = checkChannels(request);
      const script = await scriptOf(request).begin(
        toSeed([request.model, request.prompt, request.seed]),
        signal,
      );
      const soundfont = packs === undefined ? undefined : await findSoundfont(packs);
      const frameBytes = channels * bytesPerSample;
      const songBytes = Math.floor(durationSeconds * sampleRate) * frameBytes;
      const startedAt = timers.now();
      let made = 0;
      let parts = 0;

      /** A song that is there at once would show nothing of what it is to wait for one. */
      async function pace(): Promise<void> {
        await script.token(parts);
        const share = made / (songBytes * count);
        const dueMs = startedAt + (share * context.expectedMs) / speedup - timers.now();
        if (dueMs > 0) await wait(dueMs, signal, timers);
        signal.throwIfAborted();
      }

      for (let index = 0; index < count; index++) {
        const order = {
          module,
          request: toOrder(request, channels, index),
          inputs: soundfont === undefined ? [] : [soundfont],
          maxBytes: songBytes,
          maxCpuMs: 60_000 + durationSeconds * 4_000,
        };
        const partBytes = Math.round(partSeconds * sampleRate) * frameBytes;
        for await (const samples of inParts(studio.render(order, signal), partBytes)) {
          await pace();
          yield { index, samples };
          parts += 1;
          made += samples.length;
          context.progress(Math.min(1, made / (songBytes * count)));
        }
        // A song may be shorter than it was allowed to be.
        made = songBytes * (index + 1);
      }
    },
  };
}

function checkChannels({ channels }: MusicRequest): 1 | 2 {
  if (channels === 1 || channels === 2) return channels;
  throw new GatewayError('invalid_request', 'channels must be 1 or 2: the sandbox plays no other', {
    param: 'channels',
  });
}

function toOrder(request: MusicRequest, channels: 1 | 2, index: number): MusicOrder {
  const { prompt, negativePrompt, lyrics, instrumental, durationSeconds, seed, temperature, sampleRate } =
    request;
  return {
    wish: {
      prompt,
      negativePrompt,
      lyrics,
      isInstrumental: instrumental,
      seconds: durationSeconds,
      seed,
      index,
      temperature,
    },
    sampleRate,
    channels,
  };
}

/** Undefined while they are on their way, or cannot be had: a song does not wait for its instruments. */
async function findSoundfont(packs: Pick<Packs, 'require'>): Promise<Buffer | undefined> {
  try {
    const { instruments = '' } = await packs.require('gm-soundfont');
    return await readFile(instruments);
  } catch (error) {
    // Asking has begun to fetch them. Removed by an operator between the two lines, they are fetched again, too.
    if (error instanceof GatewayError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** However the studio hands bytes over: parts of the same length, but for the last. */
async function* inParts(bytes: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    waiting.push(chunk);
    length += chunk.length;
    if (length < partBytes) continue;
    const all = Buffer.concat(waiting);
    let at = 0;
    for (; at + partBytes <= all.length; at += partBytes) yield all.subarray(at, at + partBytes);
    waiting = [all.subarray(at)];
    length = all.length - at;
  }
  if (length > 0) yield Buffer.concat(waiting);
}
