/** Forgets the keys that have expired, in the background. Their answers are passing objects, which go by themselves. */
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import { deleteExpired } from './store.ts';

export interface SweepParts {
  database: Database;
  log: Log;
  now: () => number;
  everyMs: number;
}

export interface Sweep {
  /** Waits for the batch that is under way. */
  close(): Promise<void>;
}

/** Small, because on SQLite everybody else waits for a batch. */
const batchKeys = 500;

export function createSweep({ database, log, now, everyMs }: SweepParts): Sweep {
  let isClosed = false;
  let sweeping: Promise<void> | undefined;
  let timer = schedule();

  function schedule(): NodeJS.Timeout {
    return setTimeout(() => {
      sweeping = sweep().then(() => {
        if (!isClosed) timer = schedule();
      });
    }, everyMs).unref();
  }

  /** Never rejects: what is left over waits for the next time. */
  async function sweep(): Promise<void> {
    try {
      for (let taken = batchKeys; taken === batchKeys && !isClosed; )
        taken = await deleteExpired(database, now(), batchKeys);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason }, 'expired idempotency keys could not be removed');
    }
  }

  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}
