/** A database of its own for a test: SQLite in a temporary folder, or a fresh schema on the PostgreSQL of DATABASE_URL. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../src/storage/database.ts';
import { openPostgres } from '../../src/storage/postgres.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';

export interface TestDatabase {
  database: Database;
  /** Leads to the same schema; absent on SQLite. */
  databaseUrl?: string;
  /** A temporary folder in any case. On SQLite it holds the database. */
  folder: string;
  close(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** Without it, PostgreSQL when DATABASE_URL is set. */
  dialect?: Database['dialect'];
  transactionIdleMs?: number;
}

export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { dialect = process.env.DATABASE_URL ? 'postgres' : 'sqlite', ...rest } = options;
  const folder = await mkdtemp(join(tmpdir(), 'roundhouse-test-'));
  if (dialect === 'sqlite') {
    const database = await openSqlite({ folder, ...rest });
    return {
      database,
      folder,
      async close() {
        await database.close();
        await rm(folder, { recursive: true });
      },
    };
  }
  const schema = await createTestSchema();
  const database = await openPostgres({ url: schema.url, ...rest });
  return {
    database,
    databaseUrl: schema.url,
    folder,
    async close() {
      await database.close();
      await schema.drop();
      await rm(folder, { recursive: true });
    },
  };
}

/** A schema that the connection options of `url` select, so that the tests of one server do not meet. */
export async function createTestSchema(): Promise<{ url: string; drop(): Promise<void> }> {
  const server = process.env.DATABASE_URL;
  if (!server) throw new Error('DATABASE_URL is not set');
  const schema = `test_${randomBytes(6).toString('hex')}`;
  await runOnServer(server, `create schema ${schema}`);
  const url = new URL(server);
  url.searchParams.set('options', `-csearch_path=${schema}`);
  return { url: url.href, drop: () => runOnServer(server, `drop schema ${schema} cascade`) };
}

async function runOnServer(url: string, script: string): Promise<void> {
  const admin = await openPostgres({ url });
  try {
    await admin.script(script);
  } finally {
    await admin.close();
  }
}

/** Where a whole gateway can keep its state: a temporary folder, and a schema of its own on PostgreSQL. */
export async function createTestPlace(): Promise<{
  folder: string;
  env: Record<string, string>;
  close(): Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), 'roundhouse-test-'));
  const schema = process.env['DATABASE_URL'] ? await createTestSchema() : undefined;
  return {
    folder,
    env: schema === undefined ? {} : { DATABASE_URL: schema.url },
    async close() {
      await schema?.drop();
      await rm(folder, { recursive: true });
    },
  };
}
