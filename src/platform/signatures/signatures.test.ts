/** Signatures on SQLite, and on PostgreSQL when DATABASE_URL is set. */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { migrationsFolder } from '../../compose.ts';
import type { Database } from '../../storage/database.ts';
import { migrate } from '../../storage/migrate.ts';
import { openPostgres } from '../../storage/postgres.ts';
import { createSignatures } from './index.ts';

const dialects = process.env.DATABASE_URL ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const);

describe.each(dialects)('signatures: %s', (dialect) => {
  let test: TestDatabase;
  const now = () => 1_790_000_000_000;

  beforeEach(async () => {
    test = await createTestDatabase({ dialect });
    await migrate(test.database, { folder: migrationsFolder });
  });
  afterEach(() => test.close());

  async function open(database: Database = test.database) {
    const signatures = createSignatures({ database, now });
    await signatures.start();
    return signatures;
  }

  const secrets = () =>
    test.database.query<{ name: string; value: string; created_at: number }>('select * from secrets');

  it('are an HMAC-SHA256 over the purpose, a zero and the text, with a secret of 32 bytes', async () => {
    const signatures = await open();
    const [{ name, value, created_at } = { name: '', value: '', created_at: 0 }] = await secrets();
    const secret = Buffer.from(value, 'base64');
    expect({ name, created_at, bytes: secret.length }).toEqual({
      name: 'signatures',
      created_at: now(),
      bytes: 32,
    });
    const expected = createHmac('sha256', secret).update('thinking\0Hmm, é ✓').digest('base64');
    expect(signatures.sign('thinking', 'Hmm, é ✓')).toBe(expected);
    expect(signatures.verify('thinking', 'Hmm, é ✓', expected)).toBe(true);
    expect(signatures.verify('thinking', '', signatures.sign('thinking', ''))).toBe(true);
  });

  it('are worth nothing for another text or another purpose', async () => {
    const signatures = await open();
    const signature = signatures.sign('thinking', 'a');
    expect(signatures.verify('thinking', 'a ', signature)).toBe(false);
    expect(signatures.verify('other', 'a', signature)).toBe(false);
    expect(signatures.verify('thin', 'kinga', signature)).toBe(false);
    expect(() => signatures.sign('thin\0king', 'a')).toThrow(/purpose/);
  });

  it('that nobody made are refused without a failure', async () => {
    const signatures = await open();
    const texts = ['', 'x', '=', '\0', '\ud800', '✓'.repeat(44), `${'A'.repeat(43)}=`, 'A'.repeat(1_000_000)];
    for (const given of [...texts, null, undefined, 7, {}]) {
      expect(signatures.verify('thinking', 'a', given as string)).toBe(false);
      expect(signatures.verify('thinking', given as string, 'a')).toBe(false);
    }
  });

  it('are not accepted in another spelling', async () => {
    const signatures = await open();
    const signature = signatures.sign('thinking', 'a');
    for (const other of [signature.slice(0, -1), ` ${signature}`, `${signature}\n`, signature.toLowerCase()])
      expect(signatures.verify('thinking', 'a', other)).toBe(false);
  });

  it('are the same in every process, also when all start at once, and after a restart', async () => {
    const other =
      test.databaseUrl === undefined ? test.database : await openPostgres({ url: test.databaseUrl });
    const started = await Promise.all([open(), open(other), open(), open(other)]);
    started.push(await open());
    const [first] = started;
    const signature = first!.sign('thinking', 'a');
    for (const signatures of started) expect(signatures.sign('thinking', 'a')).toBe(signature);
    expect(await secrets()).toHaveLength(1);
    if (other !== test.database) await other.close();
  });

  it('differ from one deployment to another', async () => {
    const here = await open();
    const elsewhere = await createTestDatabase({ dialect });
    try {
      await migrate(elsewhere.database, { folder: migrationsFolder });
      const there = await open(elsewhere.database);
      expect(there.verify('thinking', 'a', here.sign('thinking', 'a'))).toBe(false);
    } finally {
      await elsewhere.close();
    }
  });

  it('a damaged secret is told at start, not at the first signature', async () => {
    await test.database.query('insert into secrets (name, value, created_at) values ($1, $2, $3)', [
      'signatures',
      'c2hvcnQ=',
      1,
    ]);
    await expect(open()).rejects.toThrow(/damaged/);
  });
});
