/** PostgreSQL with pgvector inside the test's own process, behind the database's interface: for the statements of pgvector. */
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { type Database, QueryFailed, type Sql, type SqlValue } from '../../src/storage/database.ts';
import { toPostgresBegin } from '../../src/storage/dialect.ts';
import { toBoundValues } from '../../src/storage/statement.ts';
import { createTransactions, createTurns } from '../../src/storage/transaction.ts';

interface Connection {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; affectedRows?: number }>;
  exec(text: string): Promise<unknown>;
}

export async function createPgliteDatabase(): Promise<Database> {
  const pglite = await PGlite.create({
    extensions: { vector },
    parsers: { 16: (text) => (text === 't' ? 1 : 0), 20: Number, 1700: Number },
  });
  // Bytes are a vector's binary form, as `pg` sends them.
  await pglite.exec('create extension vector');
  const { rows } = await pglite.query<{ oid: number }>(`select 'vector'::regtype::oid as oid`);
  for (const { oid } of rows) pglite.serializers[oid] = (bytes) => bytes;
  // One connection: transactions and single statements form a line.
  const take = createTurns();
  const transactions = createTransactions();

  function createSql(connection: Connection): Sql {
    const ask = async (text: string, values: readonly SqlValue[] = []) => {
      try {
        return await connection.query(text, toBoundValues(values));
      } catch (error) {
        throw new QueryFailed((error as Error).message, text);
      }
    };
    const each: Sql['each'] = async (text, lists) => {
      const changed: number[] = [];
      for (const values of lists) changed.push((await ask(text, values)).affectedRows ?? 0);
      return changed;
    };
    return {
      query: async <R>(text: string, values?: readonly SqlValue[]) => (await ask(text, values)).rows as R[],
      each,
      eachJson: (text, lists) =>
        each(
          text,
          lists.map((list) => JSON.parse(list) as SqlValue[]),
        ),
      script: async (text) => void (await connection.exec(text)),
      notify: async () => {},
    };
  }

  const alone = createSql(pglite);
  function outside<T>(work: () => Promise<T>): Promise<T> {
    transactions.checkOutside();
    return take(work);
  }

  return {
    dialect: 'postgres',
    source: { url: '' },
    query: (text, values) => outside(() => alone.query(text, values)),
    each: (text, lists) => outside(() => alone.each(text, lists)),
    eachJson: (text, lists) => outside(() => alone.eachJson(text, lists)),
    eachOfFile: () => Promise.reject(new Error('is not asked for in the tests that run here')),
    script: (text) => outside(() => alone.script(text)),
    notify: async () => {},
    transaction: (work, options) =>
      outside(async () => {
        await pglite.exec(toPostgresBegin(options));
        return transactions.run(
          {
            ...alone,
            commit: async () => void (await pglite.exec('commit')),
            rollback: async () => void (await pglite.exec('rollback').catch(() => {})),
          },
          work,
        );
      }),
    listen: async () => async () => {},
    close: () => pglite.close(),
  };
}
