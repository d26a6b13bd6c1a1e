/** The outbox and its loop, on SQLite, or on PostgreSQL when DATABASE_URL is set: leases, places, history. */
import type { RequestListener, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookBench, onlyDelivery, type WebhookBench } from '../../../test/support/webhook-bench.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import { openPostgres } from '../../storage/postgres.ts';
import { leaseDue } from './outbox.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const dayMs = 24 * 60 * minuteMs;
const jobId = 'video_0123456789abcdef01234567';
let bench: WebhookBench;

beforeEach(async () => {
  bench = await createWebhookBench();
});
afterEach(() => bench.close());

const at = (port: number, host = '127.0.0.1') => `http://${host}:${port}/`;
const refuse: RequestListener = (_, response) => void response.writeHead(500).end();

/** Keeps its answers back until it is told. */
function createHolder() {
  const held: ServerResponse[] = [];
  return {
    held,
    listener: ((_, response) => void held.push(response)) satisfies RequestListener,
    release() {
      for (const response of held.splice(0)) response.end();
    },
  };
}

/** Writes events without waiting for them to be sent. */
async function write(
  webhooks: Awaited<ReturnType<WebhookBench['open']>>,
  urls: readonly string[],
  more = {},
) {
  await bench.database.transaction(async (tx) => {
    for (const [index, url] of urls.entries()) {
      const id = `video_${index.toString().padStart(3, '0')}`;
      const event = { subscriptionId: `sub_${index}`, kind: 'video', ending: 'completed', data: {} } as const;
      await webhooks.enqueue(tx, { ...event, jobId: id, url, ...more });
    }
  });
}

describe('the loop', () => {
  it('is woken by the commit itself: nothing else need be called', async () => {
    const receiver = await bench.receive();
    const webhooks = await bench.open();
    await write(webhooks, [at(receiver.port)]);
    await receiver.arrived(1);
    await webhooks.idle();
    expect((await onlyDelivery(webhooks)).status).toBe('delivered');
  });

  it('sends what it finds when it starts', async () => {
    const receiver = await bench.receive();
    const before = await bench.open();
    await before.close();
    await write(before, [at(receiver.port)]);
    before.wake();
    await before.idle();
    expect(receiver.received).toEqual([]);
    const after = await bench.open();
    await after.idle();
    expect((await onlyDelivery(after)).status).toBe('delivered');
  });

  it('a receiver that hangs holds up two places and no other receiver', async () => {
    const holder = createHolder();
    const hanging = await bench.receive(holder.listener);
    const quick = await bench.receive();
    const webhooks = await bench.open();
    const urls = [
      ...Array.from({ length: 12 }, () => at(hanging.port, 'hangs.example')),
      ...Array.from({ length: 12 }, (_, index) => at(quick.port, `quick-${index % 3}.example`)),
    ];
    await write(webhooks, urls);
    await quick.arrived(12);
    await hanging.arrived(2);
    expect(hanging.received).toHaveLength(2);
    // Nothing goes round in circles meanwhile: the rows that wait for a place wait for an end.
    while (hanging.received.length < 12) {
      const next = hanging.arrived(hanging.received.length + 1);
      holder.release();
      await next;
      expect(holder.held.length).toBeLessThanOrEqual(2);
    }
    while ((await webhooks.deliveries({ status: 'waiting', limit: 1 })).length > 0) holder.release();
    await webhooks.idle();
    expect(hanging.received).toHaveLength(12);
  });

  it('one subscription holds up half of the places, however many hosts it names', async () => {
    const holder = createHolder();
    const hanging = await bench.receive(holder.listener);
    const quick = await bench.receive();
    const webhooks = await bench.open({ answerTimeoutMs: 30_000 });
    const many = Array.from({ length: 10 }, (_, index) => at(hanging.port, `a${index}.example`));
    await write(webhooks, many, { subscriptionId: 'sub_x' });
    await hanging.arrived(4);
    await bench.database.transaction((tx) =>
      webhooks.enqueue(tx, {
        subscriptionId: 'sub_y',
        jobId: 'music_1',
        kind: 'music',
        ending: 'completed',
        url: at(quick.port),
        data: {},
      }),
    );
    await quick.arrived(1);
    expect(hanging.received).toHaveLength(4);
    while ((await webhooks.deliveries({ status: 'waiting', limit: 1 })).length > 0) holder.release();
  });

  it('sends at most eight at once', async () => {
    const holder = createHolder();
    const receiver = await bench.receive(holder.listener);
    const webhooks = await bench.open();
    await write(
      webhooks,
      Array.from({ length: 12 }, (_, index) => at(receiver.port, `host-${index}.example`)),
    );
    await receiver.arrived(8);
    await webhooks.deliveries({ limit: 1 });
    expect(holder.held).toHaveLength(8);
    while ((await webhooks.deliveries({ status: 'waiting', limit: 1 })).length > 0) holder.release();
    expect(receiver.received).toHaveLength(12);
  });

  it('a store that fails is asked again 5 s later', async () => {
    const receiver = await bench.receive();
    let down = true;
    const flaky: Database = {
      ...bench.database,
      async query(text, values) {
        if (down && text.startsWith('update')) throw new StoreUnavailable('gone');
        return bench.database.query(text, values);
      },
    };
    const webhooks = await bench.open({ database: flaky });
    await bench.send(webhooks, { url: at(receiver.port) });
    expect(receiver.received).toEqual([]);
    expect(bench.logged).toContainEqual(
      expect.objectContaining({ msg: 'webhook deliveries cannot be read at the moment', reason: 'gone' }),
    );
    down = false;
    await bench.advance(webhooks, 5_000);
    expect((await onlyDelivery(webhooks)).status).toBe('delivered');
  });
});

