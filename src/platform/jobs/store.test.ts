import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createJobsBench, type JobsBench } from '../../../test/support/jobs-bench.ts';
import type { Sql } from '../../storage/database.ts';
import type { Lease } from './row.ts';
import * as store from './store.ts';

let bench: JobsBench;
const now = 1_000_000;

beforeEach(async () => {
  bench = await createJobsBench();
});
afterEach(() => bench.close());

async function insert(id: string, modelId = 'vid-1'): Promise<void> {
  await store.insertJob(bench.database, {
    id,
    kind: 'video',
    subscriptionId: 'sub_1',
    keyId: 'key_1',
    modelId,
    createdAt: now,
    expectedMs: 18_000.4,
    billedSeconds: 6,
    pricePicoUsd: 9_007_199_254_740_993n,
    callbackUrl: undefined,
    baseUrl: 'https://ai.example/v1',
    request: { prompt: 'Ü "quoted"\n' },
    inputKeys: [],
  });
}

function claim(workerId: string, slots: number, modelId = 'vid-1'): Promise<Lease | undefined> {
  return bench.database.transaction(async (tx) => {
    await store.takeTurn(tx, bench.database.dialect, modelId);
    const asked = { modelId, slots, workerId, now, leaseUntil: now + 30_000 };
    return store.claimPending(tx, bench.database.dialect, asked);
  });
}

function takeOver(workerId: string, at: number): Promise<Lease | undefined> {
  const asked = { kinds: ['video', 'music'] as const, workerId, now: at, leaseUntil: at + 30_000 };
  return store.claimAbandoned(bench.database, bench.database.dialect, asked);
}

const token = { id: 'video_a', workerId: 'w1', attempt: 1 };
const ending = { now: now + 5, expiresAt: now + 100 };
const made = { ...ending, outputs: [] };
const failure = { ...ending, error: 'no', errorCode: 'server' } as const;

/** Every change that a run can make, by its token. */
const changes: [string, (sql: Sql, token: store.Token) => Promise<unknown>][] = [
  ['renewLease', (sql, token) => store.renewLease(sql, token, { leaseUntil: now + 60_000, told: 40 })],
  ['keepNote', (sql, token) => store.keepNote(sql, token, { text: 'x', engine: 'a' })],
  [
    'releaseLease',
    (sql, token) =>
      store.releaseLease(sql, token, {
        notBefore: now,
        failures: 1,
        told: 3,
        tried: ['a'],
        keepsNote: false,
      }),
  ],
  ['completeJob', (sql, token) => store.completeJob(sql, token, made)],
  ['failJob', (sql, token) => store.failJob(sql, token, failure)],
];

describe('a claim', () => {
  it('gives each job to one of many who ask at once, and never more of them than there are slots', async () => {
    for (const letter of 'abcdefgh') await insert(`video_${letter}`);
    const leases = await Promise.all(Array.from({ length: 12 }, (_, i) => claim(`w${i}`, 5)));
    const ids = leases.flatMap((lease) => lease?.job.id ?? []);
    expect(ids.toSorted()).toEqual(['video_a', 'video_b', 'video_c', 'video_d', 'video_e']);
    const [row] = await bench.database.query(`select count(*) as n from jobs where status = 'in_progress'`);
    expect(row?.['n']).toBe(5);
  });

  it('takes the oldest, and of two of one age the first by id', async () => {
    for (const id of ['video_c', 'video_b', 'video_d']) await insert(id);
    await bench.database.query(`update jobs set created_at = created_at - 1 where id = 'video_d'`);
    const order = [await claim('w', 9), await claim('w', 9), await claim('w', 9), await claim('w', 9)];
    expect(order.map((lease) => lease?.job.id)).toEqual(['video_d', 'video_b', 'video_c', undefined]);
  });

  it('counts the slots of its own model alone', async () => {
    await insert('video_a');
    await insert('video_b', 'vid-2');
    expect((await claim('w', 1))?.job.id).toBe('video_a');
    expect((await claim('w', 1, 'vid-2'))?.job.id).toBe('video_b');
  });

  it('reads back what was written', async () => {
    await insert('video_a');
    expect(await claim('w1', 1)).toMatchObject({
      job: { request: { prompt: 'Ü "quoted"\n' }, status: 'in_progress', attempt: 1, startedAt: now },
      expectedMs: 18_000,
      failures: 0,
      leaseUntil: now + 30_000,
      note: undefined,
      tried: [],
      pricePicoUsd: 9_007_199_254_740_993n,
    });
  });
});

