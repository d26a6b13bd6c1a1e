/**
 * Model files that the configuration names by their address. They are fetched when they are first asked for, and
 * lie under `models/by-address`, each in a folder of its own. Nobody has pinned their sums: the operator vouches
 * for the address.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { PackFailure } from '../packs/failure.ts';
import { fetchFromHub } from './hub-fetch.ts';

export interface HubFiles {
  /** The file's path. While it is on its way this rejects with how far it is. */
  require(address: string): Promise<string>;
  close(): Promise<void>;
}

export interface HubParts {
  readonly dataFolder: string;
  readonly log: Log;
  /** The value of an environment variable: proxies, and npm's own settings, may stand there. */
  variable(name: string): string | undefined;
  readonly now?: () => number;
  /** Whose `.npmrc` counts as the project's. */
  readonly cwd?: string;
  readonly home?: string;
}

interface Fetching {
  receivedBytes: number;
  totalBytes: number;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/** A fetch that failed is tried again by the first request after so long. */
const retryAfterMs = 30_000;
const logEveryMs = 10_000;

export function createHubFiles({
  dataFolder,
  log,
  variable,
  now = Date.now,
  cwd = process.cwd(),
  home = homedir(),
}: HubParts): HubFiles {
  const folder = join(dataFolder, 'models', 'by-address');
  const npm = { variable, cwd, home };
  const running = new Map<string, Fetching>();
  const failed = new Map<string, { failure: unknown; at: number }>();

  function start(address: string, path: string): Fetching {
    const abort = new AbortController();
    const model = basename(path);
    const startedAt = now();
    let toldAt = startedAt;
    const onProgress = (receivedBytes: number, totalBytes: number) => {
      Object.assign(fetching, { receivedBytes, totalBytes });
      if (now() - toldAt < logEveryMs) return;
      toldAt = now();
      log.info({ model, percent: toPercent(fetching) }, 'a model is being fetched');
    };
    const work = async () => {
      try {
        log.info({ model }, 'a model is being fetched');
        const isOurs = await fetchFromHub({ address, path, npm, signal: abort.signal, onProgress });
        failed.delete(address);
        // Where another process brought it, that one's log says so.
        if (isOurs) log.info({ model, path, durationMs: now() - startedAt }, 'a model is here');
      } catch (err) {
        if (abort.signal.aborted) return;
        failed.set(address, { failure: err, at: now() });
        log.error({ model, err }, 'a model could not be fetched');
      } finally {
        running.delete(address);
      }
    };
    const fetching: Fetching = {
      receivedBytes: 0,
      totalBytes: 0,
      abort,
      done: Promise.resolve().then(work),
    };
    running.set(address, fetching);
    return fetching;
  }

  return {
    async require(address) {
      const path = join(folder, toFolderName(address), toFileName(address));
      if (existsSync(path)) return path;
      const name = basename(path);
      const last = failed.get(address);
      const pauseMs = last === undefined ? 0 : last.at + retryAfterMs - now();
      if (last !== undefined && pauseMs > 0 && !running.has(address)) {
        throw couldNotFetch(name, last.failure, pauseMs);
      }
      throw fetchingStill(name, running.get(address) ?? start(address, path));
    },
    async close() {
      const fetchings = [...running.values()];
      for (const { abort } of fetchings) abort.abort();
      await Promise.all(fetchings.map(({ done }) => done));
    },
  };
}

function toFolderName(address: string): string {
  return createHash('sha256').update(address).digest('hex').slice(0, 16);
}

/** A name that says nothing, or cannot be read, is replaced: the folder tells addresses apart. */
function toFileName(address: string): string {
  const last = basename(new URL(address).pathname);
  return /^[\w.-]*\w$/.test(last) ? last : 'model.gguf';
}

/** Never 100: it is not there before it has its name. */
function toPercent({ receivedBytes, totalBytes }: Fetching): number {
  return totalBytes === 0 ? 0 : Math.min(99, Math.floor((receivedBytes / totalBytes) * 100));
}

function fetchingStill(name: string, fetching: Fetching): GatewayError {
  return new GatewayError('overloaded', `The model ${name} is being fetched: ${toPercent(fetching)} %`, {
    retryAfterSeconds: 10,
  });
}

/** Clients hear neither paths nor addresses. */
function couldNotFetch(name: string, failure: unknown, pauseMs: number): GatewayError {
  const why = failure instanceof PackFailure ? failure.told : 'the gateway cannot store it';
  return new GatewayError('overloaded', `The model ${name} could not be fetched: ${why}`, {
    retryAfterSeconds: Math.ceil(pauseMs / 1_000),
    cause: failure,
  });
}
