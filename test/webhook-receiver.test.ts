/** The example receiver, as a process of its own, takes what the gateway sends and nothing else. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { toSignature } from '../src/platform/webhooks/sign.ts';
import { createWebhookBench, onlyDelivery, type WebhookBench } from './support/webhook-bench.ts';

const example = fileURLToPath(new URL('../examples/webhook-receiver/receiver.ts', import.meta.url));
let bench: WebhookBench;
let child: ChildProcess;
let lines: AsyncIterator<string>;
let reader: Interface;

beforeEach(async () => {
  bench = await createWebhookBench();
});
afterEach(async () => {
  reader.close();
  child.kill();
  await once(child, 'close');
  await bench.close();
});

async function start(secret: string): Promise<string> {
  child = spawn(process.execPath, [example], {
    env: { PATH: process.env['PATH'], WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  reader = createInterface({ input: child.stdout! });
  lines = reader[Symbol.asyncIterator]();
  const { port } = JSON.parse((await nextLine()).replace('listening on ', ''));
  return `http://127.0.0.1:${port}/`;
}

const nextLine = async () => (await lines.next()).value as string;

it('a delivery is taken, once, and a forged or an old one is not', async () => {
  // The example looks at the real clock.
  const webhooks = await bench.open({ now: Date.now });
  const { secret } = await webhooks.secret('sub_1');
  const url = await start(secret);
  await bench.send(webhooks, {
    url,
    jobId: 'video_a',
    data: { id: 'video_a', unsigned_urls: ['https://x/'] },
  });
  expect(await onlyDelivery(webhooks)).toMatchObject({ status: 'delivered', lastStatus: 204 });
  expect(await nextLine()).toBe('video.generation.completed video_a https://x/');

  const body = Buffer.from('{"type":"forged","data":{"id":"x"}}');
  const now = Math.floor(Date.now() / 1000);
  const post = async (signature: string, key = 'x-1') => {
    const headers = { 'x-service-signature': signature, 'x-service-idempotency-key': key };
    return (await fetch(url, { method: 'POST', body, headers })).status;
  };
  expect(await post('')).toBe(401);
  expect(await post(`t=${now},v1=${'0'.repeat(64)}`)).toBe(401);
  expect(await post(toSignature(['whsec_wrong'], body, now))).toBe(401);
  expect(await post(toSignature([secret], body, now - 310))).toBe(401);
  expect(await post(toSignature(['whsec_new', secret], body, now), 'video_a-completed')).toBe(204);
  // The repeated key was taken and did nothing: the next line is of the next event.
  expect(await post(toSignature([secret], body, now), 'x-2')).toBe(204);
  expect(await nextLine()).toBe('forged x ');
});
