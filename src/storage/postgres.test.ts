import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { createLog } from '../lib/log.ts';
import { QueryFailed, type Sql, StoreUnavailable } from './database.ts';
import { openPostgres } from './postgres.ts';

/** A port on which nobody listens. */
async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('PostgreSQL that cannot be reached', () => {
  it('is StoreUnavailable, without the password', async () => {
    const port = await unusedPort();
    const error = await openPostgres({ url: `postgres://user:secret@127.0.0.1:${port}/db` }).catch(
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error.message).toContain('ECONNREFUSED');
    expect(error.message).not.toContain('secret');
  });

  it('is StoreUnavailable when it accepts and stays silent', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const url = `postgres://user@127.0.0.1:${port}/db`;
    await expect(openPostgres({ url, connectTimeoutMs: 50 })).rejects.toThrow(StoreUnavailable);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe.skipIf(!process.env.DATABASE_URL)('PostgreSQL', () => {
  const server = process.env.DATABASE_URL ?? '';
  const pidOf = async (sql: { query<R>(text: string): Promise<R[]> }) =>
    (await sql.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid ?? 0;

  it('is StoreUnavailable when the database does not exist, and an error when the schema does not', async () => {
    const missing = new URL(server);
    missing.pathname = '/no_such_database';
    await expect(openPostgres({ url: missing.href })).rejects.toThrow(StoreUnavailable);
    const schemaless = new URL(server);
    schemaless.searchParams.set('options', '-csearch_path=no_such_schema');
    await expect(openPostgres({ url: schemaless.href })).rejects.toThrow('names no schema');
  });

  it('goes by the settings of a transaction until it ends, and keeps the connection when one is refused', async () => {
    const test = await createTestDatabase({ dialect: 'postgres' });
    try {
      const { database } = test;
      const show = async (sql: Sql) =>
        (await sql.query<{ value: string }>(`select current_setting('enable_sort') as value`))[0]?.value;
      const before = await pidOf(database);
      const settings = { enable_sort: 'off', work_mem: 1_024 };
      expect(await database.transaction(show, { settings })).toBe('off');
      expect(await show(database)).toBe('on');
      const refused = database.transaction(show, { settings: { enable_sort: 'off', work_mem: 'much' } });
      await expect(refused).rejects.toThrow(QueryFailed);
      expect(await show(database)).toBe('on');
      expect(await pidOf(database)).toBe(before);
      const crafted = database.transaction(show, { settings: { enable_sort: 'off; drop table things' } });
      await expect(crafted).rejects.toThrow('not a plain setting');
      expect(await pidOf(database)).toBe(before);
    } finally {
      await test.close();
    }
  });

  it('keeps a connection that refused a statement, and replaces one that was terminated', async () => {
    const test = await createTestDatabase({ dialect: 'postgres' });
    const admin = await openPostgres({ url: server });
    try {
      const { database } = test;
      const before = await pidOf(database);
      await expect(database.query('select nothing')).rejects.toThrow('nothing');
      expect(await pidOf(database)).toBe(before);

      const lost = database.transaction(async (tx) => {
        await admin.query('select pg_terminate_backend($1)', [await pidOf(tx)]);
        await tx.query('select 1');
      });
      await expect(lost).rejects.toThrow(StoreUnavailable);
      expect(await pidOf(database)).not.toBe(before);
    } finally {
      await admin.close();
      await test.close();
    }
  });

  it('survives idle connections that are terminated', async () => {
    const warnings: string[] = [];
    const warned = Promise.withResolvers<void>();
    const log = createLog('warn', {
      write: (line) => {
        warnings.push(line);
        warned.resolve();
      },
    });
    const url = new URL(server);
    url.password = 'not-for-the-log';
    const database = await openPostgres({ url: url.href, log });
    const admin = await openPostgres({ url: server });
    await admin.query('select pg_terminate_backend($1)', [await pidOf(database)]);
    await warned.promise;
    expect(warnings.join()).toContain('lost a connection to PostgreSQL');
    expect(warnings.join()).not.toContain('not-for-the-log');
    expect(await database.query('select 1 as n')).toEqual([{ n: 1 }]);
    await database.close();
    await admin.close();
  });

  it('waits for a free connection instead of failing, and transactions do not starve queries', async () => {
    const database = await openPostgres({ url: server, maxConnections: 2 });
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        n % 2
          ? database.query('select 1 as n')
          : database.transaction(async (tx) => {
              await new Promise(setImmediate);
              return tx.query('select 1 as n');
            }),
      ),
    );
    expect(results).toEqual(Array.from({ length: 40 }, () => [{ n: 1 }]));
    await database.close();
  });

  it('listens on after its connection was terminated, and tells of the gap when it is lost and when it is back', async () => {
    const test = await createTestDatabase({ dialect: 'postgres' });
    const admin = await openPostgres({ url: server });
    try {
      const { database } = test;
      let onEvent = (_event: string) => {};
      const next = () =>
        new Promise<string>((resolve) => {
          onEvent = resolve;
        });
      const stop = await database.listen(
        'keys',
        (payload) => onEvent(payload),
        () => onEvent('gap'),
      );
      let event = next();
      await database.notify('keys', 'before');
      expect(await event).toBe('before');

      event = next();
      const [killed] = await admin.query<{ n: number }>(
        `select count(pg_terminate_backend(pid)) as n from pg_stat_activity where query = (
           select 'listen "' || nspname || '.keys"' from pg_namespace where nspname = $1)`,
        [(await database.query<{ schema: string }>('select current_schema() as schema'))[0]?.schema ?? ''],
      );
      expect(killed?.n).toBe(1);
      expect(await event).toBe('gap');
      expect(await next()).toBe('gap');

      event = next();
      await database.notify('keys', 'after');
      expect(await event).toBe('after');
      await stop();
    } finally {
      await admin.close();
      await test.close();
    }
  });

  it('does not hear the notifications of another schema', async () => {
    const [ours, theirs] = await Promise.all([
      createTestDatabase({ dialect: 'postgres' }),
      createTestDatabase({ dialect: 'postgres' }),
    ]);
    try {
      const heard: string[] = [];
      const last = Promise.withResolvers<void>();
      await ours.database.listen(
        'keys',
        (payload) => {
          heard.push(payload);
          last.resolve();
        },
        () => {},
      );
      await theirs.database.notify('keys', 'theirs');
      await ours.database.notify('keys', 'ours');
      await last.promise;
      expect(heard).toEqual(['ours']);
    } finally {
      await ours.close();
      await theirs.close();
    }
  });
});
