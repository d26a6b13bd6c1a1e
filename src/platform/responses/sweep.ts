/** Removes what has expired, in the background: once some time after the start, and then at intervals. */
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import { deleteExpired } from './store.ts';

export interface SweepParts {
  database: Database;
  log: Log;
  expiredAt: () => number;
  firstMs: number;
  everyMs: number;
}

export interface Sweep {
  /** Waits for the batch that is under way. */
  close(): Promise<void>;
}

/** Small, because on SQLite everybody else waits for a batch. */
const batchResponses = 100;

export function createSweep({ database, log, expiredAt, firstMs, everyMs }: SweepParts): Sweep {
  let isClosed = false;
  let sweeping: Promise<void> | undefined;
  let timer = schedule(firstMs);

  function schedule(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      sweeping = sweep().then(() => {
        if (!isClosed) timer = schedule(everyMs);
      });
    }, delayMs).unref();
  }

  /** Never rejects: what is left over waits for the next time. */
  async function sweep(): Promise<void> {
    let removed = 0;
    try {
      for (let taken = batchResponses; taken === batchResponses && !isClosed; ) {
        taken = await deleteExpired(database, expiredAt(), batchResponses);
        removed += taken;
      }
      if (removed > 0) log.info({ removed }, 'removed expired responses');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason, removed }, 'expired responses could not be removed');
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