describe('several processes and crashes', () => {
  it('[HOOK-28] who dies between sending and recording leaves it to be sent again, the same body and key', async () => {
    const receiver = await bench.receive();
    let dies = true;
    const dying: Database = {
      ...bench.database,
      async query(text, values) {
        if (dies && text.includes('attempts = attempts + 1')) throw new StoreUnavailable('killed');
        return bench.database.query(text, values);
      },
    };
    const webhooks = await bench.open({ database: dying });
    await bench.send(webhooks, { url: at(receiver.port) });
    expect(receiver.received).toHaveLength(1);
    expect(await onlyDelivery(webhooks)).toMatchObject({ status: 'waiting', attempts: 0 });
    dies = false;
    await bench.advance(webhooks, 30 * secondMs - 1);
    expect(receiver.received).toHaveLength(1);
    await bench.advance(webhooks, 1);
    const [first, second] = receiver.received;
    expect(second?.body).toEqual(first?.body);
    const key = (of = first) => of?.headers['x-service-idempotency-key'];
    expect(key(second)).toBe(key());
    expect(second?.headers['x-service-signature']).not.toBe(first?.headers['x-service-signature']);
    expect(await onlyDelivery(webhooks)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('two that share the database send each delivery once', async () => {
    const receiver = await bench.receive();
    const url = bench.databaseUrl;
    const second = url === undefined ? undefined : await openPostgres({ url });
    try {
      const one = await bench.open();
      const two = await bench.open(second === undefined ? {} : { database: second });
      const urls = Array.from({ length: 40 }, (_, index) => at(receiver.port, `host-${index}.example`));
      await write(one, urls);
      await receiver.arrived(40);
      await Promise.all([one.idle(), two.idle()]);
      expect(receiver.received).toHaveLength(40);
      expect(await one.deliveries({ status: 'delivered', limit: 100 })).toHaveLength(40);
      await two.close();
    } finally {
      await second?.close();
    }
  });

  it('who has lost the lease can no longer say how it went', async () => {
    const holder = createHolder();
    const receiver = await bench.receive(holder.listener);
    const webhooks = await bench.open();
    await write(webhooks, [at(receiver.port)]);
    await receiver.arrived(1);
    const now = bench.clock.now() + 30 * secondMs;
    const taken = await leaseDue(bench.database, {
      lease: 'of another process',
      now,
      until: now + 30_000,
      busyHosts: [],
      busySubscriptions: [],
    });
    expect(taken?.id).toBe('video_000-completed');
    holder.release();
    await webhooks.idle();
    expect(await onlyDelivery(webhooks)).toMatchObject({ status: 'waiting', attempts: 0 });
  });

  it('close() lets what is under way end', async () => {
    const holder = createHolder();
    const receiver = await bench.receive(holder.listener);
    const webhooks = await bench.open();
    await write(webhooks, [at(receiver.port)]);
    await receiver.arrived(1);
    const closed = webhooks.close();
    holder.release();
    await closed;
    expect((await onlyDelivery(webhooks)).status).toBe('delivered');
    expect(bench.clock.timers()).toEqual([]);
  });

  it('close() breaks off what takes too long and gives it back: it counts as no attempt', async () => {
    const receiver = await bench.receive(createHolder().listener);
    const webhooks = await bench.open({
      closeGraceMs: 1_000,
      schedule(work, delayMs) {
        // What waits for the end of the grace is called at once.
        if (delayMs === 1_000) queueMicrotask(work);
        return () => {};
      },
    });
    await write(webhooks, [at(receiver.port)]);
    await receiver.arrived(1);
    await webhooks.close();
    expect(await onlyDelivery(webhooks)).toMatchObject({
      status: 'waiting',
      attempts: 0,
      nextAttemptAt: bench.clock.now(),
    });
  });
});

describe('history', () => {
  it('lists newest first, page by page, by subscription, job and status', async () => {
    const receiver = await bench.receive((request, response) => {
      response.writeHead(request.headers.host?.startsWith('bad') ? 500 : 200).end();
    });
    const webhooks = await bench.open();
    const send = async (id: string, subscriptionId: string, host: string) => {
      bench.clock.advance(secondMs);
      await bench.send(webhooks, { jobId: id, subscriptionId, url: at(receiver.port, host) });
    };
    await send('video_a', 'sub_1', 'good.example');
    await send('video_b', 'sub_2', 'good.example');
    await send('video_c', 'sub_1', 'bad.example');
    const jobs = async (filter: Partial<Parameters<typeof webhooks.deliveries>[0]>) =>
      (await webhooks.deliveries({ limit: 10, ...filter })).map((delivery) => delivery.jobId);
    expect(await jobs({})).toEqual(['video_c', 'video_b', 'video_a']);
    expect(await jobs({ limit: 2 })).toEqual(['video_c', 'video_b']);
    expect(await jobs({ after: 'video_b-completed' })).toEqual(['video_a']);
    expect(await jobs({ subscriptionId: 'sub_1' })).toEqual(['video_c', 'video_a']);
    expect(await jobs({ subscriptionId: 'sub_1', after: 'video_c-completed' })).toEqual(['video_a']);
    expect(await jobs({ jobId: 'video_b' })).toEqual(['video_b']);
    expect(await jobs({ status: 'waiting' })).toEqual(['video_c']);
    expect(await jobs({ status: 'given_up' })).toEqual([]);
    const { body, ...delivery } = (await webhooks.delivery('video_c-completed'))!;
    expect(JSON.parse(body)).toMatchObject({ type: 'video.generation.completed' });
    expect(await webhooks.deliveries({ limit: 1 })).toEqual([delivery]);
    expect(await webhooks.delivery('video_none-completed')).toBeUndefined();
  });

  it('resend() sends a delivered one once more: the same body and key, with a ladder of its own', async () => {
    let answer = 200;
    const receiver = await bench.receive((_, response) => void response.writeHead(answer).end());
    const webhooks = await bench.open();
    await bench.send(webhooks, { url: at(receiver.port) });
    bench.clock.advance(minuteMs);
    answer = 500;
    expect(await webhooks.resend(`${jobId}-completed`)).toMatchObject({ status: 'waiting', attempts: 0 });
    await receiver.arrived(2);
    await webhooks.idle();
    expect(receiver.received[1]?.body).toEqual(receiver.received[0]?.body);
    expect(await onlyDelivery(webhooks)).toMatchObject({
      status: 'waiting',
      attempts: 1,
      nextAttemptAt: bench.clock.now() + 30 * secondMs,
    });
    expect(await webhooks.resend('video_none-completed')).toBeUndefined();
  });

  it('resend() of one that is under way counts: what that attempt comes to is not recorded over it', async () => {
    const holder = createHolder();
    const receiver = await bench.receive(holder.listener);
    const webhooks = await bench.open();
    await write(webhooks, [at(receiver.port)]);
    await receiver.arrived(1);
    await webhooks.resend('video_000-completed');
    await receiver.arrived(2);
    holder.held.shift()?.writeHead(500).end();
    holder.held.shift()?.end();
    await webhooks.idle();
    expect(await onlyDelivery(webhooks)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('is kept for 30 days after the end; what still waits is never swept', async () => {
    const good = await bench.receive();
    const bad = await bench.receive(refuse);
    const webhooks = await bench.open();
    await bench.send(webhooks, { jobId: 'video_a', url: at(good.port) });
    const left = async () => {
      await sweepEnded();
      return (await webhooks.deliveries({ limit: 10 })).map((delivery) => delivery.jobId);
    };
    /** A sweep ends by setting its next timer. */
    async function sweepEnded() {
      await webhooks.idle();
      while (!bench.clock.timers().some((due) => due > bench.clock.now()))
        await webhooks.deliveries({ limit: 1 });
    }
    await bench.advance(webhooks, 30 * dayMs - 1);
    expect(await left()).toEqual(['video_a']);
    await bench.send(webhooks, { jobId: 'video_b', url: at(bad.port) });
    // Nobody looks for a year: it was not delivered, so it is still there.
    await bench.database.query(
      `update webhook_deliveries set created_at = 0, next_attempt_at = $1 where job_id = 'video_b'`,
      [bench.clock.now() + 365 * dayMs],
    );
    await bench.advance(webhooks, 60 * minuteMs);
    await expect.poll(left).toEqual(['video_b']);
  });
});
