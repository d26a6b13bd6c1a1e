/**
 * The packs of a data folder: which there are, which are here, and the pulls that this process has under way. The
 * same folder may be used by several processes at once: a running gateway, and the command line beside it.
 */
import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { packDeclarations } from './declarations.ts';
import type { Patience } from './download.ts';
import { PackFailure } from './failure.ts';
import { tryLock } from './lock.ts';
import { pullPack } from './pull.ts';
import { createStore } from './store.ts';
import type { PackDeclaration, Packs } from './types.ts';

export { PackFailure, toMegabytes } from './failure.ts';
export type { PackDeclaration, PackState, Packs } from './types.ts';

export interface PacksOptions {
  readonly dataFolder: string;
  readonly log: Log;
  /** The value of an environment variable: npm's own settings may stand there. */
  variable(name: string): string | undefined;
  readonly now?: () => number;
  /** Whose `.npmrc` counts as the project's. */
  readonly cwd?: string;
  readonly home?: string;
  readonly declarations?: readonly PackDeclaration[];
  readonly patience?: Patience;
}

/** A pull of this process. */
interface Running {
  readonly startedAt: number;
  /** What was here when it started. */
  readonly basisBytes: number;
  receivedBytes: number;
  readonly totalBytes: number;
  readonly done: Promise<void>;
  readonly abort: AbortController;
  readonly listeners: Set<(receivedBytes: number, totalBytes: number) => void>;
  /** Requests of clients need it: it goes on whoever stops listening. */
  isNeeded: boolean;
}

/** A pull that failed is tried again by the first request after so long. */
const retryAfterMs = 30_000;
const logEveryMs = 10_000;

