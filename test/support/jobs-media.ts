/** Small real films, sounds and pictures for jobs to work from. */
import { createLog } from '../../src/lib/log.ts';
import { createStudio } from '../../src/platform/media/index.ts';
import type { StubRequest } from './render-stub.ts';

const modules = new URL('./', import.meta.url);
const module = new URL('./render-stub.ts', modules);

export interface FilmWish {
  readonly frames: number;
  readonly hasSound?: boolean;
}

/** MP4s of 320 × 192 at 24 frames a second, in the order of the wishes. */
export async function makeFilms(...wishes: readonly FilmWish[]): Promise<Buffer[]> {
  const studio = createStudio({ log: createLog('silent'), modules });
  try {
    const films: Buffer[] = [];
    for (const { frames, hasSound = true } of wishes) {
      const request: StubRequest = { act: 'film', frames, ...(hasSound ? { sampleRate: 48_000 } : {}) };
      const order = { module, request, inputs: [], maxBytes: 1e8, maxCpuMs: 60_000 };
      const parts: Uint8Array[] = [];
      for await (const part of studio.render(order, new AbortController().signal)) parts.push(part);
      films.push(Buffer.concat(parts));
    }
    return films;
  } finally {
    await studio.close();
  }
}

/** The same film under the other name of its family. */
export function toMov(film: Buffer): Buffer {
  const mov = Buffer.from(film);
  mov.write('qt  ', 8, 'latin1');
  return mov;
}

export function toDataUri(bytes: Buffer, type: string): string {
  return `data:${type};base64,${bytes.toString('base64')}`;
}
