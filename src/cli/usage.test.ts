import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ledgerRow } from '../../test/support/account-shell.ts';
import { createTestSchema } from '../../test/support/database.ts';
import { runCli } from '../cli.ts';
import { toLine } from '../platform/billing/line.ts';
import { toDollars } from './usage.ts';

let folder: string;
let schema: Awaited<ReturnType<typeof createTestSchema>> | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-cli-'));
  schema = process.env['DATABASE_URL'] ? await createTestSchema() : undefined;
});
afterEach(async () => {
  await schema?.drop();
  await rm(folder, { recursive: true });
});

async function run(...args: string[]) {
  let out = '';
  let err = '';
  const code = await runCli(args, {
    env: { ROUNDHOUSE_DATA: 'data', ...(schema === undefined ? {} : { DATABASE_URL: schema.url }) },
    cwd: folder,
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
    now: Date.now,
  });
  return { code, out, err };
}

/** What a gateway that was killed had billed. */
async function leaveJournal(rows: Parameters<typeof toLine>[0][]): Promise<void> {
  const journal = join(folder, 'data/journal/0123456789ab');
  await mkdir(journal, { recursive: true });
  await writeFile(join(journal, '00000001.jsonl'), rows.map((row) => `${toLine(row)}\n`).join(''));
}

describe('roundhouse usage', () => {
  it('shows what was used by day, model or subscription, with the sum', async () => {
    const made = JSON.parse((await run('subscriptions', 'create', 'Acme', '--json')).out);
    await leaveJournal([
      ledgerRow('gen_1', Date.UTC(2026, 10, 14), { subscriptionId: made.id }),
      ledgerRow('gen_2', Date.UTC(2026, 10, 15), {
        subscriptionId: made.id,
        costPicoUsd: 2_000_000_000_000n,
      }),
      ledgerRow('gen_3', Date.UTC(2026, 10, 15), { modelId: 'film-one', quantities: { seconds: 7.5 } }),
    ]);
    const range = ['--from', '2026-11-14', '--to', '2026-11-15'];
    expect((await run('usage', ...range)).out).toBe(
      'DAY         REQUESTS  PROMPT  COMPLETION  MEGAPIXELS  SECONDS  DOLLARS\n' +
        '2026-11-14  1         318     100         0           0        0.00010824\n' +
        '2026-11-15  2         318     100         0           7.5      2.00010824\n' +
        'total       3         636     200         0           7.5      2.00021648\n',
    );
    expect((await run('usage', ...range, '--by', 'subscription')).out).toMatch(/^Acme +2 /m);
    expect((await run('usage', ...range, '--by', 'model', '--subscription', 'Acme')).out).not.toContain(
      'film',
    );
    const { out } = await run('usage', ...range, '--by', 'model', '--json');
    expect(JSON.parse(out)).toMatchObject({
      by: 'model',
      data: [
        { group: 'qwen3-8b', requests: 2 },
        { group: 'film-one', seconds: 7.5 },
      ],
      total: { requests: 3 },
    });
  });

  it('says what it does not understand', async () => {
    expect(await run('usage', '--by', 'colour')).toMatchObject({ code: 2 });
    expect(await run('usage', '--from', 'monday')).toMatchObject({ code: 1 });
    expect((await run('usage', '--from', '2026-11-15', '--to', '2026-11-14')).err).toContain(
      'from must not be after to',
    );
    expect((await run('usage', '--subscription', 'nobody')).err).toContain('no subscription nobody');
  });

  it.each([
    [0, '0.00'],
    [12.5, '12.50'],
    [0.00010824, '0.00010824'],
    [1e-12, '0.000000000001'],
  ])('%s dollars are shown as %s', (usd, text) => {
    expect(toDollars(usd)).toBe(text);
  });
});
