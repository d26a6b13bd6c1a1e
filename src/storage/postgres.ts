/**
 * PostgreSQL behind the one interface. A connection that fails, also while the server restarts, becomes
 * StoreUnavailable and is replaced by the pool; no statement is sent twice. A commit whose answer was lost is
 * StoreUnavailable as well, though it may have happened.
 */
import { readFile } from 'node:fs/promises';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import type { Log } from '../lib/log.ts';
import {
  type Database,
  QueryFailed,
  type Sql,
  type SqlValue,
  StoreUnavailable,
  type TransactionOptions,
} from './database.ts';
import { isPostgresUnavailable, toPostgresBegin, toPostgresConstraint } from './dialect.ts';
import { createPostgresListener, toReason } from './postgres-listener.ts';
import { parseFileRows } from './row-file.ts';
import { checkNotification, toBoundValues } from './statement.ts';
import { createTransactions, createTurns, type OpenTransaction } from './transaction.ts';

export interface PostgresOptions {
  url: string;
  log?: Log;
  maxConnections?: number;
  connectTimeoutMs?: number;
  /** How long a transaction may ask nothing before it is rolled back. */
  transactionIdleMs?: number;
}

/** For a query; a script (a migration) may take as long as it must. */
const queryTimeoutMs = 30_000;
const longestTimeoutMs = 2 ** 31 - 1;

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, log, maxConnections = 10, connectTimeoutMs = 5_000 } = options;
  const { Pool, Client, types } = await import('pg');
  const config = {
    connectionString: url,
    application_name: 'roundhouse',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') => {
        const parse = types.getTypeParser(oid, format);
        return oid === byteaOid ? (text: string) => new Uint8Array(parse(text)) : (parsers[oid] ?? parse);
      },
    },
  };
  const pool = new Pool({ ...config, max: maxConnections });
  // Without listeners a lost connection, idle or in use, would end the process. The query in flight tells its caller.
  // Only the reason is logged: the error carries the client, and that the password.
  pool.on('error', (error) => log?.warn({ reason: toReason(error) }, 'lost a connection to PostgreSQL'));
  pool.on('connect', (client) => client.on('error', () => {}));

  const transactions = createTransactions(
    options.transactionIdleMs === undefined ? {} : { idleMs: options.transactionIdleMs },
  );
  const inUse = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  /** Lends a connection of the pool. One that failed is thrown away; a refused statement does not harm it. */
  async function withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((error) => {
      throw new StoreUnavailable(`PostgreSQL cannot be reached: ${toReason(error)}`, { cause: error });
    });
    let broken = false;
    try {
      return await work(client);
    } catch (error) {
      broken = error instanceof StoreUnavailable;
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Counts what runs, so that `close` can wait for it: the pool would leave its waiters waiting for ever. */
  async function use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (closing !== undefined) throw new StoreUnavailable('the database is closed');
    transactions.checkOutside();
    const running = withClient(work);
    inUse.add(running);
    try {
      return await running;
    } finally {
      inUse.delete(running);
    }
  }

  const schema = await use(async (client) => {
    const [row] = await ask<{ schema: string | null }>(client, 'select current_schema() as schema');
    return row?.schema;
  }).catch(async (error) => {
    await pool.end();
    throw error;
  });
  if (schema === null || schema === undefined) {
    await pool.end();
    throw new Error('the search_path of DATABASE_URL names no schema that exists');
  }
  // Notifications are heard in the whole database: those of another schema are not ours.
  const toChannel = (channel: string) => `${schema}.${channel}`;
  const listener = createPostgresListener({ createClient: () => new Client(config), log });

  function createSql(client: PoolClient): Sql {
    return {
      query: (text, values) => ask(client, text, values),
      each: (text, lists) => askEach(client, text, lists),
      eachJson: (text, lists) => askEach(client, text, lists.map(parseList)),
      script: (text) => askScript(client, text),
      notify: async (channel, payload) => {
        checkNotification(channel, payload);
        await ask(client, 'select pg_notify($1, $2)', [toChannel(channel), payload]);
      },
    };
  }

  function transaction<T>(work: (tx: Sql) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return use(async (client) => {
      const open = openTransaction(client, createSql(client));
      try {
        await begin(client, options);
      } catch (error) {
        // A setting was refused after it had begun.
        if (error instanceof QueryFailed) await open.rollback();
        throw error;
      }
      return await transactions.run(open, work);
    });
  }

  return {
    dialect: 'postgres',
    source: { url },
    query: (text, values) => use((client) => ask(client, text, values)),
    each: (text, lists, options) => transaction((tx) => tx.each(text, lists), options),
    eachJson: (text, lists) => transaction((tx) => tx.eachJson(text, lists)),
    async eachOfFile(text, path, options) {
      const { rows, unread } = parseFileRows(await readFile(path));
      const changes = await transaction((tx) => tx.each(text, rows), options);
      return { changed: changes.reduce((sum, one) => sum + one, 0), unread };
    },
    script: (text) => use((client) => askScript(client, text)),
    notify: (channel, payload) => use((client) => createSql(client).notify(channel, payload)),
    transaction,
    async listen(channel, onMessage, onGap) {
      checkNotification(channel, '');
      return listener.add(toChannel(channel), onMessage, onGap);
    },
    async close() {
      transactions.checkOutside();
      closing ??= (async () => {
        await listener.close();
        while (inUse.size > 0) await Promise.allSettled(inUse);
        await pool.end();
      })();
      await closing;
    },
  };
}

