/** The thread that owns the SQLite file, or only reads it: takes batches of requests, answers batches of replies, in order. */
import assert from 'node:assert';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { getLoadablePath } from 'sqlite-vec';
import type { Row } from './database.ts';
import { databaseFile, FolderInUse, lockFolder } from './folder-lock.ts';
import { parseFileRows } from './row-file.ts';
import { type BoundValue, countParameters } from './statement.ts';

export interface Request {
  id: number;
  action: 'query' | 'each' | 'eachJson' | 'eachOfFile' | 'script' | 'begin' | 'commit' | 'rollback' | 'close';
  text: string;
  values: readonly BoundValue[];
  /** For `each`. */
  lists: readonly (readonly BoundValue[])[];
  /** Whether it belongs to the open transaction, or to none. */
  inTransaction: boolean;
  /** Whether what it commits, or its transaction, is on the disk by then. */
  waitsForDisk: boolean;
}

export interface Failure {
  message: string;
  /** A file of rows could not be read. */
  isFile?: boolean;
  /** SQLite's extended result code, when SQLite refused. */
  resultCode: number | undefined;
}

export type Reply = { id: number; rows: Row[] } | { id: number; failure: Failure };

/** The first message of the thread. */
export type Greeting =
  | { opened: true }
  | { opened: false; message: string; inUse?: { pid: number | undefined } };

const port = parentPort;
assert(port !== null, 'this file runs as a worker thread');
const { folder, readOnly = false } = workerData as { folder: string; readOnly?: boolean };

const maxStatements = 500;
const busyTimeoutMs = 5_000;
/** Who reads long stretches gets them without a call and a copy for each page: half of the time of a search. */
const mappedBytes = 2 ** 30;
/** A reply waits for the rest of its batch, but not behind a slow query. */
const maxReplyDelayMs = 2;

interface Prepared {
  statement: StatementSync;
  parameters: number;
}

function open(): { run(request: Request): Row[]; close(): void } {
  // One that only reads stands beside the one that has the lock, in the same process.
  const unlock = readOnly ? () => {} : lockFolder(folder);
  const db = new DatabaseSync(join(folder, databaseFile), {
    timeout: busyTimeoutMs,
    enableForeignKeyConstraints: true,
    allowExtension: true,
    readOnly,
  });
  if (readOnly) db.exec(`pragma mmap_size = ${mappedBytes}`);
  else db.exec('pragma journal_mode = wal; pragma synchronous = full');
  let isWaitingForDisk = true;
  loadVectors(db);
  const prepared = new Map<string, Prepared>();
  /** The few statements of `each`, as they are prepared. */
  const byPosition = new Map<string, { text: string; parameters: number }>();

  /** The least recently used statement is dropped first: a map keeps the order of insertion. */
  function prepare(text: string, parameters?: number): Prepared {
    let entry = prepared.get(text);
    if (entry === undefined) {
      entry = { parameters: parameters ?? countParameters(text), statement: db.prepare(text) };
      const oldest = prepared.size >= maxStatements ? prepared.keys().next() : undefined;
      if (oldest?.value !== undefined) prepared.delete(oldest.value);
    } else {
      prepared.delete(text);
    }
    prepared.set(text, entry);
    return entry;
  }

  function query(text: string, values: readonly BoundValue[]): Row[] {
    const { statement, parameters } = prepare(text);
    checkCount(values, parameters);
    if (parameters === 0) return statement.all() as Row[];
    const named: Record<string, BoundValue> = {};
    for (const [index, value] of values.entries()) named[`$${index + 1}`] = toBinding(value);
    return statement.all(named) as Row[];
  }

  /** By position, without a name to look up for each value. */
  function each(text: string, lists: Request['lists']): Row[] {
    const { statement, parameters } = prepareByPosition(text);
    const changes = lists.map((values) => {
      checkCount(values, parameters);
      return Number(statement.run(...values.map(toBinding)).changes);
    });
    return [{ changes: changes.join() }];
  }

  /** Numbers go in as they are: the type of their column makes them integers. */
  function eachJson(text: string, json: string): Row[] {
    const { statement, parameters } = prepareByPosition(text);
    let changes = '';
    for (const values of JSON.parse(json) as BoundValue[][]) {
      checkCount(values, parameters);
      changes += `${statement.run(...values).changes},`;
    }
    return [{ changes: changes.slice(0, -1) }];
  }

  /** Good until the next call. A buffer and a text of its own for each file cost as much as a third of its inserts. */
  let room = Buffer.alloc(0);
  function readWhole(path: string): Buffer {
    const fd = openSync(path, 'r');
    try {
      const { size } = fstatSync(fd);
      if (room.length < size) room = Buffer.allocUnsafeSlow(size);
      let read = 0;
      for (let got = 1; got > 0 && read < size; read += got)
        got = readSync(fd, room, read, size - read, null);
      return room.subarray(0, read);
    } finally {
      closeSync(fd);
    }
  }

  /** Numbers go in as with `eachJson`. */
  function eachOfFile(text: string, path: string): Row[] {
    const { statement, parameters } = prepareByPosition(text);
    const { rows, unread } = parseFileRows(readWhole(path));
    let changed = 0;
    for (const values of rows) {
      checkCount(values, parameters);
      changed += Number(statement.run(...values).changes);
    }
    return [{ changed, unread }];
  }

  function prepareByPosition(text: string): Prepared {
    const known = byPosition.get(text);
    if (known !== undefined) return prepare(known.text, known.parameters);
    const entry = { text: text.replaceAll(/\$\d+/g, '?'), parameters: countParameters(text) };
    byPosition.set(text, entry);
    return prepare(entry.text, entry.parameters);
  }

  /** All or nothing, and one wait for the disk; without a message for the beginning and one for the end. */
  function together(inTransaction: boolean, work: () => Row[]): Row[] {
    if (inTransaction) return work();
    db.exec('begin immediate');
    try {
      const rows = work();
      db.exec('commit');
      return rows;
    } catch (error) {
      rollback();
      throw error;
    }
  }

  /** The log of a commit that does not wait is written all the same, and the next one that waits syncs it too. */
  function waitForDisk(isWanted: boolean): void {
    if (isWanted === isWaitingForDisk) return;
    db.exec(`pragma synchronous = ${isWanted ? 'full' : 'normal'}`);
    isWaitingForDisk = isWanted;
  }

  function rollback(): void {
    if (db.isTransaction) db.exec('rollback');
  }

  return {
    run(request) {
      let rows: Row[] = [];
      if (request.action === 'rollback') {
        rollback();
        return rows;
      }
      // SQLite rolls back by itself on some errors (a full disk): what follows must not run as if alone.
      assert(db.isTransaction === request.inTransaction, 'the transaction was rolled back');
      // It cannot be changed within a transaction, which goes by what it began with.
      if (!request.inTransaction) waitForDisk(request.waitsForDisk);
      if (request.action === 'begin') db.exec('begin immediate');
      else if (request.action === 'commit') db.exec('commit');
      else if (request.action === 'script') db.exec(request.text);
      else if (request.action === 'each')
        rows = together(request.inTransaction, () => each(request.text, request.lists));
      else if (request.action === 'eachJson')
        rows = together(request.inTransaction, () => eachJson(request.text, request.values[0] as string));
      else if (request.action === 'eachOfFile')
        rows = together(request.inTransaction, () => eachOfFile(request.text, request.values[0] as string));
      else rows = query(request.text, request.values);
      if (db.isTransaction && !request.inTransaction && request.action !== 'begin') {
        rollback();
        assert.fail('a statement began a transaction: use transaction()');
      }
      return rows;
    },
    close() {
      db.close();
      unlock();
    },
  };
}

