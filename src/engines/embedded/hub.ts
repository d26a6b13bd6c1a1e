/**
 * Model files that the configuration names by their address. They are fetched when they are first asked for, go on
 * where a fetch was cut off, and lie under `models/by-address`. Nobody has pinned their sums: the operator
 * vouches for the address.
 */
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { loadUndici } from '../../lib/undici.ts';
import { tryLock } from './packs/lock.ts';

export interface HubFiles {
  /** The file's path. While it is on its way this rejects with how far it is. */
  require(address: string): Promise<string>;
  close(): Promise<void>;
}

export interface HubParts {
  readonly dataFolder: string;
  readonly log: Log;
  readonly now?: () => number;
}

interface Fetching {
  receivedBytes: number;
  totalBytes: number;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

const retryAfterMs = 30_000;
const stallMs = 60_000;

export function createHubFiles({ dataFolder, log, now = Date.now }: HubParts): HubFiles {
  const folder = join(dataFolder, 'models', 'by-address');
  const running = new Map<string, Fetching>();
  const failedAt = new Map<string, number>();

  function start(address: string, path: string): Fetching {
    const abort = new AbortController();
    const work = async () => {
      try {
        await fetchFile(address, path, fetching);
        log.info({ model: basename(path) }, 'a model is here');
      } catch (err) {
        failedAt.set(address, now());
        if (!abort.signal.aborted) log.error({ model: basename(path), err }, 'a model could not be fetched');
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
      const pauseMs = (failedAt.get(address) ?? Number.NEGATIVE_INFINITY) + retryAfterMs - now();
      if (pauseMs > 0 && !running.has(address)) throw failed(name, pauseMs);
      const { receivedBytes, totalBytes } = running.get(address) ?? start(address, path);
      throw fetchingStill(name, totalBytes === 0 ? 0 : Math.floor((receivedBytes / totalBytes) * 100));
    },
    async close() {
      const fetchings = [...running.values()];
      for (const { abort } of fetchings) abort.abort();
      await Promise.all(fetchings.map(({ done }) => done));
    },
  };
}

async function fetchFile(address: string, path: string, fetching: Fetching): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.partial`;
  const release = tryLock(`${path}.lock`);
  // Another process is at it; the next request looks again.
  if (release === undefined) return;
  const { Agent, interceptors, request } = loadUndici();
  const agent = new Agent({ bodyTimeout: stallMs }).compose(interceptors.redirect({ maxRedirections: 5 }));
  try {
    const from = (await stat(partial).catch(() => undefined))?.size ?? 0;
    const { signal } = fetching.abort;
    const headers = from === 0 ? {} : { range: `bytes=${from}-` };
    const {
      statusCode,
      headers: told,
      body,
    } = await request(address, { dispatcher: agent, headers, signal });
    // All of it is here already.
    const isWhole = statusCode === 416 && from > 0;
    if (!isWhole && statusCode !== 200 && statusCode !== 206)
      throw new Error(`the hub answers with ${statusCode}`);
    if (isWhole) await body.dump();
    else {
      fetching.receivedBytes = statusCode === 206 ? from : 0;
      fetching.totalBytes = fetching.receivedBytes + Number(told['content-length'] ?? 0);
      body.on('data', (chunk: Buffer) => {
        fetching.receivedBytes += chunk.length;
      });
      await pipeline(
        body,
        createWriteStream(partial, { flags: statusCode === 206 ? 'a' : 'w', mode: 0o600 }),
      );
      if (fetching.receivedBytes < fetching.totalBytes)
        throw new Error('the hub closed the connection early');
    }
    await rename(partial, path);
    await rm(`${path}.lock`, { force: true });
  } finally {
    release();
    await agent.destroy();
  }
}

function toFolderName(address: string): string {
  return createHash('sha256').update(address).digest('hex').slice(0, 16);
}

function toFileName(address: string): string {
  const last = basename(decodeURIComponent(new URL(address).pathname));
  return /^[\w.-]*\w$/.test(last) ? last : 'model.gguf';
}

function fetchingStill(name: string, percent: number): GatewayError {
  return new GatewayError('overloaded', `The model ${name} is being fetched: ${percent} %`, {
    retryAfterSeconds: 10,
  });
}

function failed(name: string, pauseMs: number): GatewayError {
  return new GatewayError('overloaded', `The model ${name} could not be fetched; it is tried again soon`, {
    retryAfterSeconds: pauseMs / 1_000,
  });
}
