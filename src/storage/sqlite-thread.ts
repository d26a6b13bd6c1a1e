/** A thread that owns a connection to the SQLite file, and what was asked of it. Requests are answered in order. */
import type { Worker } from 'node:worker_threads';
import { QueryFailed, type Row, type SqlValue, StoreUnavailable } from './database.ts';
import { isSqliteUnavailable, toSqliteConstraint } from './dialect.ts';
import { FolderInUse } from './folder-lock.ts';
import type { Failure, Greeting, Reply, Request } from './sqlite-worker.ts';
import { type BoundValue, toBoundValues } from './statement.ts';

export type Ask = (
  action: Request['action'],
  inTransaction: boolean,
  text?: string,
  values?: BoundValue[],
  lists?: BoundValue[][],
  waitsForDisk?: boolean,
) => Promise<Row[]>;

/** A view is cloned with the whole buffer behind it, and small Buffers share one: only the bytes meant are sent. */
export function toSendable(values: readonly SqlValue[]): BoundValue[] {
  return toBoundValues(values).map((value) =>
    value instanceof Uint8Array && value.byteLength !== value.buffer.byteLength
      ? new Uint8Array(value)
      : value,
  );
}

interface Pending {
  text: string;
  resolve(rows: Row[]): void;
  reject(error: Error): void;
}

export function createThread(startWorker: () => Worker) {
  let worker: Worker | undefined;
  let exited: Promise<void> | undefined;
  let pending = new Map<number, Pending>();
  let batch: Request[] = [];
  let lastId = 0;

  function settle(reply: Reply): void {
    const asked = pending.get(reply.id);
    if (asked === undefined) return;
    pending.delete(reply.id);
    if ('rows' in reply) asked.resolve(reply.rows);
    else asked.reject(toError(reply.failure, asked.text));
  }

  /** Resolves when the file is open. Requests may be sent before: they wait in the thread's mailbox. */
  async function start(): Promise<void> {
    const opened = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const started = startWorker();
    let fault: Error | undefined;
    worker = started;
    exited = ended.promise;
    started.once('message', (greeting: Greeting) => {
      if (greeting.opened) {
        started.on('message', (replies: Reply[]) => replies.forEach(settle));
        return opened.resolve();
      }
      fault = greeting.inUse ? new FolderInUse(greeting.inUse.pid) : new StoreUnavailable(greeting.message);
      opened.reject(fault);
    });
    started.on('error', (error) => {
      fault = error;
    });
    started.once('exit', () => {
      opened.reject(lose(fault));
      ended.resolve();
    });
    await opened.promise;
  }

  function lose(cause: unknown): StoreUnavailable {
    const lost = new StoreUnavailable('the database thread has stopped', { cause });
    const orphans = pending;
    pending = new Map();
    batch = [];
    worker = undefined;
    for (const orphan of orphans.values()) orphan.reject(lost);
    return lost;
  }

  function flush(): void {
    if (batch.length === 0) return;
    const requests = batch;
    batch = [];
    worker?.postMessage(requests);
  }

  const ask: Ask = (action, inTransaction, text = action, values = [], lists = [], waitsForDisk = true) => {
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>();
    if (worker === undefined) start().catch(lose);
    if (batch.length === 0) process.nextTick(flush);
    const id = ++lastId;
    pending.set(id, { text, resolve, reject });
    batch.push({ id, action, text, values, lists, inTransaction, waitsForDisk });
    return promise;
  };

  async function stop(): Promise<void> {
    if (worker === undefined) return;
    flush();
    worker.postMessage([
      {
        id: 0,
        action: 'close',
        text: '',
        values: [],
        lists: [],
        inTransaction: false,
        waitsForDisk: true,
      } satisfies Request,
    ]);
    await exited;
  }

  return { start, ask, stop };
}

function toError({ message, resultCode, isFile }: Failure, text: string): Error {
  if (isFile === true) return new StoreUnavailable(message);
  if (resultCode !== undefined && isSqliteUnavailable(resultCode))
    return new StoreUnavailable(`SQLite: ${message}`);
  return new QueryFailed(
    message,
    text,
    resultCode === undefined ? undefined : toSqliteConstraint(resultCode),
  );
}
