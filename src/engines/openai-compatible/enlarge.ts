/** Films larger than their engine makes them: 2K is the 768p preset enlarged. Done in the studio, sound and all. */
import assert from 'node:assert';
import type { FilmWriter, Render, Studio } from '../contract/studio.ts';

const module = new URL(import.meta.url);
const maxBytes = 512 * 1024 * 1024;
const maxCpuMs = 20 * 60_000;
const longestSeconds = 60;
const longestSide = 4_096;
const sampleRate = 48_000;

interface EnlargeRequest {
  readonly fps: number;
  readonly upscale: number;
  readonly hasSound: boolean;
}

export async function enlargeFilm(
  film: Buffer,
  request: EnlargeRequest,
  studio: Studio | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  assert(studio !== undefined, 'an engine that is configured has a studio');
  const pieces: Uint8Array[] = [];
  for await (const piece of studio.render({ module, request, inputs: [film], maxBytes, maxCpuMs }, signal))
    pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Runs in the studio's process. */
export const render: Render<EnlargeRequest> = async ({ fps, upscale, hasSound }, inputs, { tools, emit }) => {
  const [bytes] = inputs;
  assert(bytes !== undefined, 'there is a film');
  const sound = hasSound
    ? await tools.readSound(bytes, { sampleRate, maxSeconds: longestSeconds })
    : undefined;
  const isHeard = sound !== undefined && sound.length > 0;
  const frames = tools.readFilm(bytes, {
    startSeconds: 0,
    fps,
    maxFrames: longestSeconds * fps,
    maxSide: longestSide,
  });
  let film: FilmWriter | undefined;
  try {
    for await (const { width, height, data } of frames) {
      if (film === undefined) {
        film = tools.createFilm({ width, height, fps, upscale, ...(isHeard ? { sampleRate } : {}) });
        if (isHeard) await film.sound(sound);
      }
      await film.frame(data);
    }
    assert(film !== undefined, 'a film has a picture');
    await emit(await film.finish());
  } finally {
    film?.close();
  }
};
