/**
 * The sandbox's video port: films that are drawn, moved and played from the words of the prompt, the frames and the
 * references, in the studio's process. The same request is the same film. For a script, a percent of it is a token.
 */
import type { Studio, StudioOrder } from '../contract/studio.ts';
import type { VideoPort, VideoRequest } from '../contract/video.ts';
import { countFrames, createFilmReader, type FilmOrder, type InputRole } from './film/order.ts';
import { systemTimers, type Timers, wait } from './script.ts';
import { createScripts } from './scripts.ts';
import { toSeed } from './seed.ts';

export interface SandboxVideoParts {
  /** How much faster than `expectedMs` a film may be there. */
  readonly speedup: number;
  readonly timers?: Timers;
}

const module = new URL('./film/render.ts', import.meta.url);

/** Ten times what was measured: 25 ms for a frame of a megapixel, drawn and encoded (Node 24, two cores). */
const cpuMsPerMegapixel = 250;
const leastCpuMs = 60_000;
/** Ten times what rain in a city at night takes. */
const bytesPerPixel = 0.25;
const leastBytes = 8 * 1024 * 1024;

export function createSandboxVideo(
  studio: Studio,
  { speedup, timers = systemTimers }: SandboxVideoParts,
): VideoPort {
  const scriptOf = createScripts(timers);
  return {
    async render(request, context, signal) {
      const { model, prompt, seed } = request;
      const script = await scriptOf(request).begin(toSeed([model, prompt, seed]), signal);
      const startedAt = timers.now();
      const rendering = studio.render(toStudioOrder(request), signal);
      const reader = createFilmReader();
      let told = 0;

      /** A film that is there at once would show nothing of what it is to wait for one. */
      async function pace(percent: number): Promise<void> {
        for (; told < percent; told++) await script.token(told);
        const dueMs = startedAt + (percent / 100) * (context.expectedMs / speedup) - timers.now();
        if (dueMs > 0) await wait(dueMs, signal, timers);
        signal.throwIfAborted();
        context.progress(percent / 100);
      }

      try {
        for await (const piece of rendering) {
          const percent = reader.take(piece);
          if (percent !== undefined) await pace(percent);
        }
        return reader.film();
      } finally {
        // A script that fails in the middle leaves nothing behind.
        await rendering.return(undefined);
      }
    },
  };
}

function toStudioOrder(request: VideoRequest): StudioOrder {
  const { width, height } = request;
  const files = toFiles(request);
  const roles = files.map(({ role }) => role);
  const order = toOrder(request, roles);
  const pixels = order.frames * width * height;
  return {
    module,
    request: order,
    inputs: files.map(({ bytes }) => bytes),
    maxBytes: leastBytes + Math.ceil(pixels * bytesPerPixel),
    maxCpuMs: leastCpuMs + Math.ceil((pixels / 1e6) * cpuMsPerMegapixel),
  };
}

function toOrder(request: VideoRequest, roles: readonly InputRole[]): FilmOrder {
  const { prompt, durationSeconds, fps, width, height, upscale, seed, steps, schedule } = request;
  return {
    prompt,
    frames: countFrames(durationSeconds, fps),
    fps,
    width: Math.round(width / upscale),
    height: Math.round(height / upscale),
    upscale,
    seed,
    steps,
    schedule,
    hasSound: request.generateAudio,
    startSeconds: request.startTimeSeconds ?? 0,
    roles,
  };
}

function toFiles({ firstFrame, lastFrame, references }: VideoRequest) {
  const files: { role: InputRole; bytes: Buffer }[] = [];
  if (firstFrame !== undefined) files.push({ role: 'first_frame', bytes: firstFrame.bytes });
  if (lastFrame !== undefined) files.push({ role: 'last_frame', bytes: lastFrame.bytes });
  for (const { kind, bytes } of references) files.push({ role: kind, bytes });
  return files;
}
