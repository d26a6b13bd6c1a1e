/** Secrets on SQLite, or on PostgreSQL when DATABASE_URL is set. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookBench, type WebhookBench } from '../../../test/support/webhook-bench.ts';
import { readSecrets } from './secrets.ts';
import { createWebhooks } from './webhooks.ts';

const hourMs = 3600 * 1000;
let bench: WebhookBench;

beforeEach(async () => {
  bench = await createWebhookBench();
});
afterEach(() => bench.close());

/** What signs a delivery at this moment. */
const inForce = async (subscriptionId = 'sub_1') =>
  (await readSecrets(bench.database, subscriptionId, bench.clock.now())).inForce;

describe('a secret', () => {
  it('[HOOK-7] is made on the first call, with the prefix whsec_ and 32 random bytes, and stays', async () => {
    const webhooks = await bench.open();
    const first = await webhooks.secret('sub_1');
    expect(first).toEqual({
      secret: expect.stringMatching(/^whsec_[\w-]{43}$/),
      createdAt: bench.clock.now(),
      previousExpiresAt: undefined,
    });
    expect(Buffer.from(first.secret.slice('whsec_'.length), 'base64url')).toHaveLength(32);
    bench.clock.advance(hourMs);
    expect(await webhooks.secret('sub_1')).toEqual(first);
    expect((await webhooks.secret('sub_2')).secret).not.toBe(first.secret);
  });

  it('[HOOK-7] first calls at the same moment all get the same one', async () => {
    const webhooks = await bench.open();
    const all = await Promise.all(Array.from({ length: 20 }, () => webhooks.secret('sub_1')));
    expect(new Set(all.map(({ secret }) => secret)).size).toBe(1);
  });
});

describe('a rotation', () => {
  it('[HOOK-9] [HOOK-12] makes a new secret, and for 24 h both sign', async () => {
    const webhooks = await bench.open();
    const old = await webhooks.secret('sub_1');
    bench.clock.advance(5_000);
    const rotated = await webhooks.rotate('sub_1');
    expect(rotated.secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(rotated.secret).not.toBe(old.secret);
    expect(rotated).toMatchObject({
      createdAt: bench.clock.now(),
      previousExpiresAt: bench.clock.now() + 24 * hourMs,
    });
    bench.clock.advance(24 * hourMs - 1);
    expect(await webhooks.secret('sub_1')).toEqual(rotated);
    expect(await inForce()).toEqual([rotated.secret, old.secret]);
  });

  it('[HOOK-13] 24 h later only the new one signs', async () => {
    const webhooks = await bench.open();
    await webhooks.secret('sub_1');
    const { secret } = await webhooks.rotate('sub_1');
    bench.clock.advance(24 * hourMs);
    expect(await inForce()).toEqual([secret]);
    expect((await webhooks.secret('sub_1')).previousExpiresAt).toBeUndefined();
  });

  it('[HOOK-14] a second one within 24 h retires the oldest at once: never more than two sign', async () => {
    const webhooks = await bench.open();
    const { secret: first } = await webhooks.secret('sub_1');
    const { secret: second } = await webhooks.rotate('sub_1');
    bench.clock.advance(hourMs);
    const { secret: third, previousExpiresAt } = await webhooks.rotate('sub_1');
    expect(await inForce()).toEqual([third, second]);
    expect(await inForce()).not.toContain(first);
    expect(previousExpiresAt).toBe(bench.clock.now() + 24 * hourMs);
  });

  it('[HOOK-14] rotations at the same moment leave two secrets, both of which somebody was told', async () => {
    const webhooks = await bench.open();
    const all = await Promise.all(Array.from({ length: 10 }, () => webhooks.rotate('sub_1')));
    const told = all.map(({ secret }) => secret);
    expect(new Set(told).size).toBe(10);
    const signing = await inForce();
    expect(signing).toHaveLength(2);
    for (const secret of signing) expect(told).toContain(secret);
  });

  it('before anybody asked for a secret answers as any other, and touches no other subscription', async () => {
    const webhooks = await bench.open();
    const { secret: untouched } = await webhooks.secret('sub_2');
    const { secret, previousExpiresAt } = await webhooks.rotate('sub_1');
    expect(previousExpiresAt).toBe(bench.clock.now() + 24 * hourMs);
    expect(await webhooks.secret('sub_1')).toMatchObject({ secret });
    expect(await inForce('sub_2')).toEqual([untouched]);
  });
});

it('with the store down a secret is a 503', async () => {
  const { StoreUnavailable } = await import('../../storage/database.ts');
  const down = async () => {
    throw new StoreUnavailable('gone');
  };
  const database = { ...bench.database, query: down, transaction: down };
  const parts = { safeFetch: undefined as never, now: bench.clock.now, log: undefined as never };
  const webhooks = createWebhooks({ database, ...parts });
  for (const asked of [webhooks.secret('sub_1'), webhooks.rotate('sub_1'), webhooks.deliveries({ limit: 1 })])
    await expect(asked).rejects.toMatchObject({ kind: 'overloaded' });
});
