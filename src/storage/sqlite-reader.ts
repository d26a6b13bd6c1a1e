/**
 * A second connection to the SQLite file that only reads, in a thread of its own: a search of tens of milliseconds holds
 * up neither the event loop nor the queries of everybody else. It sees what was committed before each of its queries.
 * The thread is started by the first query, and again after it has died.
 */
import { Worker } from 'node:worker_threads';
import type { Row, SqlValue } from './database.ts';
import { StoreUnavailable } from './database.ts';
import { createThread, toSendable } from './sqlite-thread.ts';

export interface SqliteReader {
  query<R = Row>(text: string, values?: readonly SqlValue[]): Promise<R[]>;
  close(): Promise<void>;
}

/** `folder` is that of a database that is open in this process. */
export function createSqliteReader({ folder }: { folder: string }): SqliteReader {
  const thread = createThread(
    () =>
      new Worker(new URL('./sqlite-worker.ts', import.meta.url), {
        workerData: { folder, readOnly: true },
        resourceLimits: { maxYoungGenerationSizeMb: 4 },
      }),
  );
  let isClosed = false;
  return {
    async query<R>(text: string, values: readonly SqlValue[] = []) {
      if (isClosed) throw new StoreUnavailable('the database is closed');
      return (await thread.ask('query', false, text, toSendable(values))) as R[];
    },
    async close() {
      isClosed = true;
      await thread.stop();
    },
  };
}
