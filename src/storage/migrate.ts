/**
 * Brings the tables up to date: numbered files, run in order and once, each in a transaction of its own.
 * Append-only: what was applied is never changed, and every start checks that by a hash.
 *
 * `0007-jobs.sql` serves both databases; where they differ there is `0007-jobs.sqlite.sql` beside
 * `0007-jobs.postgres.sql`.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../lib/log.ts';
import type { Database, Sql } from './database.ts';
import { type Dialect, migrationLock } from './dialect.ts';

export interface Migration {
  number: number;
  name: string;
  file: string;
  text: string;
  sha256: string;
}

interface Applied {
  number: number;
  name: string;
  sha256: string;
}

/** Answers the files that were applied now. */
export async function migrate(database: Database, options: { folder: string; log?: Log }): Promise<string[]> {
  const { folder, log } = options;
  const migrations = await readMigrations(folder, database.dialect);
  const done: string[] = [];
  for (;;) {
    // What is applied is read again under the lock each time: another process may be at the same work.
    const applied = await database.transaction((tx) => applyNext(tx, database.dialect, migrations));
    if (applied === undefined) return done;
    log?.info({ migration: applied.file }, 'migrated the database');
    done.push(applied.file);
  }
}

async function applyNext(
  tx: Sql,
  dialect: Dialect,
  migrations: readonly Migration[],
): Promise<Migration | undefined> {
  const lock = migrationLock[dialect];
  // As a script, because that may wait for as long as the other process migrates.
  if (lock !== undefined) await tx.script(lock);
  await tx.script(`create table if not exists migrations (
    number integer primary key, name text not null, sha256 text not null, applied_at bigint not null)`);
  const applied = await tx.query<Applied>('select number, name, sha256 from migrations order by number');
  checkApplied(applied, migrations);
  const next = migrations[applied.length];
  if (next === undefined) return undefined;
  try {
    await tx.script(next.text);
  } catch (error) {
    throw new Error(`migration ${next.file} failed: ${(error as Error).message}`, { cause: error });
  }
  await tx.query('insert into migrations (number, name, sha256, applied_at) values ($1, $2, $3, $4)', [
    next.number,
    next.name,
    next.sha256,
    Date.now(),
  ]);
  return next;
}

function checkApplied(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const [index, { number, name, sha256 }] of applied.entries()) {
    if (number !== index + 1) throw new Error(`the database has migration ${number} but not ${index + 1}`);
    const known = migrations[index];
    if (known === undefined) {
      throw new Error(
        `the database is newer than this version of Roundhouse: it has migration ${number} (${name}), ` +
          `and ${migrations.length} is the last one known here`,
      );
    }
    if (known.sha256 !== sha256) {
      throw new Error(`migration ${known.file} was changed after it was applied: add a new one instead`);
    }
  }
}

const fileName = /^(\d{4})-([a-z0-9-]+)(?:\.(sqlite|postgres))?\.sql$/;

export async function readMigrations(folder: string, dialect: Dialect): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  const migrations: Migration[] = [];
  for (const file of files) {
    const [, digits, name, only] = fileName.exec(file) ?? [];
    if (digits === undefined || name === undefined) {
      throw new Error(`migration ${file} is not named like 0007-jobs.sql or 0007-jobs.sqlite.sql`);
    }
    if (only !== undefined && only !== dialect) continue;
    const number = Number(digits);
    const previous = migrations.at(-1);
    if (number === previous?.number)
      throw new Error(`migrations ${previous.file} and ${file} have the same number`);
    const expected = migrations.length + 1;
    if (number !== expected) {
      throw new Error(
        `migration ${String(expected).padStart(4, '0')} is missing for ${dialect}: ${file} follows too early`,
      );
    }
    // A checkout that turned the line ends does not count as a change.
    const text = (await readFile(join(folder, file), 'utf8')).replaceAll('\r\n', '\n');
    migrations.push({ number, name, file, text, sha256: createHash('sha256').update(text).digest('hex') });
  }
  return migrations;
}
