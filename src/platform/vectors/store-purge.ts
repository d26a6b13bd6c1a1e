/**
 * Sweeps up after deletions, a few rows at a time: SQLite has one writer, and nobody should wait for the 100,000 items of
 * a large file. What is to go is written in the transaction that deletes, so that a crash leaves nothing behind; it is
 * out of everybody's sight from then on.
 */
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import type { Objects } from '../objects/types.ts';
import type { ItemIndex } from './parts.ts';

export interface Purge {
  /** What is due, to its end. */
  sweep(): Promise<void>;
  start(): void;
  close(): Promise<void>;
}

export interface PurgeParts {
  readonly database: Database;
  readonly objects: Objects;
  readonly index: ItemIndex;
  readonly now: () => number;
  readonly log: Log;
  readonly everyMs?: number;
}

interface PurgeRow {
  number: number;
  collection_no: number | null;
  file_no: number | null;
  object_key: string | null;
}

/** About 10 ms on SQLite. */
const itemsPerStep = 250;
/** Another process sweeps nothing that was taken on so lately. */
const patienceMs = 60_000;
const defaultEveryMs = 60_000;

export function createPurge(parts: PurgeParts): Purge {
  const { database, objects, index, now, log, everyMs = defaultEveryMs } = parts;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | undefined;
  let isAskedAgain = false;
  let isClosed = false;

  /** Put off before it is swept, so that one that fails every time holds up none of the others. */
  async function take(): Promise<PurgeRow | undefined> {
    const [row] = await database.query<PurgeRow>(
      `update vector_purges set due_at = $2 where due_at <= $1 and number = (
         select number from vector_purges where due_at <= $1 order by due_at, number limit 1)
       returning number, collection_no, file_no, object_key`,
      [now(), now() + patienceMs],
    );
    return row;
  }

  async function removeItems(fileNumber: number): Promise<void> {
    let removed = itemsPerStep;
    while (removed === itemsPerStep && !isClosed) {
      removed = await database.transaction(async (tx) => {
        const rows = await tx.query<{ number: number }>(
          `delete from vector_items where number in (
             select number from vector_items where file_no = $1 order by position limit $2) returning number`,
          [fileNumber, itemsPerStep],
        );
        if (rows.length > 0)
          await index.remove(
            tx,
            rows.map(({ number }) => number),
          );
        return rows.length;
      });
    }
  }

  async function removeFiles(collectionNumber: number): Promise<void> {
    for (;;) {
      if (isClosed) return;
      const [file] = await database.query<{ number: number; object_key: string }>(
        'select number, object_key from vector_files where collection_no = $1 order by number limit 1',
        [collectionNumber],
      );
      if (file === undefined) return;
      await removeItems(file.number);
      if (isClosed) return;
      await objects.remove(file.object_key);
      await database.query('delete from vector_files where number = $1', [file.number]);
    }
  }

  async function purge(row: PurgeRow): Promise<void> {
    if (row.collection_no !== null) {
      await removeFiles(row.collection_no);
      if (!isClosed) await index.forget(row.collection_no);
    }
    if (row.file_no !== null) await removeItems(row.file_no);
    if (row.object_key !== null && !isClosed) await objects.remove(row.object_key);
    if (!isClosed) await database.query('delete from vector_purges where number = $1', [row.number]);
  }

  async function sweepAll(): Promise<void> {
    while (!isClosed) {
      const row = await take();
      if (row === undefined) return;
      await purge(row);
    }
  }

  async function run(): Promise<void> {
    try {
      do {
        isAskedAgain = false;
        await sweepAll();
      } while (isAskedAgain && !isClosed);
    } catch (error) {
      log.warn({ err: error }, 'what a deletion left could not be swept up: it is tried again');
    } finally {
      sweeping = undefined;
    }
  }

  function sweep(): Promise<void> {
    isAskedAgain = true;
    sweeping ??= run();
    return sweeping;
  }

  return {
    sweep,
    start() {
      timer = setInterval(() => void sweep(), everyMs).unref();
      void sweep();
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      await sweeping;
    },
  };
}
