/**
 * SQLite behind the one interface. The file belongs to a worker thread, so a query never blocks the event
 * loop; all queries of one tick travel in one message (measured: 52 → 18 µs of CPU a query). Transactions
 * run one at a time, and whatever comes later waits in line behind them.
 *
 * When the thread dies, everything that was asked of it fails with StoreUnavailable, and the next query
 * starts another one.
 */
import { resolve as resolvePath } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Database, type Row, type SqlValue, StoreUnavailable } from './database.ts';
import { createThread, toSendable } from './sqlite-thread.ts';
import { checkNotification } from './statement.ts';
import { createTransactions, type OpenTransaction } from './transaction.ts';

export interface SqliteOptions {
  /** Holds `roundhouse.db`; made when it is not there, and kept from other processes until `close()`. */
  folder: string;
  /** How long a transaction may ask nothing before it is rolled back. */
  transactionIdleMs?: number;
  /** Starts the thread; for tests that end it. */
  startWorker?: (folder: string) => Worker;
}

export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const { startWorker = startSqliteWorker } = options;
  const folder = resolvePath(options.folder);
  const thread = createThread(() => startWorker(folder));
  await thread.start();

  const { ask } = thread;
  const line = createLine();
  const channels = createChannels();
  const transactions = createTransactions(
    options.transactionIdleMs === undefined ? {} : { idleMs: options.transactionIdleMs },
  );
  let closing: Promise<void> | undefined;

  function checkUsable(): void {
    if (closing !== undefined) throw new StoreUnavailable('the database is closed');
    transactions.checkOutside();
  }

  function openTransaction(): OpenTransaction {
    const notifications: [channel: string, payload: string][] = [];
    return {
      query: async <R>(text: string, values: readonly SqlValue[] = []) =>
        (await ask('query', true, text, toSendable(values))) as R[],
      each: async (text, lists) => toChanges(await ask('each', true, text, [], lists.map(toSendable))),
      eachJson: async (text, lists) => toChanges(await ask('eachJson', true, text, [toJsonList(lists)])),
      script: async (text) => void (await ask('script', true, text)),
      notify: async (channel, payload) => {
        checkNotification(channel, payload);
        notifications.push([channel, payload]);
      },
      commit: async () => {
        await ask('commit', true);
        for (const [channel, payload] of notifications) channels.deliver(channel, payload);
      },
      // It can fail only with the thread itself, and then nothing was committed.
      rollback: async () => void (await ask('rollback', true).catch(() => [])),
    };
  }

  return {
    dialect: 'sqlite',
    source: { folder },
    async query<R>(text: string, values: readonly SqlValue[] = []) {
      checkUsable();
      const sendable = toSendable(values);
      return (await line.pass(() => ask('query', false, text, sendable))) as R[];
    },
    async each(text, lists, { waitsForDisk } = {}) {
      checkUsable();
      const sendable = lists.map(toSendable);
      return toChanges(await line.pass(() => ask('each', false, text, [], sendable, waitsForDisk)));
    },
    async eachJson(text, lists) {
      checkUsable();
      return toChanges(await line.pass(() => ask('eachJson', false, text, [toJsonList(lists)])));
    },
    async eachOfFile(text, path, { waitsForDisk } = {}) {
      checkUsable();
      const [row] = await line.pass(() => ask('eachOfFile', false, text, [path], [], waitsForDisk));
      return row as { changed: number; unread: number };
    },
    async script(text) {
      checkUsable();
      await line.pass(() => ask('script', false, text));
    },
    async notify(channel, payload) {
      checkUsable();
      checkNotification(channel, payload);
      channels.deliver(channel, payload);
    },
    async transaction(work, { waitsForDisk } = {}) {
      checkUsable();
      const leave = await line.hold();
      try {
        await ask('begin', false, 'begin', [], [], waitsForDisk);
        return await transactions.run(openTransaction(), work);
      } finally {
        leave();
      }
    },
    async listen(channel, onMessage) {
      checkNotification(channel, '');
      return channels.add(channel, onMessage);
    },
    async close() {
      transactions.checkOutside();
      closing ??= line.hold().then(() => thread.stop());
      await closing;
    },
  };
}

export function startSqliteWorker(folder: string): Worker {
  return new Worker(new URL('./sqlite-worker.ts', import.meta.url), {
    workerData: { folder },
    // Rows pass through and are gone: a large nursery would only be memory that nobody gives back.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  });
}

/** One text instead of a row for each: it crosses between the threads at a tenth of the price. */
function toChanges(rows: readonly Row[]): number[] {
  const changes = rows[0]?.['changes'] as string;
  return changes === '' ? [] : changes.split(',').map(Number);
}

function toJsonList(lists: readonly string[]): string {
  return `[${lists.join(',')}]`;
}

/** First in, first out: single requests pass while nobody holds the line, a holder has it alone. */
function createLine() {
  const waiting: (() => void)[] = [];
  let held = false;

  function enter(start: () => void): void {
    if (held || waiting.length > 0) waiting.push(start);
    else start();
  }

  function leave(): void {
    held = false;
    while (!held) {
      const next = waiting.shift();
      if (next === undefined) return;
      next();
    }
  }

  return {
    pass<T>(start: () => Promise<T>): Promise<T> {
      return new Promise((resolve) => enter(() => resolve(start())));
    },
    hold(): Promise<() => void> {
      return new Promise((resolve) =>
        enter(() => {
          held = true;
          resolve(leave);
        }),
      );
    },
  };
}

/** Notifications of one process. A listener runs after the caller, and one that throws does not silence the others. */
function createChannels() {
  const channels = new Map<string, Set<{ onMessage(payload: string): void }>>();
  return {
    deliver(channel: string, payload: string): void {
      const listeners = channels.get(channel);
      for (const listener of listeners ?? []) {
        queueMicrotask(() => listeners?.has(listener) && listener.onMessage(payload));
      }
    },
    add(channel: string, onMessage: (payload: string) => void): () => Promise<void> {
      const listener = { onMessage };
      const listeners = channels.get(channel) ?? new Set();
      channels.set(channel, listeners.add(listener));
      return async () => {
        listeners.delete(listener);
        if (listeners.size === 0 && channels.get(channel) === listeners) channels.delete(channel);
      };
    },
  };
}
