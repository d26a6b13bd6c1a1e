/** What every database keeps. The suite runs on SQLite, and on PostgreSQL when DATABASE_URL is set. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { type Database, isUniqueViolation, QueryFailed, type Sql, StoreUnavailable } from './database.ts';
import { toFileRow } from './row-file.ts';

const dialects = process.env.DATABASE_URL ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const);

describe.each(dialects)('a database: %s', (dialect) => {
  let test: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    test = await createTestDatabase({ dialect });
    database = test.database;
    const blob = dialect === 'sqlite' ? 'blob' : 'bytea';
    await database.script(`
      create table things (id integer primary key, name text unique, size double precision, flag integer,
                           bytes ${blob}, amount bigint);
      create table parts (id integer primary key, thing integer not null references things (id));
    `);
  });
  beforeEach(() => database.script('delete from parts; delete from things'));
  afterAll(() => test.close());

  const names = async (sql: Sql = database) =>
    (await sql.query<{ name: string }>('select name from things order by id')).map((row) => row.name);
  const insert = (sql: Sql, id: number, name: string) =>
    sql.query('insert into things (id, name) values ($1, $2)', [id, name]);

  it('names its dialect', () => {
    expect(database.dialect).toBe(dialect);
  });

  it('runs a statement for all lists or for none, outside of a transaction too', async () => {
    await database.script('create table whole (id integer primary key)');
    const text = 'insert into whole (id) values ($1)';
    await expect(database.each(text, [[1], [2], [1]])).rejects.toThrow();
    await expect(database.eachJson(text, ['[1]', '[1]'])).rejects.toThrow();
    expect(await database.query('select id from whole')).toEqual([]);
    expect(await database.each(text, [[1], [2]])).toEqual([1, 1]);
  });

  it('takes lists that are JSON already, and stores numbers as their columns have them', async () => {
    await database.script(
      'create table sums (id text primary key, count bigint not null, size double precision)',
    );
    const text = 'insert into sums (id, count, size) values ($1, $2, $3) on conflict (id) do nothing';
    const lists = ['["é",5,1.5]', '["b","9007199254740993",2]', '["é",6,3]'];
    expect(await database.eachJson(text, lists)).toEqual([1, 1, 0]);
    expect(await database.transaction((tx) => tx.eachJson(text, ['["c",7,0]']))).toEqual([1]);
    expect(await database.eachJson(text, [])).toEqual([]);
    const rows = await database.query('select id, cast(count as text) as count, size from sums order by id');
    expect(rows).toEqual([
      { id: 'b', count: '9007199254740993', size: 2 },
      { id: 'c', count: '7', size: 0 },
      { id: 'é', count: '5', size: 1.5 },
    ]);
    await expect(database.eachJson(text, ['["too few"]'])).rejects.toThrow();
  });

  it('takes the rows of a file, all of them or none, and tells how much of its end is no row', async () => {
    await database.script('create table filed (id text primary key, count bigint, note text)');
    const text = 'insert into filed (id, count, note) values ($1, $2, $3) on conflict (id) do nothing';
    const path = join(test.folder, 'rows');
    const rows = [
      ['é', 5, 'one\ntwo'],
      ['b', 1763164800000, null],
      ['é', 6, ''],
    ];
    await writeFile(path, `${rows.map(toFileRow).join('')}["1"`);
    expect(await database.eachOfFile(text, path)).toEqual({ changed: 2, unread: 4 });
    expect(await database.query('select id, count, note from filed order by id')).toEqual([
      { id: 'b', count: 1763164800000, note: null },
      { id: 'é', count: 5, note: 'one\ntwo' },
    ]);
    await writeFile(path, toFileRow(['c', 1, null]) + toFileRow(['too few']));
    await expect(database.eachOfFile(text, path)).rejects.toThrow();
    await expect(database.eachOfFile(text, join(test.folder, 'none'))).rejects.toThrow('ENOENT');
    expect(await database.query(`select id from filed where id = 'c'`)).toEqual([]);
  });

  it('runs one statement for many lists of values, alone and in a transaction, and counts what each changed', async () => {
    const text = 'insert into things (id, name, size) values ($1, $2, $3) on conflict (id) do nothing';
    expect(
      await database.each(text, [
        [1, 'a', 1.5],
        [2, 'b', 2],
        [1, 'c', null],
      ]),
    ).toEqual([1, 1, 0]);
    expect(await database.each(text, [])).toEqual([]);
    await database.transaction(async (tx) => {
      expect(
        await tx.each(text, [
          [3, 'd', 3],
          [2, 'e', 2],
        ]),
      ).toEqual([1, 0]);
    });
    expect(await names()).toEqual(['a', 'b', 'd']);
    await expect(database.each(text, [[4, 'f']])).rejects.toThrow();
    const failing = database.transaction((tx) =>
      tx.each(text, [
        [5, 'g', 1],
        [6, 'a', 1],
      ]),
    );
    await expect(failing).rejects.toSatisfy(isUniqueViolation);
    expect(await names()).toEqual(['a', 'b', 'd']);
  });

  describe('values', () => {
    it('come back as they went in', async () => {
      await database.query(
        'insert into things (id, name, size, flag, bytes, amount) values ($1, $2, $3, $4, $5, $6)',
        [1, "é ✓ 𝄞 'q' $2", 1.5, true, Buffer.from([0, 255, 7]), 9_007_199_254_740_991n],
      );
      const rows = await database.query('select * from things');
      expect(rows).toEqual([
        {
          id: 1,
          name: "é ✓ 𝄞 'q' $2",
          size: 1.5,
          flag: 1,
          bytes: new Uint8Array([0, 255, 7]),
          amount: Number.MAX_SAFE_INTEGER,
        },
      ]);
      expect(Object.getPrototypeOf(rows[0])).toBe(Object.prototype);
    });

    it('may be null or false', async () => {
      await database.query('insert into things (id, name, flag, bytes) values ($1, $2, $3, $4)', [
        1,
        null,
        false,
        null,
      ]);
      expect(await database.query('select name, flag, bytes from things')).toEqual([
        { name: null, flag: 0, bytes: null },
      ]);
    });

    it('keep a whole number whole where a column holds text', async () => {
      await database.query('insert into things (id, name) values ($1, $2)', [1, 5]);
      expect(await names()).toEqual(['5']);
    });

    it('may be used more than once and in any order', async () => {
      await insert(database, 1, 'a');
      await insert(database, 2, 'b');
      const text =
        'select id from things where name = $2 or (id = $1 and id <> $3 and name <> $2) order by id';
      expect(await database.query(text, [1, 'b', 9])).toEqual([{ id: 1 }, { id: 2 }]);
    });

    it('are as many as the statement takes', async () => {
      await expect(database.query('select id from things where id = $1')).rejects.toThrow(QueryFailed);
      await expect(database.query('select id from things where id = $1', [1, 2])).rejects.toThrow(
        QueryFailed,
      );
    });

    it('that no database can hold are refused before they are sent', async () => {
      const text = 'insert into things (id, name) values ($1, $2)';
      await expect(database.query(text, [1, undefined as never])).rejects.toThrow('$2');
      await expect(database.query(text, [Number.NaN, 'a'])).rejects.toThrow('$1');
      expect(await names()).toEqual([]);
    });

    it('beyond 2^53 are read as text, and never rounded', async () => {
      const pico = 9_223_372_036_854_775_807n;
      await database.query('insert into things (id, amount) values ($1, $2)', [1, pico]);
      expect(await database.query('select cast(amount as text) as amount from things')).toEqual([
        { amount: `${pico}` },
      ]);
      await expect(database.query('select amount from things')).rejects.toThrow(QueryFailed);
    });

    it('of counts and sums are numbers', async () => {
      await database.query('insert into things (id, amount) values ($1, $3), ($2, $3)', [1, 2, 21]);
      expect(await database.query('select count(*) as n, sum(amount) as total from things')).toEqual([
        { n: 2, total: 42 },
      ]);
    });

    it('of a comparison are 0 and 1', async () => {
      expect(await database.query('select 1 = 1 as yes, 1 = 2 as no')).toEqual([{ yes: 1, no: 0 }]);
    });
  });

  describe('statements', () => {
    it('answer what they return', async () => {
      expect(
        await database.query('insert into things (id, name) values ($1, $2) returning name, id', [1, 'a']),
      ).toEqual([{ name: 'a', id: 1 }]);
      expect(await database.query('update things set name = $1 where id = $2', ['b', 1])).toEqual([]);
      expect(
        await database.query('update things set name = $1 where id = $2 returning id', ['c', 7]),
      ).toEqual([]);
      expect(await database.query('delete from things returning name')).toEqual([{ name: 'b' }]);
    });

    it('settle conflicts', async () => {
      await insert(database, 1, 'a');
      const ignore = 'insert into things (id, name) values ($1, $2) on conflict do nothing returning id';
      expect(await database.query(ignore, [1, 'b'])).toEqual([]);
      const replace =
        'insert into things (id, name) values ($1, $2) on conflict (id) do update set name = excluded.name returning name';
      expect(await database.query(replace, [1, 'c'])).toEqual([{ name: 'c' }]);
    });

    it('come one at a time in a query', async () => {
      await expect(database.query('delete from things; select 1')).rejects.toThrow(QueryFailed);
    });

    it('that are wrong reject their own caller only, and say where', async () => {
      await insert(database, 1, 'a');
      const results = await Promise.allSettled([
        insert(database, 2, 'b'),
        database.query('select nothing from things'),
        insert(database, 1, 'again'),
        insert(database, 3, 'c'),
      ]);
      expect(results.map((result) => result.status)).toEqual([
        'fulfilled',
        'rejected',
        'rejected',
        'fulfilled',
      ]);
      const error = (results[1] as PromiseRejectedResult).reason;
      expect(error).toBeInstanceOf(QueryFailed);
      expect(error.message).toContain('nothing');
      expect(error.statement).toBe('select nothing from things');
    });

    it('still work after many others were prepared', async () => {
      for (let i = 0; i < 600; i++) await database.query(`select ${i} as n`);
      expect(await database.query('select 0 as n')).toEqual([{ n: 0 }]);
    });
  });

  describe('constraints', () => {
    const failing = (text: string) =>
      database.query(text).then(
        () => undefined,
        (error) => error,
      );

    it('tell a unique violation from the others', async () => {
      await insert(database, 1, 'a');
      const primary = await failing(`insert into things (id, name) values (1, 'b')`);
      const unique = await failing(`insert into things (id, name) values (2, 'a')`);
      const foreign = await failing('insert into parts (id, thing) values (1, 99)');
      const missing = await failing('insert into parts (id, thing) values (1, null)');
      expect([primary, unique, foreign, missing].map(isUniqueViolation)).toEqual([true, true, false, false]);
      expect(foreign.constraint).toBe('foreign_key');
      expect(missing.constraint).toBe('not_null');
      expect(unique.message).toMatch(/things.?.name/);
      expect(isUniqueViolation(new Error('unique'))).toBe(false);
    });
  });

  describe('a transaction', () => {
    it('commits everything and answers what its work answers', async () => {
      const answer = await database.transaction(async (tx) => {
        await insert(tx, 1, 'a');
        await tx.script(`insert into things (id, name) values (2, 'b'); update things set flag = 1`);
        return names(tx);
      });
      expect(answer).toEqual(['a', 'b']);
      expect(await names()).toEqual(['a', 'b']);
    });

    it('may bring settings for the server, which change nothing of what it answers', async () => {
      await insert(database, 1, 'a');
      expect(await database.transaction(names, { settings: { enable_sort: 'off' } })).toEqual(['a']);
    });

    it('need not wait for the disk, and the next one does again', async () => {
      const setting = { sqlite: 'pragma synchronous', postgres: 'show synchronous_commit' }[dialect];
      const show = async (sql: Sql) =>
        (await sql.query<{ synchronous: number; synchronous_commit: string }>(setting))[0];
      const usual = await show(database);
      const hurried = dialect === 'sqlite' ? { synchronous: 1 } : { synchronous_commit: 'off' };
      expect(await database.transaction(show, { waitsForDisk: false })).toEqual(hurried);
      expect(await database.transaction(show)).toEqual(usual);
      expect(
        await database.each('insert into things (id, name) values ($1, $2)', [[1, 'a']], {
          waitsForDisk: false,
        }),
      ).toEqual([1]);
      expect(await show(database)).toEqual(usual);
      expect(usual).not.toEqual(hurried);
      expect(await names()).toEqual(['a']);
    });

    it('takes everything back when its work throws, and throws that on', async () => {
      const thrown = new Error('changed my mind');
      const run = database.transaction(async (tx) => {
        await insert(tx, 1, 'a');
        throw thrown;
      });
      await expect(run).rejects.toBe(thrown);
      expect(await names()).toEqual([]);
    });

    it('fails as a whole when a statement fails, even if its work goes on', async () => {
      let second: unknown;
      const run = database.transaction(async (tx) => {
        await insert(tx, 1, 'a');
        await insert(tx, 1, 'again').catch(() => {});
        second = await insert(tx, 2, 'b').catch((error) => error);
      });
      await expect(run).rejects.toSatisfy(isUniqueViolation);
      expect(isUniqueViolation(second)).toBe(true);
      expect(await names()).toEqual([]);
    });

    it('waits for queries that its work did not await', async () => {
      await database.transaction(async (tx) => {
        void insert(tx, 1, 'a');
        void insert(tx, 2, 'b');
      });
      expect(await names()).toEqual(['a', 'b']);
    });

    it('cannot be used when it is over', async () => {
      let leaked: Sql | undefined;
      await database.transaction(async (tx) => {
        leaked = tx;
      });
      await expect(leaked?.query('select 1')).rejects.toThrow('over');
    });

    it('says so when its work uses the database itself, instead of waiting for ever', async () => {
      const message = 'use the tx';
      await expect(database.transaction(() => database.query('select 1'))).rejects.toThrow(message);
      await expect(database.transaction(() => database.transaction(async () => {}))).rejects.toThrow(message);
      await expect(database.transaction(() => database.notify('things', ''))).rejects.toThrow(message);
      await expect(database.transaction(() => database.close())).rejects.toThrow(message);
      expect(await database.query('select 1 as n')).toEqual([{ n: 1 }]);
    });

    it('leaves what its work started free to use the database afterwards', async () => {
      const later = Promise.withResolvers<void>();
      let started: Promise<unknown> = Promise.resolve();
      await database.transaction(async () => {
        started = later.promise.then(() => database.query('select 1 as n'));
      });
      later.resolve();
      expect(await started).toEqual([{ n: 1 }]);
    });

    it('is isolated: nobody sees half of it, and guarded updates by many lose nothing', async () => {
      await database.query('insert into things (id, amount) values (1, 0), (2, 0)');
      const transfer = () =>
        database.transaction(async (tx) => {
          await tx.query('update things set amount = amount - 1 where id = 1');
          await new Promise(setImmediate);
          await tx.query('update things set amount = amount + 1 where id = 2');
        });
      const total = () => database.query('select sum(amount) as total from things');
      const results = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? transfer() : total())));
      for (const result of results) if (result) expect(result).toEqual([{ total: 0 }]);
      expect(await database.query('select amount from things order by id')).toEqual([
        { amount: -25 },
        { amount: 25 },
      ]);
    });

    it('takes statements side by side', async () => {
      await database.transaction((tx) => Promise.all([1, 2, 3].map((id) => insert(tx, id, `t${id}`))));
      expect(await names()).toEqual(['t1', 't2', 't3']);
    });

    it('checks foreign keys that are deferred at its end, and undoes all', async () => {
      await database.script(
        'create table later (id integer primary key, thing integer references things (id) deferrable initially deferred)',
      );
      const run = database.transaction((tx) => tx.query('insert into later values (1, 99)'));
      await expect(run).rejects.toMatchObject({ constraint: 'foreign_key' });
      expect(await database.query('select * from later')).toEqual([]);
      await database.script('drop table later');
    });

    it('that asks nothing for too long is rolled back', async () => {
      const own = await createTestDatabase({ dialect, transactionIdleMs: 30 });
      try {
        await own.database.script('create table t (id integer)');
        const stuck = own.database.transaction(async (tx) => {
          await tx.query('insert into t values (1)');
          await new Promise(() => {});
        });
        await expect(stuck).rejects.toThrow('asked nothing for 30 ms');
        expect(await own.database.query('select * from t')).toEqual([]);
      } finally {
        await own.close();
      }
    });
  });

  describe('notifications', () => {
    /** Collects, and waits for the one that was sent last. */
    async function hear(channel: string, send: () => Promise<unknown>): Promise<string[]> {
      const heard: string[] = [];
      const end = `end ${Math.random()}`;
      const last = Promise.withResolvers<void>();
      const stop = await database.listen(
        channel,
        (payload) => (payload === end ? last.resolve() : heard.push(payload)),
        () => {},
      );
      await send();
      await database.notify(channel, end);
      await last.promise;
      await stop();
      return heard;
    }

    it('reach every listener of their channel, in order', async () => {
      const heard = await hear('keys', async () => {
        const inner = await hear('keys', () => database.notify('keys', 'é 1'));
        expect(inner).toEqual(['é 1']);
        await database.notify('others', 'not for us');
        await database.notify('keys', '2');
      });
      expect(heard).toEqual(['é 1', expect.stringMatching(/^end/), '2']);
    });

    it('are sent when their transaction commits, not before', async () => {
      const order: string[] = [];
      const arrived = Promise.withResolvers<void>();
      const stop = await database.listen(
        'keys',
        (payload) => {
          order.push(payload);
          arrived.resolve();
        },
        () => {},
      );
      await database.transaction(async (tx) => {
        await tx.notify('keys', 'heard');
        await insert(tx, 1, 'a');
        await new Promise(setImmediate);
        order.push('committing');
      });
      await arrived.promise;
      await stop();
      expect(order).toEqual(['committing', 'heard']);
    });

    it('of a transaction that is rolled back are dropped', async () => {
      const heard = await hear('keys', () =>
        database
          .transaction(async (tx) => {
            await tx.notify('keys', 'never');
            throw new Error('no');
          })
          .catch(() => {}),
      );
      expect(heard).toEqual([]);
    });

    it('are not heard after the listener has stopped', async () => {
      const heard: string[] = [];
      const stop = await database.listen(
        'keys',
        (payload) => heard.push(payload),
        () => {},
      );
      await stop();
      await stop();
      expect(await hear('keys', () => database.notify('keys', 'late'))).toEqual(['late']);
      expect(heard).toEqual([]);
    });

    it('are refused when they are too long', async () => {
      await expect(database.notify('keys', 'x'.repeat(8_000))).rejects.toThrow('8,000 bytes');
    });
  });

  it('answers everything that was asked before it closes, and nothing after', async () => {
    const own = await createTestDatabase({ dialect });
    await own.database.script('create table t (id integer)');
    const asked = [
      own.database.query('insert into t values (1) returning id'),
      own.database.transaction(async (tx) => {
        await new Promise(setImmediate);
        return tx.query('insert into t values (2) returning id');
      }),
      own.database.query('insert into t values (3) returning id'),
    ];
    const closed = Promise.all([own.database.close(), own.database.close()]);
    await expect(own.database.query('select 1')).rejects.toThrow(StoreUnavailable);
    expect(await Promise.all(asked)).toEqual([[{ id: 1 }], [{ id: 2 }], [{ id: 3 }]]);
    await closed;
    await own.close();
  });
});
