/** What time does to jobs: outputs expire, records are deleted, and files that could not be removed are tried again. */
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import type { Endings } from './endings.ts';
import type { Leftovers } from './leftovers.ts';
import { deleteOldRecords } from './store.ts';
import type { Timers } from './timers.ts';

export interface SweepParts {
  database: Database;
  endings: Endings;
  leftovers: Leftovers;
  now: () => number;
  log: Log;
  timers: Timers;
}

export interface Sweep {
  start(): void;
  /** Waits for the round that is under way. */
  close(): Promise<void>;
}

const everyMs = 30_000;
/** Small, because on SQLite everybody else waits for a batch. */
const batch = 100;

export function createSweep({ database, endings, leftovers, now, log, timers }: SweepParts): Sweep {
  let isClosed = false;
  let sweeping: Promise<void> | undefined;
  let stopTimer: (() => void) | undefined;

  /** Never rejects: what is left over waits for the next time. */
  async function sweep(): Promise<void> {
    try {
      while (!isClosed && (await endings.expire()) !== undefined);
      while (!isClosed && (await deleteOldRecords(database, now(), batch)) === batch);
      while (!isClosed && (await leftovers.sweep(batch)) === batch);
    } catch (error) {
      log.warn({ err: error }, 'expired jobs could not be swept away');
    }
  }

  function round(): Promise<void> {
    sweeping ??= sweep().finally(() => {
      sweeping = undefined;
    });
    return sweeping;
  }

  return {
    start() {
      if (stopTimer !== undefined || isClosed) return;
      stopTimer = timers.every('sweep', everyMs, round);
      void round();
    },
    async close() {
      isClosed = true;
      stopTimer?.();
      await sweeping;
    },
  };
}
