/** A process of its own on a data folder: takes it, then writes rows and reports each one that was acknowledged. */
import { openSqlite } from '../../src/storage/sqlite.ts';

const [folder, rows] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: sqlite-child.ts <folder> [rows]');
const database = await openSqlite({ folder });
process.stdout.write('open\n');
await database.query('create table if not exists acknowledged (id integer primary key, body text not null)');
const body = 'x'.repeat(200);
for (let id = 1; id <= Number(rows ?? 0); id++) {
  // Every tenth goes through a transaction of two statements.
  if (id % 10 === 0) {
    await database.transaction(async (tx) => {
      await tx.query('insert into acknowledged values ($1, $2)', [id, 'half']);
      await tx.query('update acknowledged set body = $2 where id = $1', [id, body]);
    });
  } else {
    await database.query('insert into acknowledged values ($1, $2)', [id, body]);
  }
  process.stdout.write(`${id}\n`);
}