/** Where its binary does not run, only what names its functions is refused: nothing but vectors needs it. */
function loadVectors(db: DatabaseSync): void {
  try {
    db.loadExtension(getLoadablePath());
  } catch {
    // "no such function: vec_distance_l2", when it is asked for.
  }
  db.enableLoadExtension(false);
}

function checkCount(values: readonly BoundValue[], parameters: number): void {
  assert(
    values.length === parameters,
    `the statement takes ${parameters} values, ${values.length} were given`,
  );
}

/** node:sqlite binds every number as a REAL, and 5 would read back as "5.0" from a text column. */
function toBinding(value: BoundValue): BoundValue {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

function serve(connection: ReturnType<typeof open>): void {
  port?.on('message', (requests: Request[]) => {
    let replies: Reply[] = [];
    let since = performance.now();
    for (const request of requests) {
      if (request.action === 'close') {
        connection.close();
        port.close();
        return;
      }
      replies.push(answer(connection, request));
      if (performance.now() - since > maxReplyDelayMs) {
        port.postMessage(replies);
        replies = [];
        since = performance.now();
      }
    }
    if (replies.length > 0) port.postMessage(replies);
  });
}

function answer(connection: ReturnType<typeof open>, request: Request): Reply {
  try {
    return { id: request.id, rows: connection.run(request) };
  } catch (error) {
    const { message, errcode, syscall } = error as Error & { errcode?: number; syscall?: string };
    return { id: request.id, failure: { message, resultCode: errcode, isFile: syscall !== undefined } };
  }
}

function greet(greeting: Greeting): void {
  port?.postMessage(greeting);
}

try {
  serve(open());
  greet({ opened: true });
} catch (error) {
  const message = `cannot open the database in ${folder}: ${(error as Error).message}`;
  greet({ opened: false, message, ...(error instanceof FolderInUse ? { inUse: { pid: error.pid } } : {}) });
}
