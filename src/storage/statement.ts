/** What both databases ask of a statement and its values, so that a slip fails on one as it does on the other. */
import assert from 'node:assert';
import { GatewayError } from '../lib/errors.ts';
import type { SqlValue } from './database.ts';

export type BoundValue = Exclude<SqlValue, boolean>;

/** Booleans become 0 and 1; what no database can hold (undefined, NaN, an object) is a bug of the caller. */
export function toBoundValues(values: readonly SqlValue[]): BoundValue[] {
  return values.map((value, index) => {
    if (typeof value === 'boolean') return value ? 1 : 0;
    // PostgreSQL's text has no such character. It can only come from outside, so it is a client's mistake.
    if (typeof value === 'string' && value.includes('\0')) {
      throw new GatewayError('invalid_request', 'Text must not contain the character U+0000');
    }
    assert(
      isBoundValue(value),
      `parameter $${index + 1} is not a value that a database can hold: ${typeof value}`,
    );
    return value;
  });
}

function isBoundValue(value: unknown): value is BoundValue {
  if (typeof value === 'number') return Number.isFinite(value);
  return (
    typeof value === 'string' || typeof value === 'bigint' || value === null || value instanceof Uint8Array
  );
}

/**
 * How many parameters one statement takes. SQLite itself would run the first of several statements, and
 * would read a parameter that was not given as null; PostgreSQL refuses both.
 */
export function countParameters(text: string): number {
  const used = new Set<number>();
  let ended = false;
  for (const [token, parameter] of text.matchAll(tokens)) {
    const isComment = token.startsWith('--') || token.startsWith('/*');
    assert(!ended || isComment || token === ';', 'a query is one statement; use script() for several');
    if (token === ';') ended = true;
    if (parameter !== undefined) used.add(Number(parameter));
  }
  const count = Math.max(0, ...used);
  assert(used.size === count, `the statement uses $${count} but not every parameter before it`);
  return count;
}

/** Comments, quoted text, parameters, ends of statements, and any other word or sign. */
const tokens = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)|;|\w+|[^\s\w]/g;

/** PostgreSQL's own limits, kept on both: a payload under 8,000 bytes and a channel name that fits an identifier. */
export function checkNotification(channel: string, payload: string): void {
  assert(
    /^[a-z_]{1,40}$/.test(channel),
    `a channel is up to 40 lower-case letters and underscores, not "${channel}"`,
  );
  assert(
    Buffer.byteLength(payload) < 8_000,
    'a notification carries less than 8,000 bytes: send an id, not the thing',
  );
}
