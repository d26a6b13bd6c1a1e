/**
 * The video port: a job at the engine, created once, asked for until it is done, and fetched. Its id is kept with the
 * gateway's own job, so a gateway that was restarted goes on asking instead of beginning anew.
 *
 *   create ── remember ── ask … ask ── fetch ── (enlarge, take the sound out)
 *     └── a remembered id that the engine does not know any more begins anew
 *   abort: the engine is told to cancel, unless another process goes on with the render
 */
import { GatewayError } from '../../lib/errors.ts';
import { type RenderContext, RenderHandedOver } from '../contract/render.ts';
import type { Studio } from '../contract/studio.ts';
import type { VideoPort, VideoRequest } from '../contract/video.ts';
import type { Address } from './address.ts';
import { enlargeFilm } from './enlarge.ts';
import { EngineRefusal, failures } from './failures.ts';
import type { VideoQuirks } from './flavor.ts';
import { Form } from './form.ts';
import type { Answer, FileQuestions } from './questions.ts';
import { withoutSound } from './silent-film.ts';
import { isJobId, readJob, readJobId } from './video-job.ts';

export interface VideoTimers {
  now(): number;
  /** Calls back once, later; the answer cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

export interface VideoParts {
  /** For the order and for the film, which may take a while. */
  readonly questions: FileQuestions;
  /** For short questions. */
  readonly polls: Pick<FileQuestions, 'fetch' | 'remove'>;
  readonly address: Address;
  readonly quirks: VideoQuirks;
  readonly studio: Studio | undefined;
  /** An engine that answers no question for so long is lost. */
  readonly idleTimeoutMs: number;
  readonly timers?: VideoTimers;
}

/** Fifteen seconds of 2K in the best quality are a tenth of it. */
export const mostFilmBytes = 512 * 1024 * 1024;
export const pollPatienceMs = 30_000;
const cancelPatienceMs = 5_000;
const [shortestPauseMs, longestPauseMs] = [500, 5_000];
/** A render that takes so many times as long as expected will not end. */
const patience = 20;
const leastPatienceMs = 30 * 60_000;
const fetches = 3;

const systemTimers: VideoTimers = {
  now: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

export function createVideoPort(parts: VideoParts): VideoPort {
  const { questions, polls, address, quirks, studio, idleTimeoutMs, timers = systemTimers } = parts;
  const videos = { at: 'api', path: '/videos' } as const;
  const pathOf = (id: string) => `${address.api}${videos.path}/${encodeURIComponent(id)}`;

  async function create(request: VideoRequest, signal: AbortSignal): Promise<string> {
    const order = quirks.order(request);
    const read = ({ json }: Answer) => readJobId(json);
    if ('json' in order) return questions.post(videos, order.json, read, signal);
    return questions.postForm(videos, new Form(order.form.fields, order.form.files), read, signal);
  }

  /** Nobody hears of a job that is created just when it is no longer wanted; so its answer is waited for a little. */
  async function createOrCancel(request: VideoRequest, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const late = new AbortController();
    let stopWaiting = () => {};
    const onAbort = () => {
      stopWaiting = timers.after(cancelPatienceMs, () => late.abort(signal.reason));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const id = await create(request, late.signal);
      if (!signal.aborted) return id;
      await cancel(id);
    } finally {
      stopWaiting();
      signal.removeEventListener('abort', onAbort);
    }
    throw signal.reason;
  }

  /** As well as it goes: an engine that does not answer to this either is left alone. */
  async function cancel(id: string): Promise<void> {
    const late = new AbortController();
    const stopWaiting = timers.after(cancelPatienceMs, () => late.abort());
    await polls.remove(pathOf(id), late.signal).catch(() => {});
    stopWaiting();
  }

  function pause(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        stop();
        reject(signal.reason);
      };
      const stop = timers.after(delayMs, () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Until it is done. Undefined: the engine knows no such job. */
  async function waitFor(id: string, context: RenderContext, signal: AbortSignal) {
    const pauseMs = Math.max(shortestPauseMs, Math.min(longestPauseMs, context.expectedMs / 40));
    const startedAt = timers.now();
    const patienceMs = Math.max(leastPatienceMs, context.expectedMs * patience);
    let heardAt = startedAt;
    for (;;) {
      try {
        const job = readJob(await polls.fetch(pathOf(id), signal));
        heardAt = timers.now();
        if (job.state === 'done') return job;
        if (job.state === 'failed') throw new JobFailed(job.error);
        if (job.fraction !== undefined) context.progress(job.fraction);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof JobFailed) throw error.reason;
        if (isUnknown(error)) return undefined;
        // A moment without an answer costs no render of minutes.
        if (!isPassing(error) || timers.now() - heardAt >= idleTimeoutMs) throw error;
      }
      if (timers.now() - startedAt >= patienceMs) throw failures.late();
      await pause(pauseMs, signal);
    }
  }

  async function fetchFilm(id: string, isElsewhere: boolean, pauseMs: number, signal: AbortSignal) {
    for (let attempt = 1; ; attempt++) {
      try {
        const film = await questions.fetch(`${pathOf(id)}/content`, signal);
        if (film.toString('latin1', 4, 8) !== 'ftyp') throw failures.unreadable(new Error('no MP4 file'));
        return film;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof GatewayError && error.cause instanceof EngineRefusal && error.cause.status < 500)
          throw isElsewhere ? failures.elsewhere() : failures.unreadable(error.cause);
        if (attempt === fetches || !isPassing(error)) throw error;
        await pause(pauseMs, signal);
      }
    }
  }

  async function finishFilm(film: Buffer, request: VideoRequest, signal: AbortSignal): Promise<Buffer> {
    const { upscale, fps, generateAudio: hasSound } = request;
    if (upscale > 1) return enlargeFilm(film, { fps, upscale, hasSound }, studio, signal);
    return hasSound ? film : withoutSound(film);
  }

  async function follow(id: string, request: VideoRequest, context: RenderContext, signal: AbortSignal) {
    try {
      const job = await waitFor(id, context, signal);
      if (job === undefined) return undefined;
      return await finishFilm(await fetchFilm(id, job.isElsewhere, shortestPauseMs, signal), request, signal);
    } catch (error) {
      // Also when it takes too long: nobody will ask for it any more.
      const isLate = error instanceof GatewayError && error.kind === 'timeout';
      const isUnwanted = signal.aborted && !(signal.reason instanceof RenderHandedOver);
      if (isLate || isUnwanted) await cancel(id);
      throw error;
    }
  }

  return {
    async render(request, context, signal) {
      const { remembered } = context;
      if (remembered !== undefined && isJobId(remembered)) {
        const film = await follow(remembered, request, context, signal);
        if (film !== undefined) return film;
      }
      const id = await createOrCancel(request, signal);
      try {
        await context.remember(id);
      } catch (error) {
        // No other process will ever hear of it.
        await cancel(id);
        throw error;
      }
      const film = await follow(id, request, context, signal);
      if (film === undefined)
        throw new GatewayError('unreachable', 'The engine does not know its own job any more');
      return film;
    },
  };
}

/** What the engine said of the job, not of the question. */
class JobFailed extends Error {
  readonly reason: GatewayError;

  constructor(reason: GatewayError) {
    super(reason.message);
    this.reason = reason;
  }
}

function isUnknown(error: unknown): boolean {
  if (!(error instanceof GatewayError) || !(error.cause instanceof EngineRefusal)) return false;
  return error.cause.status === 404 || error.cause.status === 410;
}

function isPassing(error: unknown): boolean {
  return error instanceof GatewayError && ['unreachable', 'overloaded', 'timeout'].includes(error.kind);
}
