import { afterEach, beforeEach, expect, it } from 'vitest';
import { createJobsBench, type JobsBench } from '../../../test/support/jobs-bench.ts';
import { insertJobRow } from './job-row.ts';
import type { LedgerRow } from './types.ts';

let bench: JobsBench;

beforeEach(async () => {
  bench = await createJobsBench();
});
afterEach(() => bench.close());

const row: LedgerRow = {
  id: 'video_1',
  subscriptionId: 'sub_1',
  keyId: 'key_1',
  modelId: 'vid-1',
  operation: 'video',
  at: Date.UTC(2026, 10, 15),
  durationMs: 9_000,
  streamed: false,
  outcome: 'completed',
  quantities: { seconds: 6 },
  costPicoUsd: 300_000_000_000n,
};

const insert = () => bench.database.transaction((tx) => insertJobRow(tx, bench.database.dialect, row));

it('[BILL-28] the row of a job and its part of the sums are written once, however often it is brought', async () => {
  await insert();
  await insert();
  expect(await bench.ledger()).toEqual({ ids: ['video_1'], seconds: 6, costPico: 300_000_000_000n });
});

it('is not there when its transaction is rolled back', async () => {
  const undone = bench.database.transaction(async (tx) => {
    await insertJobRow(tx, bench.database.dialect, row);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect((await bench.ledger()).ids).toEqual([]);
});
