import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { createSqliteReader, type SqliteReader } from './sqlite-reader.ts';

let place: TestDatabase;
let reader: SqliteReader;
beforeAll(async () => {
  place = await createTestDatabase({ dialect: 'sqlite' });
  await place.database.script('create table stops (id integer primary key, name text not null)');
  reader = createSqliteReader({ folder: place.folder });
});
afterAll(async () => {
  await reader.close();
  await place.close();
});

/** Some 100 ms of work. */
const long = `with recursive n (i) as (select 1 union all select i + 1 from n where i < 400000) select count(*) as count from n`;

describe('a reader', () => {
  test('sees what is committed, and nothing of what is not', async () => {
    await place.database.query('insert into stops (name) values ($1)', ['York']);
    expect(await reader.query('select name from stops')).toEqual([{ name: 'York' }]);
    await place.database.transaction(async (tx) => {
      await tx.query('insert into stops (name) values ($1)', ['Durham']);
      expect(await reader.query('select count(*) as count from stops')).toEqual([{ count: 1 }]);
    });
    expect(await reader.query('select name from stops where name = $1', ['Durham'])).toHaveLength(1);
  });

  test('cannot write', async () => {
    await expect(reader.query(`insert into stops (name) values ('Leeds')`)).rejects.toThrow('readonly');
  });

  test('compares vectors', async () => {
    const [one, other] = [
      new Uint8Array(Float32Array.of(0, 3).buffer),
      new Uint8Array(Float32Array.of(4, 0).buffer),
    ];
    expect(await reader.query('select vec_distance_l2($1, $2) as distance', [one, other])).toEqual([
      { distance: 5 },
    ]);
  });

  test('holds up nobody who asks the database itself', async () => {
    const order: string[] = [];
    const slow = reader.query(long).then(() => order.push('long'));
    await place.database.query('select 1 as one').then(() => order.push('short'));
    await slow;
    expect(order).toEqual(['short', 'long']);
  });

  test('answers nothing after it was closed, and needs no thread before it is asked', async () => {
    const unused = createSqliteReader({ folder: place.folder });
    await unused.close();
    await expect(unused.query('select 1 as one')).rejects.toThrow('closed');
  });
});
