/** The row of a job, which reaches the ledger in the transaction that completes it and passes no journal. */
import type { Database, Sql } from '../../storage/database.ts';
import { toLine } from './line.ts';
import { addUsage, insertLines } from './store.ts';
import type { LedgerRow } from './types.ts';
import { toTotals } from './usage-totals.ts';

/** The row and its part of the sums, once: a second time changes neither. */
export async function insertJobRow(tx: Sql, dialect: Database['dialect'], row: LedgerRow): Promise<void> {
  const added = await insertLines(tx, dialect, [toLine(row)]);
  if (added.length > 0) await addUsage(tx, dialect, toTotals([row]));
}