describe('a lease that is over', () => {
  it('goes to one of many who ask at once, with one failure more', async () => {
    await insert('video_a');
    await claim('w1', 1);
    expect(await takeOver('w2', now + 29_999)).toBeUndefined();
    const leases = await Promise.all(Array.from({ length: 6 }, (_, i) => takeOver(`x${i}`, now + 30_000)));
    const taken = leases.filter((lease) => lease !== undefined);
    expect(taken).toMatchObject([{ job: { attempt: 2, status: 'in_progress' }, failures: 1 }]);
  });

  it('that was given back costs no failure', async () => {
    await insert('video_a');
    await claim('w1', 1);
    const left = { notBefore: now + 50, failures: 0, told: 30, tried: ['a'], keepsNote: true };
    expect(await store.releaseLease(bench.database, token, left)).toBe(true);
    expect(await takeOver('w2', now + 49)).toBeUndefined();
    expect(await takeOver('w2', now + 50)).toMatchObject({
      failures: 0,
      tried: ['a'],
      job: { attempt: 2, progress: 30 },
    });
  });
});

describe('a change of state', () => {
  it.each(changes)('%s is only for the run that has the lease', async (_name, change) => {
    await insert('video_a');
    await claim('w1', 1);
    for (const wrong of [{ workerId: 'w2' }, { attempt: 2 }, { id: 'video_b' }]) {
      expect(await change(bench.database, { ...token, ...wrong })).toBeFalsy();
    }
    expect(await change(bench.database, token)).toBeTruthy();
  });

  it.each(changes)('[JOB-24] %s changes nothing of a job that has ended', async (_name, change) => {
    await insert('video_a');
    await claim('w1', 1);
    await store.cancelJob(bench.database, 'video_a', ending);
    expect(await change(bench.database, token)).toBeFalsy();
    expect(await bench.status('video_a')).toBe('cancelled');
  });

  it('[JOB-11] progress that is told never falls', async () => {
    await insert('video_a');
    await claim('w1', 1);
    for (const told of [50, 20])
      await store.renewLease(bench.database, token, { leaseUntil: now + 60_000, told });
    expect((await store.findJob(bench.database, 'video_a', {}, now))?.progress).toBe(50);
  });

  it('[JOB-17] of many endings at once, one happens', async () => {
    for (let i = 0; i < 5; i++) {
      const id = `video_${i}`;
      await insert(id);
      await claim('w1', 99);
      const ours = { ...token, id };
      const outcomes = await Promise.all([
        bench.database.transaction((tx) => store.cancelJob(tx, id, ending)),
        bench.database.transaction((tx) => store.completeJob(tx, ours, made)),
        bench.database.transaction((tx) => store.failJob(tx, ours, failure)),
        bench.database.transaction((tx) => store.cancelJob(tx, id, ending)),
      ]);
      const happened = outcomes.flatMap((lease) => lease?.job.status ?? []);
      expect(happened).toEqual([await bench.status(id)]);
    }
  });

  it('[JOB-23] a completed job expires once, when it is due', async () => {
    await insert('video_a');
    await claim('w1', 1);
    await store.completeJob(bench.database, token, made);
    const expire = (at: number) =>
      store.expireJob(bench.database, bench.database.dialect, { now: at, recordUntil: at + 100 });
    expect(await expire(now + 99)).toBeUndefined();
    const outcomes = await Promise.all([expire(now + 100), expire(now + 100), expire(now + 100)]);
    expect(outcomes.filter((lease) => lease !== undefined)).toHaveLength(1);
  });

  it('[JOB-26] only what has ended, and is past its time, is deleted', async () => {
    for (const letter of 'abcd') await insert(`video_${letter}`);
    await claim('w1', 2);
    await claim('w1', 2);
    await store.completeJob(bench.database, token, made);
    await store.cancelJob(bench.database, 'video_c', ending);
    expect(await store.deleteOldRecords(bench.database, now + 99, 10)).toBe(0);
    expect(await store.deleteOldRecords(bench.database, now + 100, 10)).toBe(1);
    const statuses = await Promise.all(['a', 'b', 'c', 'd'].map((letter) => bench.status(`video_${letter}`)));
    expect(statuses).toEqual(['completed', 'in_progress', undefined, 'pending']);
  });
});
