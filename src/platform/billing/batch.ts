/**
 * Rows on their way to the database: their lines, and what they add up to. Nothing else of a row is kept: objects that
 * wait for a tenth of a second survive the young generation, which took 2 % of the CPU of a short request.
 */
import type { LedgerRow } from './types.ts';
import { UsageTotals } from './usage-totals.ts';

/** How many rows the database gets at once. */
export const batchRows = 500;

export class Batch {
  readonly lines: string[] = [];
  readonly totals = new UsageTotals();
  #isClosed = false;

  static of(row: LedgerRow, line: string): Batch {
    const batch = new Batch();
    batch.add(row, line);
    return batch;
  }

  /** Nothing is added to one that is full, or on its way already. */
  get isOpen(): boolean {
    return !this.#isClosed && this.lines.length < batchRows;
  }

  /** `line` is the row's own. */
  add(row: LedgerRow, line: string): void {
    this.lines.push(line);
    this.totals.add(row);
  }

  close(): void {
    this.#isClosed = true;
  }
}
