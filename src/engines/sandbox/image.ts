/**
 * The sandbox's image port: pictures drawn by hand from the words of the prompt, in the studio's process. The same
 * request with a seed gives the same bytes; without one, chance lays them out. For a script, a picture is a token.
 */
import assert from 'node:assert';
import { randomInt } from 'node:crypto';
import type { GeneratedImage, ImagePort, ImageRequest } from '../contract/image.ts';
import type { Studio } from '../contract/studio.ts';
import type { PictureOrder, PictureResult } from './picture/render.ts';
import { systemTimers, type Timers } from './script.ts';
import { createScripts } from './scripts.ts';
import { toSeed } from './seed.ts';

const module = new URL('./picture/render.ts', import.meta.url);

/** Three times the slowest that was measured: 2.8 s for 4 megapixels (a forest in watercolour, a busy machine, Node 24). */
const cpuMsPerMegapixel = 2_000;
const leastCpuMs = 10_000;
/** Even noise takes little more than its pixels. */
const bytesPerPixel = 5;
const leastBytes = 65_536;
const largestSeed = 2 ** 47;

export function createSandboxImage(studio: Studio, timers: Timers = systemTimers): ImagePort {
  const scriptOf = createScripts(timers);
  return {
    async generate(request, signal) {
      const { model, prompt, count, seed, script } = request;
      const run = await scriptOf(request).begin(toSeed([model, prompt, seed]), signal);
      for (let index = 0; index < count; index++) await run.token(index);
      if (script?.['withoutImages'] === true) return [];
      return cut(await draw(studio, request, signal));
    },
  };
}

interface Drawn {
  readonly bytes: Buffer;
  readonly result: PictureResult;
}

async function draw(studio: Studio, request: ImageRequest, signal: AbortSignal): Promise<Drawn> {
  const { references, mask, width, height, count } = request;
  const area = width * height * count;
  const files = mask === undefined ? references : [...references, mask];
  const rendering = studio.render(
    {
      module,
      request: toOrder(request),
      inputs: files.map(({ content }) => content),
      maxBytes: area * bytesPerPixel + count * leastBytes,
      maxCpuMs: leastCpuMs + (area / 1e6) * cpuMsPerMegapixel,
      isAwaited: true,
    },
    signal,
  );
  const pieces: Uint8Array[] = [];
  for (;;) {
    const { value, done } = await rendering.next();
    if (done === true) return { bytes: Buffer.concat(pieces), result: value as PictureResult };
    pieces.push(value);
  }
}

function toOrder(request: ImageRequest): PictureOrder {
  const { prompt, count, width, height, steps, guidanceScale, negativePrompt, outputCompression } = request;
  return {
    prompt,
    count,
    width,
    height,
    seed: request.seed ?? randomInt(largestSeed),
    isTransparent: request.background === 'transparent',
    format: request.outputFormat,
    references: request.references.length,
    ...(steps === undefined ? {} : { steps }),
    ...(guidanceScale === undefined ? {} : { guidanceScale }),
    ...(negativePrompt === undefined ? {} : { negativePrompt }),
    ...(outputCompression === undefined ? {} : { compression: outputCompression }),
  };
}

/** The files lie one behind the other. */
function cut({ bytes, result }: Drawn): readonly GeneratedImage[] {
  let at = 0;
  const images = result.lengths.map((length) => {
    const start = at;
    at += length;
    return { bytes: bytes.subarray(start, at) };
  });
  assert(at === bytes.length, 'the studio hands on every byte that was put out');
  return images;
}
