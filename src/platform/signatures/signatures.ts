/**
 * Signs with one secret per deployment. It is made by whichever process comes first, kept in the database and
 * read once, at start: with the store down later, signatures go on.
 */
import assert from 'node:assert';
import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database, Sql } from '../../storage/database.ts';
import type { Signatures } from './types.ts';

export interface SignaturesParts {
  database: Database;
  now: () => number;
}

export interface StartedSignatures extends Signatures {
  /** Reads the secret, and makes it before where there is none. */
  start(): Promise<void>;
}

const secretName = 'signatures';
const secretBytes = 32;

export function createSignatures({ database, now }: SignaturesParts): StartedSignatures {
  let key: KeyObject | undefined;

  function sign(purpose: string, text: string): string {
    assert(key !== undefined, 'signatures are started before they are used');
    assert(!purpose.includes('\0'), 'a purpose ends where the text begins');
    // With the zero between them, no other purpose and text make the same bytes.
    return createHmac('sha256', key).update(`${purpose}\0`).update(text).digest('base64');
  }

  return {
    sign,

    verify(purpose, text, signature) {
      if (typeof text !== 'string' || typeof signature !== 'string') return false;
      const expected = Buffer.from(sign(purpose, text), 'latin1');
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },

    async start() {
      const candidate = randomBytes(secretBytes).toString('base64');
      const secret = Buffer.from(await readSecret(database, candidate, now()), 'base64');
      assert(secret.length === secretBytes, `the secret ${secretName} in the database is damaged`);
      key = createSecretKey(secret);
    },
  };
}

/** Of several processes that start at once, one has its candidate taken, and all read that. */
async function readSecret(sql: Sql, candidate: string, createdAt: number): Promise<string> {
  await sql.query(
    'insert into secrets (name, value, created_at) values ($1, $2, $3) on conflict (name) do nothing',
    [secretName, candidate, createdAt],
  );
  const [row] = await sql.query<{ value: string }>('select value from secrets where name = $1', [secretName]);
  assert(row !== undefined, 'a secret that was not inserted exists');
  return row.value;
}