export function createPacks({
  dataFolder,
  log,
  variable,
  now = Date.now,
  cwd = process.cwd(),
  home = homedir(),
  declarations = packDeclarations,
  patience,
}: PacksOptions): Packs {
  const store = createStore(dataFolder);
  const npm = { variable, cwd, home };
  const running = new Map<string, Running>();
  const failed = new Map<string, { failure: PackFailure; at: number }>();
  let isClosed = false;

  const find = (name: string) => declarations.find((pack) => pack.name === name);
  const known = (name: string) => {
    const pack = find(name);
    assert(pack, `there is no pack ${name}`);
    return pack;
  };

  /** One that was given up may still be letting go; who starts the next waits for its lock. */
  function current(name: string): Running | undefined {
    const pull = running.get(name);
    return pull?.abort.signal.aborted === true ? undefined : pull;
  }

  function start(pack: PackDeclaration): Running {
    assert(!isClosed, 'packs are closed');
    const abort = new AbortController();
    const basisBytes = store.receivedBytes(pack);
    const work = async () => {
      try {
        await pullPack({ pack, store, npm, signal: abort.signal, onProgress, patience });
        failed.delete(pack.name);
      } catch (error) {
        if (error instanceof PackFailure) failed.set(pack.name, { failure: error, at: now() });
        throw error;
      } finally {
        if (running.get(pack.name) === pull) running.delete(pack.name);
      }
    };
    const onProgress = (receivedBytes: number) => {
      pull.receivedBytes = receivedBytes;
      for (const listener of pull.listeners) listener(receivedBytes, pull.totalBytes);
    };
    const pull: Running = {
      startedAt: now(),
      basisBytes,
      receivedBytes: basisBytes,
      totalBytes: pack.tarballs.reduce((sum, { bytes }) => sum + bytes, 0),
      abort,
      listeners: new Set(),
      isNeeded: false,
      done: Promise.resolve().then(work),
    };
    running.set(pack.name, pull);
    return pull;
  }

  /** For a client's request, which does not wait: the log tells how it goes. */
  function startInBackground(pack: PackDeclaration): Running {
    const pull = start(pack);
    pull.isNeeded = true;
    const { name } = pack;
    log.info({ pack: name, bytes: pull.totalBytes - pull.basisBytes }, 'a model is being fetched');
    let toldAt = now();
    pull.listeners.add((receivedBytes, totalBytes) => {
      if (now() - toldAt < logEveryMs) return;
      toldAt = now();
      log.info({ pack: name, percent: toPercent(receivedBytes, totalBytes) }, 'a model is being fetched');
    });
    pull.done.then(
      () => log.info({ pack: name, durationMs: now() - pull.startedAt }, 'a model is here'),
      (err: unknown) => {
        if (!pull.abort.signal.aborted) log.error({ pack: name, err }, 'a model could not be fetched');
      },
    );
    return pull;
  }

  return {
    declarations,
    find,

    state(name) {
      const pack = known(name);
      const pull = current(name);
      if (pull !== undefined) {
        return { state: 'pulling', receivedBytes: pull.receivedBytes, totalBytes: pull.totalBytes };
      }
      const found = store.look(pack);
      if (found.state === 'damaged') return { state: 'failed', reason: found.failure.message };
      if (found.state === 'ready') {
        return { state: 'ready', bytes: pack.files.reduce((sum, { bytes }) => sum + bytes, 0) };
      }
      const receivedBytes = store.receivedBytes(pack);
      if (receivedBytes > 0 && isLocked(store.lockOf(pack))) {
        const totalBytes = pack.tarballs.reduce((sum, { bytes }) => sum + bytes, 0);
        return { state: 'pulling', receivedBytes, totalBytes };
      }
      const failure = failed.get(name)?.failure;
      return failure === undefined ? { state: 'absent' } : { state: 'failed', reason: failure.message };
    },

    async require(name) {
      const pack = known(name);
      const found = store.look(pack);
      if (found.state === 'ready') return store.filesOf(pack);
      if (found.state === 'damaged') {
        log.error({ pack: name, err: found.failure }, 'a model is damaged');
        throw new GatewayError(
          'overloaded',
          `The model ${name} is damaged here: "roundhouse models remove ${name}" and a new pull cure it`,
          { permanent: true, cause: found.failure },
        );
      }
      const last = failed.get(name);
      const pauseMs = last === undefined ? 0 : last.at + retryAfterMs - now();
      if (last !== undefined && pauseMs > 0 && current(name) === undefined) {
        throw new GatewayError('overloaded', `The model ${name} could not be fetched: ${last.failure.told}`, {
          retryAfterSeconds: Math.ceil(pauseMs / 1000),
          cause: last.failure,
        });
      }
      const pull = current(name) ?? startInBackground(pack);
      pull.isNeeded = true;
      throw new GatewayError(
        'overloaded',
        `The model ${name} is being fetched: ${toPercent(pull.receivedBytes, pull.totalBytes)} %`,
        { retryAfterSeconds: secondsLeft(pull, now()) },
      );
    },

    async pull(name, onProgress, signal) {
      const pack = known(name);
      signal?.throwIfAborted();
      const pull = current(name) ?? start(pack);
      const listener = (received: number, total: number) => onProgress(received, total);
      pull.listeners.add(listener);
      listener(pull.receivedBytes, pull.totalBytes);
      try {
        await (signal === undefined ? pull.done : Promise.race([pull.done, aborted(signal)]));
      } finally {
        pull.listeners.delete(listener);
        if (!pull.isNeeded && pull.listeners.size === 0) pull.abort.abort();
        // Who left early does not hear how it ends.
        pull.done.catch(() => {});
      }
    },

    verify: (name) => store.verify(known(name)),

    async remove(name) {
      const pack = known(name);
      const pull = running.get(name);
      pull?.abort.abort();
      await pull?.done.catch(() => {});
      const release = tryLock(store.lockOf(pack));
      if (release === undefined) {
        throw new GatewayError('conflict', `The pack ${name} is being fetched by another process`);
      }
      try {
        failed.delete(name);
        return await store.remove(pack);
      } finally {
        release();
      }
    },

    async close() {
      isClosed = true;
      const pulls = [...running.values()];
      for (const { abort } of pulls) abort.abort();
      await Promise.allSettled(pulls.map(({ done }) => done));
    },
  };
}

function isLocked(file: string): boolean {
  const release = tryLock(file);
  release?.();
  return release === undefined;
}

/** Never 100: it is not there before it has been unpacked. */
export function toPercent(receivedBytes: number, totalBytes: number): number {
  return Math.min(99, Math.floor((receivedBytes / totalBytes) * 100));
}

const usualWaitSeconds = 5;
const longestWaitSeconds = 60;

/** From how fast it has come so far. */
function secondsLeft({ startedAt, basisBytes, receivedBytes, totalBytes }: Running, at: number): number {
  const bytesPerMs = (receivedBytes - basisBytes) / (at - startedAt);
  if (!(bytesPerMs > 0)) return usualWaitSeconds;
  const seconds = Math.ceil((totalBytes - receivedBytes) / bytesPerMs / 1000);
  return Math.min(longestWaitSeconds, Math.max(1, seconds));
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
