/** Removes the history of deliveries once it is old, in the background. */
import type { Log } from '../../lib/log.ts';
import type { Sql } from '../../storage/database.ts';
import type { Schedule } from './deliver.ts';
import { deleteEnded } from './outbox.ts';

export interface Sweep {
  /** Waits for the batch that is under way. */
  close(): Promise<void>;
}

const keptMs = 30 * 24 * 3600 * 1000;
/** Not while everything else starts. */
const firstMs = 60_000;
const everyMs = 3600 * 1000;
/** Small, because on SQLite everybody else waits for a batch. */
const batchRows = 100;

export function createSweep(parts: { sql: Sql; now: () => number; log: Log; schedule: Schedule }): Sweep {
  const { sql, now, log, schedule } = parts;
  let isClosed = false;
  let sweeping: Promise<void> | undefined;
  let cancelTimer = next(firstMs);

  function next(delayMs: number): () => void {
    return schedule(() => {
      sweeping = sweep().then(() => {
        if (!isClosed) cancelTimer = next(everyMs);
      });
    }, delayMs);
  }

  /** Never rejects: what is left over waits for the next time. */
  async function sweep(): Promise<void> {
    try {
      for (let removed = batchRows; removed === batchRows && !isClosed; )
        removed = await deleteEnded(sql, now() - keptMs, batchRows);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason }, 'old webhook deliveries could not be removed');
    }
  }

  return {
    async close() {
      isClosed = true;
      cancelTimer();
      await sweeping;
    },
  };
}
