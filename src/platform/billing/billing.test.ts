import { openSync, writeSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { migrationsFolder } from '../../compose.ts';
import { createLog } from '../../lib/log.ts';
import { type Database, QueryFailed, StoreUnavailable } from '../../storage/database.ts';
import { migrate } from '../../storage/migrate.ts';
import { type BillingParts, createBilling, type StartedBilling } from './billing.ts';
import { toLine } from './line.ts';
import type { LedgerRow } from './types.ts';

let test: TestDatabase;
let logged: Record<string, unknown>[];
let now: number;
const opened: StartedBilling[] = [];

beforeEach(async () => {
  test = await createTestDatabase();
  await migrate(test.database, { folder: migrationsFolder });
  logged = [];
  now = Date.UTC(2026, 10, 15, 3);
});
afterEach(async () => {
  for (const billing of opened.splice(0)) await billing.close();
  await test.close();
});

async function open(parts: Partial<BillingParts> = {}): Promise<StartedBilling> {
  const billing = createBilling({
    database: test.database,
    folder: test.folder,
    now: () => now,
    log: createLog('info', { write: (line) => void logged.push(JSON.parse(line)) }),
    ...parts,
  });
  opened.push(billing);
  await billing.start();
  return billing;
}

async function close(billing: StartedBilling): Promise<void> {
  opened.splice(opened.indexOf(billing), 1);
  await billing.close();
}

function row(id: string, more: Partial<LedgerRow> = {}): LedgerRow {
  return {
    id,
    subscriptionId: 'sub_1',
    keyId: 'key_1',
    modelId: 'qwen3-8b',
    operation: 'chat',
    at: now,
    durationMs: 120,
    streamed: false,
    outcome: 'stop',
    quantities: { promptTokens: 100, completionTokens: 10, cachedTokens: 4, reasoningTokens: 3 },
    costPicoUsd: 21_000_000n,
    ...more,
  };
}

/** The rows in the ledger, and whether the sums agree with them. */
async function ledger(): Promise<{ ids: string[]; agrees: boolean }> {
  const rows = await test.database.query<{ id: string }>('select id from ledger order by id');
  const sums = (table: string, count: string) =>
    test.database.query(
      `select cast(${count} as bigint) as requests, cast(sum(cost_pico) as text) as cost, sum(prompt_tokens) as prompt,
         sum(completion_tokens) as completion, sum(cached_tokens) as cached, sum(reasoning_tokens) as reasoning,
         subscription_id, model_id, operation
       from ${table} group by subscription_id, model_id, operation order by subscription_id, model_id, operation`,
    );
  const [fromRows, fromDays] = [await sums('ledger', 'count(*)'), await sums('usage_days', 'sum(requests)')];
  return { ids: rows.map(({ id }) => id), agrees: JSON.stringify(fromRows) === JSON.stringify(fromDays) };
}

/** Every file in the journal, as paths below it. */
async function journalFiles(): Promise<string[]> {
  const all = await readdir(join(test.folder, 'journal'), { recursive: true }).catch(() => []);
  return all.filter((name) => name.endsWith('.jsonl')).toSorted();
}

/** A journal as a killed process leaves it. */
async function leaveBehind(name: string, text: string): Promise<void> {
  const folder = join(test.folder, 'journal', name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, '00000001.jsonl'), text);
}

/** The database with a switch. */
function breakable(database: Database) {
  const state = { failure: undefined as Error | undefined };
  const broken: Database = {
    ...database,
    transaction: async (work) => {
      if (state.failure !== undefined) throw state.failure;
      return database.transaction(work);
    },
  };
  return { state, broken };
}

