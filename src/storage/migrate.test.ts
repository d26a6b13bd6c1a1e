/** Migrations on SQLite, and on PostgreSQL when DATABASE_URL is set. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { openPostgres } from './postgres.ts';

const dialects = process.env.DATABASE_URL ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const);

describe.each(dialects)('migrations: %s', (dialect) => {
  let test: TestDatabase;
  let database: Database;
  let folder: string;

  beforeEach(async () => {
    test = await createTestDatabase({ dialect });
    database = test.database;
    folder = join(test.folder, 'migrations');
    await mkdir(folder);
    await write(
      '0001-first.sql',
      `create table a (id integer primary key); -- it's fine; really\ninsert into a values (1);`,
    );
    await write('0002-second.sql', `create table b (name text);\ninsert into b values ('one; two');`);
  });
  afterEach(() => test.close());

  const write = (file: string, text: string) => writeFile(join(folder, file), text);
  const run = (on = database) => migrate(on, { folder });
  const applied = async () =>
    (await database.query<{ number: number }>('select number from migrations order by number')).map(
      (row) => row.number,
    );

  it('run in order and once', async () => {
    const started = Date.now();
    expect(await run()).toEqual(['0001-first.sql', '0002-second.sql']);
    expect(await run()).toEqual([]);
    await write('0003-third.sql', 'alter table a add column size integer');
    expect(await run()).toEqual(['0003-third.sql']);
    expect(await database.query('select id, size from a')).toEqual([{ id: 1, size: null }]);
    expect(await database.query('select name from b')).toEqual([{ name: 'one; two' }]);
    const [row] = await database.query<{ name: string; sha256: string; applied_at: number }>(
      'select name, sha256, applied_at from migrations where number = 1',
    );
    expect(row?.name).toBe('first');
    expect(row?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(row?.applied_at).toBeGreaterThanOrEqual(started);
  });

  it('choose the file of their dialect', async () => {
    await write('0003-own.sqlite.sql', `insert into b values ('sqlite')`);
    await write('0003-own.postgres.sql', `insert into b values ('postgres')`);
    expect(await run()).toContain(`0003-own.${dialect}.sql`);
    expect(await database.query(`select name from b where name <> 'one; two'`)).toEqual([{ name: dialect }]);
  });

  it('apply a file whole or not at all', async () => {
    await write(
      '0002-second.sql',
      'create table c (id integer); insert into c values (1); insert into nothing values (1)',
    );
    await expect(run()).rejects.toThrow(/^migration 0002-second.sql failed: .*nothing/);
    expect(await applied()).toEqual([1]);
    await expect(database.query('select * from c')).rejects.toThrow();
    await write('0002-second.sql', 'create table c (id integer)');
    expect(await run()).toEqual(['0002-second.sql']);
  });

  it('refuse an applied file whose text has changed, but not its line ends', async () => {
    await run();
    await write('0002-second.sql', `create table b (name text);\r\ninsert into b values ('one; two');`);
    await run();
    await write('0002-second.sql', 'create table b (name text, more text);');
    await expect(run()).rejects.toThrow('0002-second.sql was changed after it was applied');
  });

  it('refuse a gap', async () => {
    await write('0004-fourth.sql', 'select 1');
    await expect(run()).rejects.toThrow('migration 0003 is missing');
    await expect(database.query('select * from a')).rejects.toThrow(); // nothing was touched
  });

  it('refuse a file that only the other dialect has', async () => {
    await write(`0003-own.${dialect === 'sqlite' ? 'postgres' : 'sqlite'}.sql`, 'select 1');
    await write('0004-fourth.sql', 'select 1');
    await expect(run()).rejects.toThrow(`0003 is missing for ${dialect}`);
  });

  it('refuse a number that stands twice', async () => {
    await write('0002-again.sql', 'select 1');
    await expect(run()).rejects.toThrow('0002-again.sql and 0002-second.sql have the same number');
  });

  it('refuse a name they cannot read', async () => {
    await write('3-third.sql', 'select 1');
    await expect(run()).rejects.toThrow('3-third.sql is not named like');
  });

  it('refuse a database that is newer than the code', async () => {
    await run();
    await rm(join(folder, '0002-second.sql'));
    await expect(run()).rejects.toThrow(
      'newer than this version of Roundhouse: it has migration 2 (second), and 1 is the last',
    );
  });

  it('started twice at once run each file once', async () => {
    const other = test.databaseUrl === undefined ? database : await openPostgres({ url: test.databaseUrl });
    const pause = dialect === 'postgres' ? 'select pg_sleep(0.1);' : '';
    await write('0003-third.sql', `${pause} insert into a values (2)`);
    const [first, second] = await Promise.all([run(database), run(other)]);
    expect([...first, ...second].sort()).toEqual(['0001-first.sql', '0002-second.sql', '0003-third.sql']);
    expect(await applied()).toEqual([1, 2, 3]);
    if (other !== database) await other.close();
  });
});
