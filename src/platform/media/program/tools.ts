/**
 * What a render may use besides its own code. FFmpeg, libvips and libheif are loaded when they are first asked for:
 * many a render needs none of them.
 */
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import type { FilmOptions, FilmWriter, StudioTools } from '../../../engines/contract/studio.ts';
import { sniffContainer } from '../container.ts';
import { filmDecoders } from './decoders.ts';
import type { DecodeHeic, SharpModule } from './picture.ts';
import { isHeic, readPicture, writePicture } from './picture.ts';
import { Missing, Problem } from './problem.ts';
import type { Container, JobOutput } from './protocol.ts';
import type { Seal } from './seal.ts';

export interface Workshop {
  readonly tools: StudioTools;
  /** Lets go of what a render left open. */
  close(): Promise<void>;
}

type Watch = Pick<JobOutput, 'throwIfStopped'>;
type Ffmpeg = typeof import('./ffmpeg.ts');

const channels = 2;
const bytesPerSample = 2;

export function createLoaders(seal: Seal) {
  /** Once, and again only if it failed. */
  function once<Module>(what: string, load: () => Promise<Module>): () => Promise<Module> {
    let loaded: Promise<Module> | undefined;
    return () => {
      loaded ??= seal.lift(load).catch((error: unknown) => {
        loaded = undefined;
        throw new Missing(`${what} cannot be loaded: ${error instanceof Error ? error.message : error}`, {
          cause: error,
        });
      });
      return loaded;
    };
  }

  return {
    ffmpeg: once('FFmpeg (the package node-av)', async (): Promise<Ffmpeg> => import('./ffmpeg.ts')),
    sharp: once('libvips (the package sharp)', async (): Promise<SharpModule> => {
      const { default: sharp } = await import('sharp');
      sharp.cache(false);
      sharp.concurrency(1);
      return sharp;
    }),
    // It has no types of its own.
    heic: once(
      'libheif (the package heic-decode)',
      async (): Promise<DecodeHeic> => createRequire(import.meta.url)('heic-decode'),
    ),
  };
}

export function createWorkshop(loaders: ReturnType<typeof createLoaders>, watch: Watch): Workshop {
  const films = new Set<FilmWriter & { closed: Promise<void> }>();

  const tools: StudioTools = {
    async readPicture(bytes, maxSide) {
      watch.throwIfStopped();
      const heic = isHeic(bytes) ? await loaders.heic() : undefined;
      return readPicture(await loaders.sharp(), heic, bytes, maxSide);
    },

    async writePicture(pixels, options) {
      watch.throwIfStopped();
      return writePicture(await loaders.sharp(), pixels, options);
    },

    async *readFilm(bytes, options) {
      const { readFilm } = await loaders.ffmpeg();
      yield* readFilm(toBuffer(bytes), toContainer(bytes), options, watch);
    },

    async readSound(bytes, { sampleRate, maxSeconds }) {
      const { openInput, readSamples } = await loaders.ffmpeg();
      const input = await openInput(toBuffer(bytes), toContainer(bytes), filmDecoders);
      const mostBytes = Math.floor(maxSeconds * sampleRate) * channels * bytesPerSample;
      const parts: Buffer[] = [];
      let total = 0;
      try {
        for await (const part of readSamples(input, { sampleRate, channels }, watch)) {
          parts.push(Buffer.from(part.subarray(0, mostBytes - total)));
          total += part.length;
          if (total >= mostBytes) break;
        }
      } finally {
        await input.close();
      }
      const samples = new Int16Array(Math.min(total, mostBytes) / bytesPerSample);
      const all = new Uint8Array(samples.buffer);
      let at = 0;
      for (const part of parts) {
        all.set(part, at);
        at += part.length;
      }
      return samples;
    },

    createFilm(options) {
      const film = openFilm(loaders.ffmpeg, options, watch);
      films.add(film);
      return film;
    },
  };

  return {
    tools,
    async close() {
      for (const film of films) film.close();
      await Promise.all([...films].map(({ closed }) => closed));
    },
  };
}

/** One step after the other, also where its maker does not wait for them. */
function openFilm(
  load: () => Promise<Ffmpeg>,
  options: FilmOptions,
  watch: Watch,
): FilmWriter & { closed: Promise<void> } {
  const opened = load().then(({ Film }) => new Film(options));
  const ended = Promise.withResolvers<void>();
  let last: Promise<unknown> = opened;
  let isClosed = false;
  const then = <Result>(step: (film: Awaited<typeof opened>) => Promise<Result>): Promise<Result> => {
    const next = last.then(async () => {
      watch.throwIfStopped();
      return step(await opened);
    });
    last = next;
    // Whoever asked for it hears of its failure, and so does everyone behind.
    next.catch(() => {});
    return next;
  };
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    const free = () => opened.then((film) => film.close()).catch(() => {});
    last.then(free, free).finally(ended.resolve);
    last = Promise.reject(new Error('the film is closed'));
    last.catch(() => {});
  };
  opened.catch(() => {});
  return {
    frame: (pixels) =>
      then(async (film) => {
        await film.frame(pixels);
        // A word from outside is heard between two pictures.
        await setImmediate();
      }),
    sound: (samples) => then((film) => film.sound(samples)),
    async finish() {
      const bytes = await then((film) => film.finish());
      close();
      return bytes;
    },
    close,
    closed: ended.promise,
  };
}

function toContainer(bytes: Uint8Array): Container {
  const container = sniffContainer(toBuffer(bytes));
  if (container === undefined) throw new Problem('is neither a film nor a sound of a kind that is read');
  return container;
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