describe('a row', () => {
  it('reaches the ledger once with all that it says, and the sums with it', async () => {
    const billing = await open();
    const { quantities: _, ...rest } = row('gen_1');
    const quantities = {
      promptTokens: 318,
      completionTokens: 7,
      cachedTokens: 5,
      reasoningTokens: 2,
      megapixels: 1.048576,
      seconds: 2.5,
    };
    const recorded = { ...rest, quantities, streamed: true, costPicoUsd: 9_007_199_254_740_993n };
    expect(billing.record(recorded)).toBeUndefined();
    await billing.settle();
    expect(await billing.usage.generation('sub_1', 'gen_1')).toEqual(recorded);
    const [sums] = await billing.usage.byDayAndModel('sub_1', { from: '2026-11-15', to: '2026-11-15' });
    expect(sums).toEqual({
      day: '2026-11-15',
      modelId: 'qwen3-8b',
      requests: 1,
      ...quantities,
      costPicoUsd: 9_007_199_254_740_993n,
    });
  });

  it('[BILL-28] one operation bills once, however often it is recorded', async () => {
    const billing = await open();
    billing.record(row('gen_1'));
    billing.record(row('gen_1', { costPicoUsd: 5n }));
    await billing.settle();
    billing.record(row('gen_1'));
    await billing.settle();
    expect(await ledger()).toEqual({ ids: ['gen_1'], agrees: true });
    expect((await billing.usage.spent('sub_1')).total).toBe(21_000_000n);
  });

  it('[BILL-4] a stream that was cut short stands there with what was delivered', async () => {
    const billing = await open();
    billing.record(
      row('gen_1', { outcome: 'cancelled', quantities: { completionTokens: 3 }, costPicoUsd: 9n }),
    );
    expect(await billing.usage.generation('sub_1', 'gen_1')).toMatchObject({
      outcome: 'cancelled',
      quantities: { completionTokens: 3, promptTokens: 0 },
      costPicoUsd: 9n,
    });
  });

  it('[BILL-5] what was never recorded is nowhere', async () => {
    const billing = await open();
    await billing.settle();
    expect((await ledger()).ids).toEqual([]);
    expect(await billing.usage.spent('sub_1')).toEqual({ total: 0n, day: 0n, week: 0n, month: 0n });
  });

  it('an engine that reports nonsense does not keep it out', async () => {
    const billing = await open();
    billing.record(
      row('gen_1', { durationMs: 1.5, quantities: { promptTokens: Number.NaN, completionTokens: 2.5 } }),
    );
    await billing.settle();
    expect(await ledger()).toEqual({ ids: ['gen_1'], agrees: true });
  });

  it('a thousand of them reach the ledger without being asked for', async () => {
    const billing = await open();
    for (let i = 0; i < 1_200; i++) billing.record(row(`gen_${i}`, { modelId: `m${i % 5}` }));
    await expect.poll(async () => (await ledger()).ids.length).toBe(1_200);
    expect((await ledger()).agrees).toBe(true);
  });
});

describe('the journal after a crash', () => {
  const lines = (...ids: string[]) => ids.map((id) => `${toLine(row(id))}\n`).join('');

  it('is brought in at the next start, and is then gone', async () => {
    await leaveBehind('aaaaaaaaaaaa', lines('gen_1', 'gen_2'));
    await leaveBehind('bbbbbbbbbbbb', lines('gen_3'));
    await open();
    expect(await ledger()).toEqual({ ids: ['gen_1', 'gen_2', 'gen_3'], agrees: true });
    expect(await readdir(join(test.folder, 'journal'))).toEqual([]);
  });

  it('brought in twice, it bills once: a crash between the insert and the removal of the journal', async () => {
    await leaveBehind('aaaaaaaaaaaa', lines('gen_1', 'gen_2'));
    const copy = join(test.folder, 'copy');
    await cp(join(test.folder, 'journal'), copy, { recursive: true });
    await close(await open());
    await cp(copy, join(test.folder, 'journal'), { recursive: true });
    await leaveBehind('bbbbbbbbbbbb', lines('gen_2', 'gen_3'));
    const billing = await open();
    expect(await ledger()).toEqual({ ids: ['gen_1', 'gen_2', 'gen_3'], agrees: true });
    expect((await billing.usage.spent('sub_1')).total).toBe(63_000_000n);
  });

  it('may end in the middle of a row, which was never acknowledged', async () => {
    await leaveBehind('aaaaaaaaaaaa', lines('gen_1') + toLine(row('gen_2')).slice(0, 50));
    await open();
    expect(await ledger()).toEqual({ ids: ['gen_1'], agrees: true });
    expect(logged.map(({ msg }) => msg)).toContain('the journal ends in the middle of a row');
  });

  it('a line that cannot be read is set aside, and the others are billed', async () => {
    await leaveBehind('aaaaaaaaaaaa', `${lines('gen_1')}\0\0\0\n["gen_2"]\n${lines('gen_3')}`);
    await open();
    expect((await ledger()).ids).toEqual(['gen_1', 'gen_3']);
    const aside = await readFile(join(test.folder, 'journal', 'set-aside.jsonl'), 'utf8');
    expect(aside).toBe('\0\0\0\n["gen_2"]\n');
  });

  it('a row that the database refuses is set aside, and the others are billed', async () => {
    const refusing: Database = {
      ...test.database,
      transaction: (work) =>
        test.database.transaction((tx) =>
          work({
            ...tx,
            query: (text, values = []) => {
              if (String(values[0]).includes('gen_2')) throw new QueryFailed('value out of range', text);
              return tx.query(text, values);
            },
            eachJson: (text, lists) => {
              if (lists.some((list) => list.includes('gen_2')))
                throw new QueryFailed('value out of range', text);
              return tx.eachJson(text, lists);
            },
          }),
        ),
    };
    const billing = await open({ database: refusing });
    for (const id of ['gen_1', 'gen_2', 'gen_3']) billing.record(row(id));
    await billing.settle();
    expect(await ledger()).toEqual({ ids: ['gen_1', 'gen_3'], agrees: true });
    const aside = await readFile(join(test.folder, 'journal', 'set-aside.jsonl'), 'utf8');
    expect(aside).toBe(`${toLine(row('gen_2'))}\n`);
  });

  it("a living process's journal is left alone", async () => {
    const { state, broken } = breakable(test.database);
    const first = await open({ database: broken });
    state.failure = new StoreUnavailable('down');
    first.record(row('gen_1'));
    const before = await journalFiles();
    await close(await open());
    expect(before).toHaveLength(1);
    expect(await journalFiles()).toEqual(before);
    expect((await ledger()).ids).toEqual([]);
    state.failure = undefined;
    await first.settle();
    expect((await ledger()).ids).toEqual(['gen_1']);
  });
});

