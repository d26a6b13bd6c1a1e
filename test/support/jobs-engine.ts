/** An engine that films and plays on a test's command: what is asked of it waits until the test lets it end. */
import Type from 'typebox';
import { defineEngineKind, type EngineKind } from '../../src/engines/contract/engine.ts';
import type { MusicPart, MusicRequest } from '../../src/engines/contract/music.ts';
import type { RenderContext } from '../../src/engines/contract/render.ts';
import type { VideoRequest } from '../../src/engines/contract/video.ts';
import type { JobRun } from '../../src/platform/jobs/types.ts';

interface Rendering<Request> {
  readonly jobId: string;
  readonly attempt: number;
  readonly request: Request;
  readonly context: RenderContext;
  /** Aborted when the render shall stop; it stops then. */
  readonly signal: AbortSignal;
  fail(error: unknown): void;
}

export interface Filming extends Rendering<VideoRequest> {
  finish(film?: Buffer): void;
}

export interface Playing extends Rendering<MusicRequest> {
  /** Resolves when it was taken and the next part is wanted. */
  play(samples: Buffer, index?: number): Promise<void>;
  finish(): void;
}

export interface JobsEngine {
  readonly kind: EngineKind;
  readonly films: Filming[];
  readonly songs: Playing[];
  /** Whether renders wait for the test, or end well at once. */
  isHolding: boolean;
  /** What is filmed where the test says nothing else. */
  film: Buffer;
  /** The render of a job, as soon as there is one; of its `attempt`, where that is given. */
  filming(jobId: string, attempt?: number): Promise<Filming>;
  playing(jobId: string, attempt?: number): Promise<Playing>;
  /** The next render of a film, whichever job it is of. */
  nextFilming(): Promise<Filming>;
}

export function createJobsEngine(film: Buffer): JobsEngine {
  const films: Filming[] = [];
  const songs: Playing[] = [];
  const waiting = new Set<() => void>();

  async function find<T extends Rendering<unknown>>(
    all: readonly T[],
    jobId: string,
    attempt?: number,
  ): Promise<T> {
    for (;;) {
      const found = all.findLast(
        (each) => each.jobId === jobId && (attempt === undefined || each.attempt === attempt),
      );
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.add(resolve));
    }
  }

  function tell(): void {
    const all = [...waiting];
    waiting.clear();
    for (const wake of all) wake();
  }

  const engine: JobsEngine = {
    films,
    songs,
    film,
    isHolding: false,
    filming: (jobId, attempt) => find(films, jobId, attempt),
    playing: (jobId, attempt) => find(songs, jobId, attempt),
    async nextFilming() {
      const known = films.length;
      while (films.length === known) await new Promise<void>((resolve) => waiting.add(resolve));
      return films[known]!;
    },
    kind: defineEngineKind({
      kind: 'fake',
      serves: ['video', 'music'],
      options: Type.Object({ kind: Type.Literal('fake') }),
      create: () => ({
        kind: 'fake',
        video: {
          render(request, context, signal) {
            const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
            const filming = toRendering(request, context, signal, reject);
            films.push({ ...filming, finish: (made = engine.film) => resolve(made) });
            tell();
            if (!engine.isHolding) resolve(engine.film);
            return promise;
          },
        },
        music: {
          async *render(request, context, signal) {
            const line = createLine(signal);
            const playing = toRendering(request, context, signal, line.fail);
            songs.push({
              ...playing,
              play: (samples, index = 0) => line.put({ index, samples }),
              finish: line.end,
            });
            tell();
            if (!engine.isHolding) {
              for (let index = 0; index < request.count; index++)
                void line.put({ index, samples: makeSamples(request.durationSeconds, index) });
              line.end();
            }
            yield* line.parts();
          },
        },
        health: async () => ({ ok: true }),
        close: async () => {},
      }),
    }),
  };
  return engine;
}

/** Stereo at 32 kHz; no two stretches of it are the same. */
export function makeSamples(seconds: number, variant = 0): Buffer {
  const samples = new Int16Array(Math.round(seconds * 32_000) * 2);
  for (let at = 0; at < samples.length; at++)
    samples[at] = 9_000 * Math.sin(at * (0.011 + variant * 0.007) + at * at * 1e-9);
  return Buffer.from(samples.buffer);
}

function toRendering<Request>(
  request: Request,
  context: RenderContext,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): Rendering<Request> {
  const { id: jobId, attempt } = (context as JobRun).job;
  return { jobId, attempt, request, context, signal, fail };
}

/** Parts on their way from the test to whoever takes them. */
function createLine(signal: AbortSignal) {
  const parts: { part: MusicPart; taken: () => void }[] = [];
  let isOver = false;
  let failure: { error: unknown } | undefined;
  let wake = () => {};
  const end = () => {
    isOver = true;
    wake();
  };
  signal.addEventListener('abort', () => wake(), { once: true });
  return {
    end,
    fail(error: unknown) {
      failure = { error };
      end();
    },
    put: (part: MusicPart) =>
      new Promise<void>((taken) => {
        parts.push({ part, taken });
        wake();
      }),
    async *parts(): AsyncGenerator<MusicPart> {
      for (;;) {
        signal.throwIfAborted();
        const next = parts.shift();
        if (next !== undefined) {
          yield next.part;
          next.taken();
        } else if (failure !== undefined) throw failure.error;
        else if (isOver) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}
