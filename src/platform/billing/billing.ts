/**
 * Billing: takes the row of every operation before its answer leaves, and brings it into the ledger once.
 *
 * - This process is killed: the rows are in the journal (`journal.ts`); the next start brings them in, each once.
 * - The database is down: rows wait in the journal, memory stays bounded, answers go on. A warning is logged.
 * - The journal cannot be written (disk full): a row goes straight to the database, and its answer waits for it.
 * - Neither takes it: the answer is kept back with 503. Nothing is given away and nothing is billed.
 */
import { join } from 'node:path';
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import { Journal, type JournalParts } from './journal.ts';
import { createLedger } from './ledger.ts';
import type { Billing, Usage } from './types.ts';
import { createUsage } from './usage.ts';

export interface BillingParts {
  database: Database;
  /** The data folder. */
  folder: string;
  now: () => number;
  log: Log;
  /** For tests. */
  journal?: Pick<JournalParts, 'files' | 'segmentBytes' | 'maxMemoryRows'>;
}

export interface StartedBilling extends Billing {
  /** Brings in what an earlier process left in the journal. */
  start(): Promise<void>;
  readonly usage: Usage;
}

export function createBilling({
  database,
  folder,
  now,
  log,
  journal: options = {},
}: BillingParts): StartedBilling {
  const journal = new Journal({ root: join(folder, 'journal'), log, ...options });
  const ledger = createLedger({ database, journal, log });
  let isBroken = false;

  async function settle(): Promise<void> {
    const target = journal.appended;
    while (journal.dropped < target && !journal.isEmpty) await ledger.drain();
  }

  return {
    usage: createUsage({ database, now, settle }),

    async start() {
      journal.adopt();
      // Where the database does not take it now, it does later: the log says so.
      await ledger.drainAll().catch(() => {});
    },

    record(row): void | Promise<void> {
      try {
        journal.append(row);
      } catch (error) {
        if (!isBroken) log.error({ reason: (error as Error).message }, 'the journal cannot be written');
        isBroken = true;
        return ledger.insert(row);
      }
      isBroken = false;
      ledger.wake();
    },

    settle,

    async close() {
      await ledger.close();
      await journal.close();
    },
  };
}