describe('the database is down', () => {
  it('rows wait in the journal, with one warning, and reach the ledger when it is back', async () => {
    const { state, broken } = breakable(test.database);
    const billing = await open({ database: broken });
    state.failure = new StoreUnavailable('no connection');
    for (let i = 0; i < 20; i++) expect(billing.record(row(`gen_${i}`))).toBeUndefined();
    await expect(billing.settle()).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(billing.settle()).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(billing.usage.spent('sub_1')).rejects.toMatchObject({ kind: 'overloaded' });
    state.failure = undefined;
    await billing.settle();
    expect(await ledger()).toMatchObject({ agrees: true, ids: { length: 20 } });
    expect(logged.map(({ msg }) => msg)).toEqual([
      'the ledger cannot be written: rows wait in the journal',
      'the ledger is written again',
    ]);
  });

  it('many rows stay on disk alone and come back in order', async () => {
    const { state, broken } = breakable(test.database);
    const billing = await open({ database: broken, journal: { segmentBytes: 2_000, maxMemoryRows: 30 } });
    state.failure = new StoreUnavailable('no connection');
    for (let i = 0; i < 500; i++) billing.record(row(`gen_${String(i).padStart(3, '0')}`));
    await expect(billing.settle()).rejects.toThrow();
    expect((await journalFiles()).length).toBeGreaterThan(20);
    state.failure = undefined;
    await billing.settle();
    expect(await ledger()).toMatchObject({ agrees: true, ids: { length: 500 } });
    await close(billing);
    expect(await journalFiles()).toEqual([]);
  });

  it('what it does not take by the end waits for the next start', async () => {
    const { state, broken } = breakable(test.database);
    const billing = await open({ database: broken });
    state.failure = new StoreUnavailable('no connection');
    billing.record(row('gen_1'));
    await close(billing);
    expect((await ledger()).ids).toEqual([]);
    await open();
    expect(await ledger()).toEqual({ ids: ['gen_1'], agrees: true });
  });

  it('a database that refuses everything is down as well: no row is set aside', async () => {
    const { state, broken } = breakable(test.database);
    const billing = await open({ database: broken });
    state.failure = new QueryFailed('permission denied', 'insert');
    billing.record(row('gen_1'));
    billing.record(row('gen_2'));
    await expect(billing.settle()).rejects.toThrow('permission denied');
    state.failure = undefined;
    await billing.settle();
    expect((await ledger()).ids).toEqual(['gen_1', 'gen_2']);
    expect(await journalFiles()).not.toContain('set-aside.jsonl');
  });
});

