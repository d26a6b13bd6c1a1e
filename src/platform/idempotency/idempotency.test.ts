/** Kept answers on SQLite, and on PostgreSQL when DATABASE_URL is set. */
import assert from 'node:assert';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { migrationsFolder } from '../../compose.ts';
import { createLog } from '../../lib/log.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import { migrate } from '../../storage/migrate.ts';
import { createObjects, type Objects } from '../objects/index.ts';
import { type Claim, createIdempotency, type Idempotency, type KeptAnswer } from './index.ts';

const dialects = process.env.DATABASE_URL ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const);
const log = createLog('silent');
const hourMs = 3_600_000;
const answer = { status: 202, headers: { 'content-type': 'application/json' }, body: Buffer.from('{"é":1}') };

describe.each(dialects)('idempotency keys: %s', (dialect) => {
  let test: TestDatabase;
  let objects: Objects;
  let time: number;
  let state: { failure: Error | undefined };
  const opened: Idempotency[] = [];

  /** A replica of its own, as far as the database can tell. */
  function open(parts: { sweepEveryMs?: number } = {}): Idempotency {
    const made = createIdempotency({ database: flaky(), objects, now: () => time, log, ...parts });
    opened.push(made);
    return made;
  }

  function flaky(): Database {
    const fails = () => (state.failure === undefined ? undefined : Promise.reject(state.failure));
    const { database } = test;
    return {
      ...database,
      query: ((...given) => fails() ?? database.query(...given)) as Database['query'],
      each: ((...given) => fails() ?? database.each(...given)) as Database['each'],
    };
  }

  beforeEach(async () => {
    test = await createTestDatabase({ dialect });
    await migrate(test.database, { folder: migrationsFolder });
    time = 1_790_000_000_000;
    state = { failure: undefined };
    objects = createObjects({ folder: join(test.folder, 'objects'), log, now: () => time });
  });
  afterEach(async () => {
    vi.useRealTimers();
    state.failure = undefined;
    for (const made of opened.splice(0)) await made.close();
    await objects.close();
    await test.close();
  });

  const rows = () => test.database.query<{ key: string; state: string }>('select * from idempotency_keys');

  async function run(idempotency: Idempotency, key = 'k', fingerprint = 'f', subscription = 'sub_1') {
    const claim = await idempotency.claim(subscription, key, fingerprint);
    expect(claim.type).toBe('run');
    return claim as Claim & { type: 'run' };
  }

  async function replayed(idempotency: Idempotency): Promise<KeptAnswer> {
    const claim = await idempotency.claim('sub_1', 'k', 'f');
    assert(claim.type === 'replay');
    const { status, headers, bytes, open: read } = claim.answer;
    const body = await buffer(await read());
    expect(body).toHaveLength(bytes);
    return { status, headers, body };
  }

  it('[IDEM-2] keep the first answer and give it again, in every replica', async () => {
    const claim = await run(open());
    await claim.keep(answer);
    expect(await replayed(open())).toEqual(answer);
    expect(await replayed(opened[0] as Idempotency)).toEqual(answer);
  });

  it('[IDEM-3] are had by exactly one of many that come at once', async () => {
    const replicas = [open(), open()];
    const claims = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) => replicas[at % 2]!.claim('sub_1', 'k', 'f')),
    );
    const running = claims.filter(({ status }) => status === 'fulfilled');
    expect(running).toHaveLength(1);
    for (const claim of claims)
      if (claim.status === 'rejected')
        expect(claim.reason).toMatchObject({ kind: 'conflict', permanent: true });
  });

  it('[IDEM-4] of another request are refused, while the first runs and after it', async () => {
    const idempotency = open();
    const refused = { kind: 'invalid_request', param: 'Idempotency-Key' };
    const claim = await run(idempotency);
    await expect(idempotency.claim('sub_1', 'k', 'other')).rejects.toMatchObject(refused);
    await claim.keep(answer);
    await expect(idempotency.claim('sub_1', 'k', 'other')).rejects.toMatchObject(refused);
  });

  it('[IDEM-7] are kept apart by subscription', async () => {
    const idempotency = open();
    await (await run(idempotency)).keep(answer);
    await run(idempotency, 'k', 'other', 'sub_2');
    await run(idempotency, 'K');
  });

  it('[IDEM-8] are forgotten after 24 hours, with their answers', async () => {
    const idempotency = open();
    await (await run(idempotency)).keep(answer);
    time += 24 * hourMs - 1;
    expect((await idempotency.claim('sub_1', 'k', 'f')).type).toBe('replay');
    time += 1;
    await run(idempotency, 'k', 'other');
    time += hourMs;
    await createObjects({ folder: join(test.folder, 'objects'), log, now: () => time }).close();
    expect(await readdir(join(test.folder, 'objects', 'answers'))).toEqual([]);
  });

  it('are free again when they are let go', async () => {
    const idempotency = open();
    await (await run(idempotency)).release();
    expect(await rows()).toEqual([]);
    await run(idempotency, 'k', 'other');
  });

  it('of a process that died are free when its lease is over', async () => {
    const dead = open();
    const claim = await run(dead);
    await dead.close();
    const idempotency = open();
    time += 29_999;
    await expect(idempotency.claim('sub_1', 'k', 'f')).rejects.toMatchObject({ kind: 'conflict' });
    time += 1;
    const second = await run(idempotency, 'k', 'f');
    // It was only slow, and comes too late: the answer of the other one counts.
    await claim.keep({ ...answer, body: Buffer.from('late') });
    await expect(idempotency.claim('sub_1', 'k', 'f')).rejects.toMatchObject({ kind: 'conflict' });
    await second.keep(answer);
    await claim.release();
    expect(await replayed(idempotency)).toEqual(answer);
    const [hour = ''] = await readdir(join(test.folder, 'objects', 'answers'));
    expect(await readdir(join(test.folder, 'objects', 'answers', hour))).toHaveLength(1);
  });

  it('that run for long keep their lease by a heartbeat, which ends with them', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const idempotency = open();
    const claim = await run(idempotency);
    const other = open();
    for (let beat = 0; beat < 12; beat++) {
      time += 10_000;
      vi.advanceTimersByTime(10_000);
      const select = 'select lease_until from idempotency_keys';
      await expect
        .poll(async () => (await test.database.query<{ lease_until: number }>(select))[0]?.lease_until)
        .toBe(time + 30_000);
    }
    await expect(other.claim('sub_1', 'k', 'f')).rejects.toMatchObject({ kind: 'conflict' });
    expect(vi.getTimerCount()).toBe(1);
    await claim.keep(answer);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that have expired are swept', async () => {
    const idempotency = open({ sweepEveryMs: 5 });
    await (await run(idempotency, 'old')).keep(answer);
    await run(idempotency, 'dead');
    time += 12 * hourMs;
    await (await run(idempotency, 'young')).keep(answer);
    time += 12 * hourMs;
    await expect.poll(async () => (await rows()).map(({ key }) => key)).toEqual(['young']);
  });

  it('without the database are refused, and nothing runs', async () => {
    const idempotency = open();
    state.failure = new StoreUnavailable('down');
    await expect(idempotency.claim('sub_1', 'k', 'f')).rejects.toMatchObject({
      kind: 'overloaded',
      retryAfterSeconds: 1,
    });
  });

  it('whose answer cannot be kept do not lose it, and are free when the lease is over', async () => {
    const idempotency = open();
    const claim = await run(idempotency);
    state.failure = new StoreUnavailable('down');
    await claim.keep(answer);
    const released = state.failure;
    state.failure = undefined;
    await expect(idempotency.claim('sub_1', 'k', 'f')).rejects.toMatchObject({ kind: 'conflict' });
    time += 30_000;
    const again = await run(idempotency);
    state.failure = released;
    await again.release();
  });

  it('whose answer is lost say so, and do not run again', async () => {
    const idempotency = open();
    await (await run(idempotency)).keep(answer);
    await objects.remove('answers');
    await expect(idempotency.claim('sub_1', 'k', 'f')).rejects.toMatchObject({
      kind: 'internal',
      permanent: true,
    });
  });
});
