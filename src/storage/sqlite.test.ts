import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, QueryFailed, StoreUnavailable } from './database.ts';
import { FolderInUse } from './folder-lock.ts';
import { openSqlite, startSqliteWorker } from './sqlite.ts';

const childFile = fileURLToPath(new URL('../../test/support/sqlite-child.ts', import.meta.url));

describe('SQLite', () => {
  let folder: string;
  const children: ChildProcess[] = [];
  const opened: Database[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roundhouse-sqlite-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'))
        await once(child, 'exit');
    }
    for (const database of opened.splice(0)) await database.close();
    await rm(folder, { recursive: true });
  });

  async function open(options: Partial<Parameters<typeof openSqlite>[0]> = {}): Promise<Database> {
    const database = await openSqlite({ folder, ...options });
    opened.push(database);
    return database;
  }

  /** Another process on the same folder, and the lines it prints. */
  function startChild(rows: number): { child: ChildProcess; lines: AsyncIterableIterator<string> } {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', childFile, folder, String(rows)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    children.push(child);
    return { child, lines: createInterface({ input: child.stdout! })[Symbol.asyncIterator]() };
  }

  it('keeps its file in the folder, durable and with foreign keys', async () => {
    const database = await open();
    expect(await database.query('pragma journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(await database.query('pragma synchronous')).toEqual([{ synchronous: 2 }]);
    expect(await database.query('pragma foreign_keys')).toEqual([{ foreign_keys: 1 }]);
    expect(existsSync(join(folder, 'roundhouse.db'))).toBe(true);
  });

  it('makes a folder that is not there', async () => {
    const database = await open({ folder: join(folder, 'a', 'b') });
    expect(await database.query('select 1 as n')).toEqual([{ n: 1 }]);
  });

  it('says which folder cannot be opened', async () => {
    await writeFile(
      join(folder, 'roundhouse.db'),
      'this is not a database, but it is long enough to be read as one',
    );
    await expect(openSqlite({ folder })).rejects.toThrow(`cannot open the database in ${folder}`);
  });

  it('sends the queries of one tick in one message', async () => {
    let messages = 0;
    const database = await open({
      startWorker: (path) => {
        const worker = startSqliteWorker(path);
        const post = worker.postMessage.bind(worker);
        worker.postMessage = (message: unknown) => {
          messages++;
          post(message);
        };
        return worker;
      },
    });
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, n) => database.query('select $1 as n', [n])),
    );
    expect(results).toEqual(Array.from({ length: 100 }, (_, n) => [{ n }]));
    expect(messages).toBe(1);
  });

  it('sends only the bytes of a view, not the buffer it looks into', async () => {
    const database = await open();
    const view = new Uint8Array(new ArrayBuffer(1_000), 10, 3).fill(7);
    expect(await database.query('select $1 as b, length($1) as n', [view])).toEqual([
      { b: new Uint8Array([7, 7, 7]), n: 3 },
    ]);
  });

  it('runs transactions and queries in the order in which they came', async () => {
    const database = await open();
    await database.script('create table log (step text)');
    const step = (sql: Pick<Database, 'query'>, name: string) =>
      sql.query('insert into log values ($1)', [name]);
    const slow = (name: string) =>
      database.transaction(async (tx) => {
        await step(tx, `${name}1`);
        await new Promise(setImmediate);
        await step(tx, `${name}2`);
      });
    await Promise.all([step(database, 'a'), slow('b'), step(database, 'c'), slow('d'), step(database, 'e')]);
    const rows = await database.query<{ step: string }>('select step from log order by rowid');
    expect(rows.map((row) => row.step)).toEqual(['a', 'b1', 'b2', 'c', 'd1', 'd2', 'e']);
  });

  it('refuses a transaction that a query or a script begins or ends behind its back', async () => {
    const database = await open();
    await expect(database.query('begin')).rejects.toThrow('use transaction()');
    const broken = database.transaction(async (tx) => {
      await tx.script('create table half (id integer); commit');
      await tx.query('insert into half values (1)');
    });
    await expect(broken).rejects.toThrow(QueryFailed);
    expect(await database.query('select * from half')).toEqual([]);
  });

  describe('when its thread dies', () => {
    const workers: Worker[] = [];
    const startWorker = (path: string) => {
      const worker = startSqliteWorker(path);
      workers.push(worker);
      return worker;
    };

    it('fails what was asked of it, and the next query starts another', async () => {
      const database = await open({ startWorker });
      await database.script('create table t (id integer)');
      const asked = [database.query('insert into t values (1)'), database.query('select 1')];
      const inside = database.transaction(async (tx) => {
        await tx.query('insert into t values (2)');
        await workers.at(-1)?.terminate();
        await tx.query('insert into t values (3)');
      });
      const waiting = database.query('select count(*) as n from t where id > 1');
      await Promise.all(asked);
      // The transaction is gone with the thread; its next statement must not run alone in the new one.
      await expect(inside).rejects.toThrow('the transaction was rolled back');
      expect(await waiting).toEqual([{ n: 0 }]);

      const lost = expect(database.query('select 1')).rejects.toThrow(StoreUnavailable);
      await workers.at(-1)?.terminate();
      await lost;
      expect(await database.query('select id from t')).toEqual([{ id: 1 }]);
      expect(workers.length).toBe(3);
    });
  });

  describe('the lock', () => {
    it('keeps a second process out and names the first', async () => {
      const { child, lines } = startChild(1_000_000);
      expect((await lines.next()).value).toBe('open');
      const error = await openSqlite({ folder }).catch((reason) => reason);
      expect(error).toBeInstanceOf(FolderInUse);
      expect(error.pid).toBe(child.pid);
      expect(error.message).toBe(`another roundhouse process (pid ${child.pid}) uses this data folder`);
    });

    it('keeps a second database of the same process out', async () => {
      await open();
      await expect(openSqlite({ folder })).rejects.toThrow(`(pid ${process.pid})`);
    });

    it('is given back on close', async () => {
      const first = await open();
      expect(await readFile(join(folder, 'roundhouse.pid'), 'utf8')).toBe(`${process.pid}\n`);
      await first.close();
      expect(existsSync(join(folder, 'roundhouse.pid'))).toBe(false);
      await open();
    });
  });

  it.each([1, 2, 3])('loses no acknowledged row to kill -9, and frees the folder (run %i)', async (run) => {
    const { child, lines } = startChild(1_000_000);
    let acknowledged = 0;
    for await (const line of lines) {
      if (line === 'open') continue;
      acknowledged = Number(line);
      // Once killed, what it had still printed counts too.
      if (acknowledged === run * 211) child.kill('SIGKILL');
    }
    expect(acknowledged).toBeGreaterThanOrEqual(run * 211);

    const database = await open();
    const rows = await database.query<{ id: number; body: string }>(
      'select id, body from acknowledged order by id',
    );
    expect(rows.slice(0, acknowledged).map((row) => row.id)).toEqual(
      Array.from({ length: acknowledged }, (_, i) => i + 1),
    );
    expect(rows.length - acknowledged).toBeLessThanOrEqual(1); // one may be written and not yet reported
    expect(rows.filter((row) => row.body === 'half')).toEqual([]);
    expect(await database.query('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});
