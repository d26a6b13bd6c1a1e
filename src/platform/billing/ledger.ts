/**
 * Brings rows from the journal into the database, in batches, with their sums in the same transaction.
 *
 * Only rows that were not there before are added to the sums, so a batch that is sent again (after a crash, or
 * after a commit whose answer was lost) changes nothing. A row leaves the journal when its commit is known.
 * Database down: rows wait in the journal and it is asked again, at ever longer intervals.
 */
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { type Database, QueryFailed } from '../../storage/database.ts';
import { Batch } from './batch.ts';
import type { Journal } from './journal.ts';
import { parseLine, toLine } from './line.ts';
import { addUsage, insertLines } from './store.ts';
import type { LedgerRow } from './types.ts';
import { toTotals } from './usage-totals.ts';

export interface LedgerParts {
  database: Database;
  journal: Journal;
  log: Log;
}

export interface Ledger {
  /** Something is in the journal: it will be fetched soon. */
  wake(): void;
  /** For a row that the journal did not take: resolves when it is in the database. */
  insert(row: LedgerRow): Promise<void>;
  /** Fetches what the journal holds now. Rejects when the database does not take it. */
  drain(): Promise<void>;
  /** Until the journal is empty. */
  drainAll(): Promise<void>;
  /** Tries once more; what the database does not take stays in the journal. */
  close(): Promise<void>;
}

interface Direct {
  row: LedgerRow;
  resolve(): void;
  reject(error: Error): void;
}

const gatherMs = 100;
const firstRetryMs = 1_000;
const longestRetryMs = 30_000;
/** Rows without a journal are held by memory alone: beyond this many, refusing is the honest answer. */
const maxDirect = 10_000;

export function createLedger({ database, journal, log }: LedgerParts): Ledger {
  let timer: NodeJS.Timeout | undefined;
  let draining: Promise<void> | undefined;
  let direct: Direct[] = [];
  let retryMs = firstRetryMs;
  let isFailing = false;
  let isClosed = false;

  function schedule(delayMs: number): void {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      // A failure was told by the log and is tried again.
      drain().catch(() => {});
    }, delayMs).unref();
  }

  function drain(): Promise<void> {
    draining ??= drainOnce().finally(() => {
      draining = undefined;
    });
    return draining;
  }

  async function drainOnce(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    try {
      await insertDirect();
      // What is still being gathered waits for the next time.
      while ((await moveBatch()) && journal.isBehind);
    } catch (error) {
      await fail(error);
      throw error;
    }
    if (isFailing) log.info('the ledger is written again');
    isFailing = false;
    retryMs = firstRetryMs;
    if (direct.length > 0) schedule(0);
    else if (!journal.isEmpty) schedule(gatherMs);
  }

  async function drainAll(): Promise<void> {
    while (!journal.isEmpty || direct.length > 0) await drain();
  }

  /** False when there was none. */
  async function moveBatch(): Promise<boolean> {
    const batch = await journal.peek();
    if (batch === undefined) return false;
    await write(batch);
    journal.drop(batch);
    return true;
  }

  async function insertDirect(): Promise<void> {
    if (direct.length === 0) return;
    const rows = direct;
    const batch = new Batch();
    for (const { row } of rows) batch.add(row, toLine(row));
    direct = [];
    try {
      await insertAll(batch);
    } catch (error) {
      refuse(rows, error);
      throw error;
    }
    for (const { resolve } of rows) resolve();
  }

  /** All at once; where the database refuses that, one by one, so that one bad row does not hold up the rest. */
  async function write(batch: Batch): Promise<void> {
    try {
      await insertAll(batch);
    } catch (error) {
      if (!(error instanceof QueryFailed)) throw error;
      const bad: string[] = [];
      for (const line of batch.lines) if (!(await isTaken(line))) bad.push(line);
      // It takes none of them: then the rows are not what is wrong.
      if (bad.length === batch.lines.length) throw error;
      if (bad.length > 0) await journal.setAside(bad, error.message);
    }
  }

  async function isTaken(line: string): Promise<boolean> {
    const [row] = toRows([line]);
    if (row === undefined) return false;
    try {
      await insertAll(Batch.of(row, line));
      return true;
    } catch (error) {
      if (error instanceof QueryFailed) return false;
      throw error;
    }
  }

  async function insertAll({ lines, totals }: Batch): Promise<void> {
    await database.transaction(async (tx) => {
      const added = await insertLines(tx, database.dialect, lines);
      await addUsage(tx, database.dialect, added === lines ? totals : toTotals(toRows(added)));
    });
  }

  /** Their answers wait, and there is no journal that would keep them. */
  function refuseDirect(error: unknown): void {
    refuse(direct, error);
    direct = [];
  }

  async function fail(error: unknown): Promise<void> {
    if (!isFailing) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason }, 'the ledger cannot be written: rows wait in the journal');
    }
    isFailing = true;
    refuseDirect(error);
    schedule(retryMs);
    retryMs = Math.min(longestRetryMs, retryMs * 2);
    await journal
      .sync()
      .catch((cause: Error) => log.warn({ reason: cause.message }, 'the journal was not synced'));
    // More may have come meanwhile.
    refuseDirect(error);
  }

  return {
    wake: () => {
      if (timer === undefined && draining === undefined) schedule(gatherMs);
    },

    insert(row) {
      if (isClosed || direct.length >= maxDirect) return Promise.reject(notRecorded());
      return new Promise((resolve, reject) => {
        direct.push({ row, resolve, reject });
        drain().catch(() => {});
      });
    },

    drain,
    drainAll,

    async close() {
      await drainAll().catch(() => {});
      isClosed = true;
      clearTimeout(timer);
      refuse(direct, undefined);
      direct = [];
    },
  };
}

function refuse(rows: readonly Direct[], cause: unknown): void {
  for (const { reject } of rows) reject(notRecorded(cause));
}

/** Of lines that are whole, as all are that were written to the end. */
function toRows(lines: readonly string[]): LedgerRow[] {
  return lines.flatMap((line) => parseLine(line) ?? []);
}

function notRecorded(cause?: unknown): GatewayError {
  return new GatewayError(
    'overloaded',
    'The operation could not be recorded, so its result is kept back; try again',
    {
      cause,
    },
  );
}