/** A connection takes one statement at a time (pg 9 will refuse a second): those of a transaction form a line. */
function openTransaction(client: PoolClient, sql: Sql): OpenTransaction {
  const take = createTurns();
  let broken = false;
  async function inTurn<T>(start: () => Promise<T>): Promise<T> {
    try {
      return await take(start);
    } catch (error) {
      broken ||= error instanceof StoreUnavailable;
      throw error;
    }
  }
  return {
    query: (text, values) => inTurn(() => sql.query(text, values)),
    each: (text, lists) => inTurn(() => sql.each(text, lists)),
    eachJson: (text, lists) => inTurn(() => sql.eachJson(text, lists)),
    script: (text) => inTurn(() => sql.script(text)),
    notify: (channel, payload) => inTurn(() => sql.notify(channel, payload)),
    commit: () => inTurn(async () => void (await ask(client, 'commit'))),
    async rollback() {
      // A server that did not answer the last statement would not answer this one: ending it is the rollback.
      const refused =
        broken ||
        (await inTurn(() => ask(client, 'rollback')).then(
          () => false,
          () => true,
        ));
      if (refused) await client.end().catch(() => {});
    },
  };
}

async function ask<R>(client: PoolClient, text: string, values: readonly SqlValue[] = []): Promise<R[]> {
  return (await askResult(client, text, values)).rows as R[];
}

async function begin(client: PoolClient, options: TransactionOptions | undefined): Promise<void> {
  const text = toPostgresBegin(options);
  try {
    await client.query(text);
  } catch (error) {
    throw toStorageError(error, text);
  }
}

async function askResult(
  client: PoolClient,
  text: string,
  values: readonly SqlValue[],
): Promise<QueryResult> {
  // Extended also without values, so that several statements are refused as on SQLite.
  const config: QueryConfig & { queryMode: 'extended' } = {
    text,
    values: toBoundValues(values),
    queryMode: 'extended',
  };
  try {
    return await client.query(config);
  } catch (error) {
    throw toStorageError(error, text);
  }
}

function parseList(json: string): SqlValue[] {
  return JSON.parse(json) as SqlValue[];
}

async function askEach(
  client: PoolClient,
  text: string,
  lists: readonly (readonly SqlValue[])[],
): Promise<number[]> {
  const changed: number[] = [];
  for (const values of lists) changed.push((await askResult(client, text, values)).rowCount ?? 0);
  return changed;
}

async function askScript(client: PoolClient, text: string): Promise<void> {
  const config: QueryConfig & { query_timeout: number } = { text, query_timeout: longestTimeoutMs };
  try {
    await client.query(config);
  } catch (error) {
    throw toStorageError(error, text);
  }
}

/** The server's `detail` is left out: it quotes the row. */
function toStorageError(error: unknown, text: string): Error {
  const { message, code, severity } = error as Error & { code?: string; severity?: string };
  if (error instanceof RangeError || error instanceof TypeError) return new QueryFailed(message, text);
  const refused = severity === 'ERROR' && code !== undefined && !isPostgresUnavailable(code);
  if (refused) return new QueryFailed(message, text, toPostgresConstraint(code));
  return new StoreUnavailable(`PostgreSQL: ${toReason(error)}`, { cause: error });
}

const byteaOid = 17;

/** By type number (pg_type.oid): what SQLite would answer. */
const parsers: Record<number, (text: string) => unknown> = {
  16: (text) => (text === 't' ? 1 : 0), // bool
  20: toNumber, // int8
  1700: toNumber, // numeric, which is what sum() of int8 gives
};

function toNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError(`the value ${text} does not fit a number: select it with cast(… as text)`);
  }
  return value;
}
