import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createShell, type Shell } from '../../../test/support/shell.ts';
import { createWebhookBench, type Receiver, type WebhookBench } from '../../../test/support/webhook-bench.ts';
import { createLog } from '../../lib/log.ts';
import { createValidator } from '../../lib/schema.ts';
import { type Accounts, createAccounts } from '../../platform/accounts/index.ts';
import type { RunningWebhooks } from '../../platform/webhooks/index.ts';
import { adminRoutes } from './index.ts';

const adminToken = 'operator-token-of-the-test';
let bench: WebhookBench;
let accounts: Accounts;
let webhooks: RunningWebhooks;
let receiver: Receiver;
let shell: Shell;
let subscriptionId: string;

beforeEach(async () => {
  bench = await createWebhookBench();
  accounts = createAccounts({ database: bench.database, now: bench.clock.now, log: createLog('silent') });
  await accounts.start();
  ({ id: subscriptionId } = await accounts.createSubscription('Acme'));
  webhooks = await bench.open();
  receiver = await bench.receive((request, response) => {
    response.writeHead(request.url === '/bad' ? 500 : 200).end();
  });
  shell = createShell(adminRoutes, { adminToken, platform: { accounts, webhooks } });
});
afterEach(async () => {
  await shell.close();
  await accounts.close();
  await bench.close();
});

function ask(path: string, method: 'GET' | 'POST' = 'GET') {
  return shell.send({ method, url: `/v1/admin/webhooks/deliveries${path}`, key: adminToken });
}

async function send(jobId: string, path: string, owner = subscriptionId) {
  bench.clock.advance(1_000);
  const url = `http://127.0.0.1:${receiver.port}${path}`;
  await bench.send(webhooks, { jobId, url, subscriptionId: owner, data: { id: jobId } });
}

describe('the operator reads deliveries', () => {
  it('newest first, with what came of each', async () => {
    await send('video_a', '/good');
    await send('video_b', '/bad');
    const now = Math.floor(bench.clock.now() / 1000);
    const { status, ...answer } = await ask('');
    expect(status).toBe(200);
    const common = { object: 'webhook.delivery', subscription_id: subscriptionId, attempts: 1 };
    expect(answer.json()).toEqual({
      object: 'list',
      data: [
        {
          ...common,
          id: 'video_b-completed',
          job_id: 'video_b',
          type: 'video.generation.completed',
          url: `http://127.0.0.1:${receiver.port}/bad`,
          status: 'waiting',
          created_at: now,
          next_attempt_at: now + 30,
          last_status: 500,
          last_error: 'the receiver answered 500',
          delivered_at: null,
        },
        {
          ...common,
          id: 'video_a-completed',
          job_id: 'video_a',
          type: 'video.generation.completed',
          url: `http://127.0.0.1:${receiver.port}/good`,
          status: 'delivered',
          created_at: now - 1,
          next_attempt_at: null,
          last_status: 200,
          last_error: null,
          delivered_at: now - 1,
        },
      ],
      has_more: false,
    });
  });

  it('by subscription, job and status, page by page', async () => {
    await send('video_a', '/good');
    await send('video_b', '/bad', 'sub_other');
    await send('video_c', '/good');
    const jobs = async (query: string) => {
      const { data, has_more } = (await ask(query)).json();
      return [data.map(({ job_id }: { job_id: string }) => job_id), has_more];
    };
    expect(await jobs('?subscription=Acme')).toEqual([['video_c', 'video_a'], false]);
    expect(await jobs('?job=video_b')).toEqual([['video_b'], false]);
    expect(await jobs('?status=delivered')).toEqual([['video_c', 'video_a'], false]);
    expect(await jobs('?limit=2')).toEqual([['video_c', 'video_b'], true]);
    expect(await jobs('?limit=2&after=video_b-completed')).toEqual([['video_a'], false]);
    expect((await ask('?status=lost')).status).toBe(400);
    expect((await ask('?limit=1001')).status).toBe(400);
    expect((await ask('?subscription=nobody')).status).toBe(404);
  });

  it('one of them with the text that it sends', async () => {
    await send('video_a', '/good');
    const answer = await ask('/video_a-completed');
    expect(answer.json().body).toBe(receiver.received[0]?.body.toString());
  });
});

describe('the operator sends again', () => {
  it('a delivery goes out once more with the same body and key', async () => {
    await send('video_a', '/good');
    const answer = await ask('/video_a-completed/resend', 'POST');
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ status: 'waiting', attempts: 0, delivered_at: null });
    await receiver.arrived(2);
    await webhooks.idle();
    expect(receiver.received[1]?.body).toEqual(receiver.received[0]?.body);
    expect((await ask('/video_a-completed')).json()).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('one that is not there is a 404', async () => {
    for (const answer of [await ask('/video_x-completed'), await ask('/video_x-completed/resend', 'POST')]) {
      expect(answer.status).toBe(404);
      expect(answer.json().error.message).toBe('There is no webhook delivery "video_x-completed"');
    }
  });
});

it('the routes answer what they declare', async () => {
  await send('video_a', '/bad');
  const calls = [
    ['GET', '', ''],
    ['GET', '/video_a-completed', '/{id}'],
    ['POST', '/video_a-completed/resend', '/{id}/resend'],
  ] as const;
  for (const [method, path, declared] of calls) {
    const { response } = adminRoutes.find(
      (route) => route.method === method && route.path === `/admin/webhooks/deliveries${declared}`,
    )!;
    expect(createValidator(response!).check((await ask(path, method)).json()), declared).toBe(true);
  }
});
