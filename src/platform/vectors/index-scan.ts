/**
 * Vectors without pgvector: a thread with a connection of its own goes over all of a collection's. It keeps those of the
 * collections that were asked last, up to a bound, and brings them up to date by the version that every change raises.
 * The same answers as elsewhere, only slower. The thread is started by the first search, and again after it has died.
 */
import assert from 'node:assert';
import { Worker } from 'node:worker_threads';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import { toFileCondition } from './filter.ts';
import type { ScanReply, ScanRequest } from './index-scan-worker.ts';
import type { VectorWay } from './index-way.ts';

export interface ScanParts {
  readonly database: Database;
  /** That the thread keeps: 256 MB are 170,000 vectors of 384 values. */
  readonly maxBytes?: number;
}

type Found = { number: number; similarity: number }[];

export function createScanWay({ database, maxBytes = 256 * 1024 * 1024 }: ScanParts): VectorWay {
  const { source } = database;
  assert('url' in source, 'a PostgreSQL database has a URL');
  const waiting = new Map<number, { resolve(found: Found): void; reject(error: Error): void }>();
  let worker: Worker | undefined;
  let exited: Promise<void> = Promise.resolve();
  let lastId = 0;
  let isClosed = false;

  function start(): Worker {
    const ended = Promise.withResolvers<void>();
    const started = new Worker(new URL('./index-scan-worker.ts', import.meta.url), {
      workerData: { url: 'url' in source ? source.url : '', maxBytes },
    });
    exited = ended.promise;
    let fault: unknown;
    started.on('message', ({ id, found, failure }: ScanReply) => {
      const asked = waiting.get(id);
      waiting.delete(id);
      if (found !== undefined) asked?.resolve(found);
      else asked?.reject(new StoreUnavailable(`a search failed: ${failure}`));
    });
    started.on('error', (error) => {
      fault = error;
    });
    started.once('exit', () => {
      worker = undefined;
      const lost = new StoreUnavailable('the search thread has stopped', { cause: fault });
      for (const { reject } of waiting.values()) reject(lost);
      waiting.clear();
      ended.resolve();
    });
    // It keeps nothing that a process would have to wait for.
    started.unref();
    return started;
  }

  return {
    async open() {},
    async add() {},
    async remove() {},
    async grown() {},
    async forget() {},

    nearest(query) {
      if (isClosed) return Promise.reject(new StoreUnavailable('the index is closed'));
      const { promise, resolve, reject } = Promise.withResolvers<Found>();
      const { text, values } = toFileCondition('postgres', query, 1);
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      worker ??= start();
      const { collectionNumber, vector, limit } = query;
      worker.postMessage({
        id,
        collectionNumber,
        vector,
        limit,
        files: { text, values },
      } satisfies ScanRequest);
      return promise;
    },

    async close() {
      isClosed = true;
      worker?.postMessage('close');
      await exited;
    },
  };
}
