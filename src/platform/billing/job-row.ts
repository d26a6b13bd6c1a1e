/** The row of a job, which reaches the ledger in the transaction that completes it and passes no journal. */
import type { Database, Sql } from '../../storage/database.ts';
import { toLine } from './line.ts';
import { addUsage, insertRows } from './store.ts';
import type { LedgerRow } from './types.ts';

/** The row and its part of the sums, once: a second time changes neither. */
export async function insertJobRow(tx: Sql, dialect: Database['dialect'], row: LedgerRow): Promise<void> {
  const inserted = await insertRows(tx, dialect, [{ row, line: toLine(row) }]);
  if (inserted.has(row.id)) await addUsage(tx, dialect, [row]);
}