describe('the disk is full', () => {
  /** Writes a part of the line before it fails, as a disk that fills up does. */
  function fullDisk() {
    const state = { isFull: false };
    const files = {
      open: (path: string) => {
        if (state.isFull) throw new Error('ENOSPC');
        return openSync(path, 'ax');
      },
      write: (fd: number, bytes: string | Buffer) => {
        if (!state.isFull) return writeSync(fd, bytes as string);
        if (typeof bytes === 'string') return writeSync(fd, bytes.slice(0, 40));
        throw new Error('ENOSPC');
      },
    };
    return { state, files };
  }

  it('a row goes straight to the database, and its answer waits for it', async () => {
    const { state, files } = fullDisk();
    const billing = await open({ journal: { files } });
    billing.record(row('gen_1'));
    state.isFull = true;
    const answers = ['gen_2', 'gen_3'].map((id) => billing.record(row(id)));
    expect(answers[0]).toBeInstanceOf(Promise);
    await Promise.all(answers);
    expect((await ledger()).ids).toEqual(expect.arrayContaining(['gen_2', 'gen_3']));
    await billing.settle();
    expect(await ledger()).toEqual({ ids: ['gen_1', 'gen_2', 'gen_3'], agrees: true });
    expect(logged.filter(({ msg }) => msg === 'the journal cannot be written')).toHaveLength(1);
  });

  it('the torn line that it left is no row after a crash', async () => {
    const { state, files } = fullDisk();
    const { state: store, broken } = breakable(test.database);
    const billing = await open({ database: broken, journal: { files } });
    store.failure = new StoreUnavailable('down');
    billing.record(row('gen_1'));
    state.isFull = true;
    await expect(billing.record(row('gen_2'))).rejects.toMatchObject({ kind: 'overloaded' });
    await close(billing);
    await open();
    expect(await ledger()).toEqual({ ids: ['gen_1'], agrees: true });
  });

  it('with the database down too, the answer is kept back with 503, and nothing is billed', async () => {
    const { state, files } = fullDisk();
    const { state: store, broken } = breakable(test.database);
    const billing = await open({ database: broken, journal: { files } });
    state.isFull = true;
    store.failure = new StoreUnavailable('down');
    await expect(billing.record(row('gen_1'))).rejects.toMatchObject({ kind: 'overloaded' });
    store.failure = undefined;
    await billing.settle();
    expect((await ledger()).ids).toEqual([]);
  });
});

describe('usage', () => {
  const day = 24 * 3600 * 1000;

  it('[AUTH-18] two keys of one subscription see the same usage, and another subscription none of it', async () => {
    const billing = await open();
    billing.record(row('gen_1', { keyId: 'key_1' }));
    billing.record(row('gen_2', { keyId: 'key_2' }));
    expect((await billing.usage.spent('sub_1')).total).toBe(42_000_000n);
    expect((await billing.usage.spent('sub_2')).total).toBe(0n);
    expect(await billing.usage.generation('sub_2', 'gen_1')).toBeUndefined();
  });

  it('is told for the current day, week from Monday, and month in UTC', async () => {
    // 2026-11-15 is a Sunday: its week began on the 9th.
    const billing = await open();
    for (const [id, at, cost] of [
      ['today', now, 1n],
      ['monday', Date.UTC(2026, 10, 9), 10n],
      ['last-week', Date.UTC(2026, 10, 8, 23, 59), 100n],
      ['first', Date.UTC(2026, 10, 1), 1_000n],
      ['october', Date.UTC(2026, 9, 31, 23, 59), 10_000n],
    ] as const) {
      billing.record(row(id, { at, costPicoUsd: cost }));
    }
    expect(await billing.usage.spent('sub_1')).toEqual({ total: 11_111n, day: 1n, week: 11n, month: 1_111n });
  });

  it('is grouped by day, model and subscription, with the sum of all', async () => {
    const billing = await open();
    billing.record(row('a', { at: now - day }));
    billing.record(row('b', { modelId: 'dear', costPicoUsd: 99_000_000n }));
    billing.record(row('c', { subscriptionId: 'sub_2' }));
    billing.record(row('d', { at: now - 40 * day }));
    const range = { from: billing.usage.today(29), to: billing.usage.today() };
    const names = async (by: 'day' | 'model' | 'subscription', subscriptionId?: string) => {
      const { groups, total } = await billing.usage.grouped({ ...range, by, subscriptionId, limit: 10 });
      expect(groups.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n)).toBe(total.costPicoUsd);
      return groups.map(({ name, requests }) => [name, requests]);
    };
    expect(await names('day')).toEqual([
      ['2026-11-14', 1],
      ['2026-11-15', 2],
    ]);
    expect(await names('model')).toEqual([
      ['dear', 1],
      ['qwen3-8b', 2],
    ]);
    expect(await names('subscription')).toEqual([
      ['sub_1', 2],
      ['sub_2', 1],
    ]);
    expect(await names('model', 'sub_2')).toEqual([['qwen3-8b', 1]]);
    const cut = await billing.usage.grouped({ ...range, by: 'model', limit: 1 });
    expect(cut).toMatchObject({ hasMore: true, groups: [{ name: 'dear' }], total: { requests: 3 } });
  });
});
