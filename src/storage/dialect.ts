/** The few places where SQLite and PostgreSQL differ. Everything else is one text for both. */
import assert from 'node:assert';
import type { Constraint, Database, TransactionOptions } from './database.ts';

export type Dialect = Database['dialect'];

/** SQLite's extended result codes of refused rows (sqlite.org/rescode.html). */
const sqliteConstraints: Record<number, Constraint> = {
  275: 'check',
  787: 'foreign_key',
  1299: 'not_null',
  1555: 'unique', // primary key
  2067: 'unique',
  2579: 'unique', // rowid
};

/** PostgreSQL's SQLSTATEs of class 23. */
const postgresConstraints: Record<string, Constraint> = {
  '23502': 'not_null',
  '23503': 'foreign_key',
  '23505': 'unique',
  '23514': 'check',
};

export function toSqliteConstraint(resultCode: number): Constraint | undefined {
  return sqliteConstraints[resultCode];
}

export function toPostgresConstraint(sqlState: string): Constraint | undefined {
  return postgresConstraints[sqlState];
}

/** SQLite's primary result codes that say nothing about the data: busy, locked, no memory, I/O, full, cannot open. */
export function isSqliteUnavailable(resultCode: number): boolean {
  return [5, 6, 7, 10, 13, 14].includes(resultCode & 0xff);
}

/**
 * Class 08 is a lost connection (except 08P01, a wrong number of parameters), 53 a server without resources,
 * 57 one that shuts down, starts up or cancels, 25006 one that has become a standby.
 */
export function isPostgresUnavailable(sqlState: string): boolean {
  if (sqlState === '08P01') return false;
  return sqlState === '25006' || ['08', '53', '57'].includes(sqlState.slice(0, 2));
}

/**
 * Held until the transaction ends, so that of two processes that start at once one migrates and the other
 * waits. On SQLite every transaction is alone already. Schemas of one database do not wait for each other.
 */
export const migrationLock: Record<Dialect, string | undefined> = {
  sqlite: undefined,
  postgres: `select pg_advisory_xact_lock(hashtext('roundhouse migrations'), hashtext(current_schema()))`,
};

/**
 * Ends a subquery that picks a row to update: one that another transaction is changing is passed over instead of
 * waited for. On SQLite every transaction is alone already.
 */
export const skipLocked: Record<Dialect, string> = { sqlite: '', postgres: 'for update skip locked' };

/**
 * Lets transactions that name the same thing ($1) pass one after the other, until they end. For a decision that rests
 * on a count of rows, which no lock on a row can hold still.
 */
export const turnLock: Record<Dialect, string | undefined> = {
  sqlite: undefined,
  postgres: `select pg_advisory_xact_lock(hashtext('roundhouse ' || current_schema()), hashtext($1))`,
};

/** How PostgreSQL begins a transaction: one message, whatever it is to go by. */
export function toPostgresBegin({ settings = {}, waitsForDisk = true }: TransactionOptions = {}): string {
  return [
    'begin',
    ...(waitsForDisk ? [] : ['set local synchronous_commit = off']),
    ...Object.entries(settings).map(([name, value]) => {
      assert(/^[a-z_.]+$/.test(name) && /^[a-z0-9_]+$/.test(`${value}`), `${name} is not a plain setting`);
      return `set local ${name} = ${value}`;
    }),
  ].join('; ');
}
