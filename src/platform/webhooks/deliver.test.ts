/** Deliveries to real receivers, on SQLite, or on PostgreSQL when DATABASE_URL is set. Only the clock is the test's. */
import { createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCertificate } from '../../../test/support/certificate.ts';
import {
  createWebhookBench,
  loopback,
  onlyDelivery,
  type WebhookBench,
} from '../../../test/support/webhook-bench.ts';
import { isSigned } from './sign.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const ladderMs = [30 * secondMs, 2 * minuteMs, 10 * minuteMs, hourMs, 6 * hourMs];
const jobId = 'video_0123456789abcdef01234567';
let bench: WebhookBench;

beforeEach(async () => {
  bench = await createWebhookBench();
});
afterEach(() => bench.close());

const at = (port: number, host = '127.0.0.1') => `http://${host}:${port}/hooks?from=gateway`;
const seconds = () => Math.floor(bench.clock.now() / 1000);

describe('what is sent', () => {
  it('[HOOK-15] the body is {type, created_at, data}, created_at the Unix seconds of the event', async () => {
    const receiver = await bench.receive();
    const webhooks = await bench.open();
    bench.clock.advance(1_999);
    const data = { id: jobId, status: 'failed', error: 'The engine "gave up" 🐻', error_code: 'server' };
    await bench.send(webhooks, { url: at(receiver.port), kind: 'music', ending: 'failed', data });
    const [{ method, path, body }] = receiver.received as [(typeof receiver.received)[0]];
    expect({ method, path }).toEqual({ method: 'POST', path: '/hooks?from=gateway' });
    const parsed = JSON.parse(body.toString());
    expect(Object.keys(parsed)).toEqual(['type', 'created_at', 'data']);
    expect(parsed).toEqual({ type: 'music.generation.failed', created_at: seconds(), data });
  });

  it('[HOOK-18] [HOOK-20] [HOOK-21] it says what it is, and carries nothing else: no API key', async () => {
    const receiver = await bench.receive();
    const webhooks = await bench.open();
    await bench.send(webhooks, { url: at(receiver.port) });
    const { headers, body } = receiver.received[0]!;
    expect(headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'close',
      'content-type': 'application/json',
      'content-length': String(body.length),
      'user-agent': 'Roundhouse-Webhooks/1.0',
      'x-service-signature': expect.any(String),
      'x-service-idempotency-key': `${jobId}-completed`,
    });
  });

  it('[HOOK-19] [HOOK-22] [HOOK-23] it is signed with the secret that the subscription reads', async () => {
    const receiver = await bench.receive();
    const webhooks = await bench.open();
    await bench.send(webhooks, { url: at(receiver.port) });
    const { headers, body } = receiver.received[0]!;
    const signature = headers['x-service-signature'] as string;
    expect(signature).toMatch(new RegExp(`^t=${seconds()},v1=[0-9a-f]{64}$`));
    const { secret } = await webhooks.secret('sub_1');
    expect(isSigned(secret, signature, body, seconds())).toBe(true);
    expect(isSigned((await webhooks.secret('sub_2')).secret, signature, body, seconds())).toBe(false);
  });

  it('[HOOK-12] [HOOK-13] [HOOK-14] it carries two v1 after a rotation, never three, and one 24 h later', async () => {
    const receiver = await bench.receive();
    const webhooks = await bench.open();
    const first = await webhooks.secret('sub_1');
    const second = await webhooks.rotate('sub_1');
    const signatureOf = async (id: string) => {
      await bench.send(webhooks, { url: at(receiver.port), jobId: id });
      return receiver.received.at(-1)!;
    };
    const accepted = ({ headers, body }: Awaited<ReturnType<typeof signatureOf>>) => {
      const signature = headers['x-service-signature'] as string;
      const by = [first, second, third].filter(({ secret }) => isSigned(secret, signature, body, seconds()));
      return { by, count: signature.split(',').length - 1 };
    };
    let third = second;
    expect(accepted(await signatureOf('video_a'))).toEqual({ by: [first, second, second], count: 2 });
    third = await webhooks.rotate('sub_1');
    expect(accepted(await signatureOf('video_b'))).toEqual({ by: [second, third], count: 2 });
    bench.clock.advance(24 * hourMs);
    expect(accepted(await signatureOf('video_c'))).toEqual({ by: [third], count: 1 });
  });

  it('the word in the header names is the configured one', async () => {
    const receiver = await bench.receive();
    const webhooks = await bench.open({ settings: { brand: 'Acme' } });
    await bench.send(webhooks, { url: at(receiver.port) });
    const names = Object.keys(receiver.received[0]!.headers).filter((name) => name.startsWith('x-'));
    expect(names).toEqual(['x-acme-signature', 'x-acme-idempotency-key']);
    await expect(bench.open({ settings: { brand: 'A b\r\n' } })).rejects.toThrow('name of a header');
  });

  it('the same job and ending is one delivery, another ending of the job is another', async () => {
    const receiver = await bench.receive();
    const webhooks = await bench.open();
    for (const ending of ['completed', 'completed', 'expired'] as const)
      await bench.send(webhooks, { url: at(receiver.port), ending });
    expect(receiver.received.map(({ headers }) => headers['x-service-idempotency-key'])).toEqual([
      `${jobId}-completed`,
      `${jobId}-expired`,
    ]);
  });

  it('an event of a transaction that is rolled back is never sent', async () => {
    const receiver = await bench.receive();
    const webhooks = await bench.open();
    const work = bench.database.transaction(async (tx) => {
      await webhooks.enqueue(tx, {
        subscriptionId: 'sub_1',
        jobId,
        kind: 'video',
        ending: 'completed',
        url: at(receiver.port),
        data: {},
      });
      throw new Error('rolled back');
    });
    await expect(work).rejects.toThrow('rolled back');
    webhooks.wake();
    await webhooks.idle();
    expect(receiver.received).toEqual([]);
    expect(await webhooks.deliveries({ limit: 10 })).toEqual([]);
  });
});

describe('what ends a delivery', () => {
  it.each([200, 201, 202, 204, 299])('[HOOK-24] %i does', async (status) => {
    const receiver = await bench.receive((_, response) => void response.writeHead(status).end());
    const webhooks = await bench.open();
    await bench.send(webhooks, { url: at(receiver.port) });
    expect(await onlyDelivery(webhooks)).toMatchObject({
      status: 'delivered',
      attempts: 1,
      lastStatus: status,
      lastError: undefined,
      nextAttemptAt: undefined,
      deliveredAt: bench.clock.now(),
    });
    await bench.advance(webhooks, 24 * hourMs);
    expect(receiver.received).toHaveLength(1);
  });

  it('[HOOK-24] a 2xx counts also when a long or endless body follows it', async () => {
    const receiver = await bench.receive((request, response) => {
      response.writeHead(200).write('x'.repeat(request.url === '/long' ? 1_000_000 : 1));
    });
    const webhooks = await bench.open({ answerTimeoutMs: 1_500 });
    await bench.send(webhooks, { url: `http://127.0.0.1:${receiver.port}/long`, jobId: 'video_a' });
    await bench.send(webhooks, { url: `http://127.0.0.1:${receiver.port}/endless`, jobId: 'video_b' });
    const statuses = (await webhooks.deliveries({ limit: 5 })).map(({ status }) => status);
    expect(statuses).toEqual(['delivered', 'delivered']);
  });

  it('[HOOK-24] over https it does the same, and a certificate that nobody vouches for is a failure', async () => {
    const certificate = createCertificate('hooks.example');
    const receiver = await bench.receive(undefined, certificate);
    const webhooks = await bench.open();
    const url = `https://hooks.example:${receiver.port}/`;
    await bench.send(webhooks, { url });
    expect(await onlyDelivery(webhooks)).toMatchObject({
      status: 'waiting',
      lastError: 'callback_url could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
    expect(receiver.received).toEqual([]);
    const known = getCACertificates('default');
    setDefaultCACertificates([...known, certificate.cert]);
    try {
      await bench.advance(webhooks, 30 * secondMs);
      expect(await onlyDelivery(webhooks)).toMatchObject({ status: 'delivered', attempts: 2 });
      expect(receiver.received).toHaveLength(1);
    } finally {
      setDefaultCACertificates(known);
    }
  });
});

describe('what causes a resend', () => {
  it.each([400, 401, 404, 410, 429, 500, 503])('[HOOK-26] the answer %i', async (status) => {
    const receiver = await bench.receive((_, response) => void response.writeHead(status).end('no'));
    const webhooks = await bench.open();
    await bench.send(webhooks, { url: at(receiver.port) });
    expect(await onlyDelivery(webhooks)).toMatchObject({
      status: 'waiting',
      attempts: 1,
      lastStatus: status,
      lastError: `the receiver answered ${status}`,
      nextAttemptAt: bench.clock.now() + 30 * secondMs,
    });
    await bench.advance(webhooks, 30 * secondMs);
    expect(receiver.received).toHaveLength(2);
  });

  it('[HOOK-26] no answer in time', async () => {
    const receiver = await bench.receive(() => {});
    const webhooks = await bench.open({ answerTimeoutMs: 1_000 });
    await bench.send(webhooks, { url: at(receiver.port) });
    expect(await onlyDelivery(webhooks)).toMatchObject({
      status: 'waiting',
      lastStatus: undefined,
      lastError: 'callback_url did not answer within 1 s',
    });
    await bench.advance(webhooks, 30 * secondMs);
    expect(receiver.received).toHaveLength(2);
  });

  it('[HOOK-26] the time that a receiver has is 10 s', async () => {
    const limits: (number | undefined)[] = [];
    const usual = await bench.open({
      safeFetch: {
        check: (url) => new URL(url),
        async post(_, { timeoutMs }) {
          limits.push(timeoutMs);
          return { status: 200 };
        },
      },
    });
    await bench.send(usual, { url: at(1), jobId: 'video_b' });
    expect(limits).toEqual([10_000]);
  });

  it('[HOOK-26] nobody listening, and a connection that is cut', async () => {
    const webhooks = await bench.open();
    await bench.send(webhooks, { url: at(1) });
    expect((await onlyDelivery(webhooks)).lastError).toBe('callback_url could not be reached (ECONNREFUSED)');
    const receiver = await bench.receive((request) => void request.socket.destroy());
    await bench.send(webhooks, { url: at(receiver.port), jobId: 'video_b' });
    expect((await webhooks.deliveries({ jobId: 'video_b', limit: 1 }))[0]).toMatchObject({
      status: 'waiting',
      attempts: 1,
      lastError: expect.stringContaining('could not be reached'),
    });
  });

  it.each([301, 302, 303, 307, 308])('[HOOK-25] a redirect (%i), which is not followed', async (status) => {
    const elsewhere = await bench.receive();
    const receiver = await bench.receive((request, response) => {
      const inside = request.url === '/inside';
      const location = inside ? 'http://169.254.169.254/latest/meta-data' : at(elsewhere.port);
      response.writeHead(status, { location }).end();
    });
    const webhooks = await bench.open();
    await bench.send(webhooks, { url: at(receiver.port) });
    await bench.send(webhooks, { url: `http://127.0.0.1:${receiver.port}/inside`, jobId: 'video_b' });
    for (const delivery of await webhooks.deliveries({ limit: 5 })) {
      expect(delivery).toMatchObject({
        status: 'waiting',
        lastStatus: status,
        lastError: `the receiver redirects (${status}), which is not followed`,
      });
    }
    await bench.advance(webhooks, 30 * secondMs);
    expect(receiver.received).toHaveLength(4);
    expect(elsewhere.received).toEqual([]);
  });
});

describe('the ladder', () => {
  it('[HOOK-27] [HOOK-28] six attempts with the same body and key, each with a fresh t and signature', async () => {
    const receiver = await bench.receive((_, response) => void response.writeHead(500).end());
    const webhooks = await bench.open();
    const { secret } = await webhooks.secret('sub_1');
    const sentAt: number[] = [];
    await bench.send(webhooks, { url: at(receiver.port) });
    sentAt.push(seconds());
    for (const [index, waitMs] of ladderMs.entries()) {
      await bench.advance(webhooks, waitMs - 1);
      expect(receiver.received, `just before resend ${index + 1}`).toHaveLength(index + 1);
      await bench.advance(webhooks, 1);
      expect(receiver.received, `resend ${index + 1}`).toHaveLength(index + 2);
      sentAt.push(seconds());
    }
    await bench.advance(webhooks, 48 * hourMs);
    expect(receiver.received).toHaveLength(6);
    const bodies = new Set(receiver.received.map(({ body }) => body.toString('hex')));
    const keys = new Set(receiver.received.map(({ headers }) => headers['x-service-idempotency-key']));
    expect([bodies.size, keys.size]).toEqual([1, 1]);
    const signatures = receiver.received.map(({ headers }) => headers['x-service-signature'] as string);
    expect(signatures.map((signature) => signature.split(',')[0])).toEqual(sentAt.map((t) => `t=${t}`));
    for (const [index, signature] of signatures.entries())
      expect(isSigned(secret, signature, receiver.received[index]!.body, sentAt[index]!)).toBe(true);
    expect(await onlyDelivery(webhooks)).toMatchObject({
      status: 'given_up',
      attempts: 6,
      lastStatus: 500,
      nextAttemptAt: undefined,
      deliveredAt: undefined,
    });
    expect(bench.logged).toContainEqual(expect.objectContaining({ msg: 'webhook given up', attempt: 6 }));
  });

  it('ends as soon as the receiver takes it', async () => {
    let broken = 2;
    const receiver = await bench.receive(
      (_, response) => void response.writeHead(broken-- > 0 ? 503 : 200).end(),
    );
    const webhooks = await bench.open();
    await bench.send(webhooks, { url: at(receiver.port) });
    for (const waitMs of ladderMs) await bench.advance(webhooks, waitMs);
    expect(receiver.received).toHaveLength(3);
    expect(await onlyDelivery(webhooks)).toMatchObject({
      status: 'delivered',
      attempts: 3,
      lastError: undefined,
    });
  });

  it('[HOOK-29] a failing receiver changes nothing but its own delivery: no job, no bill', async () => {
    const receiver = await bench.receive((_, response) => void response.writeHead(500).end());
    const webhooks = await bench.open();
    await bench.database.query(
      `insert into usage_days (subscription_id, day, model_id, operation, requests, prompt_tokens, completion_tokens,
         cached_tokens, reasoning_tokens, megapixels, seconds, cost_pico)
       values ('sub_1', '2026-11-15', 'film-one', 'video', 1, 0, 0, 0, 0, 0, 5, 70000)`,
    );
    const before = await everythingElse();
    await bench.send(webhooks, { url: at(receiver.port) });
    for (const waitMs of ladderMs) await bench.advance(webhooks, waitMs);
    expect((await onlyDelivery(webhooks)).status).toBe('given_up');
    expect(await everythingElse()).toEqual(before);
    expect(Object.keys(before)).toEqual(expect.arrayContaining(['jobs', 'ledger', 'usage_days']));
  });

  /** What the tables hold that are not of webhooks. */
  async function everythingElse(): Promise<Record<string, unknown>> {
    const tables = await bench.database.query<{ name: string }>(
      bench.database.dialect === 'sqlite'
        ? `select name from sqlite_master where type = 'table' and name not like 'sqlite%'`
        : 'select cast(tablename as text) as name from pg_tables where schemaname = current_schema()',
    );
    const held: Record<string, unknown> = {};
    for (const { name } of tables.filter((table) => !/^(webhook|migrations)/.test(table.name)))
      held[name] = await bench.database.query(`select * from ${name}`);
    return held;
  }
});

describe('addresses', () => {
  it('a name that resolves inside is refused on every attempt, without a connection', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const addresses = ['127.0.0.1', '10.0.0.7', '169.254.169.254', '::1', '::ffff:127.0.0.1', '100.64.0.1'];
    const asked: string[] = [];
    const resolve = async () => {
      const address = addresses[asked.length % addresses.length] as string;
      asked.push(address);
      return [{ address, family: address.includes(':') ? 6 : 4 }];
    };
    const webhooks = await bench.open({}, { resolve });
    await bench.send(webhooks, { url: `https://hooks.example:${port}/` });
    for (const waitMs of ladderMs) await bench.advance(webhooks, waitMs);
    expect(await onlyDelivery(webhooks)).toMatchObject({
      status: 'given_up',
      attempts: 6,
      lastStatus: undefined,
      lastError: 'callback_url must be an address on the public internet',
    });
    expect(asked).toEqual(addresses);
    expect(connections).toBe(0);
    await new Promise((done) => server.close(done));
  });

  it('the metadata address of a cloud is refused whatever networks are allowed', async () => {
    const wide = {
      allowedNetworks: ['0.0.0.0/0'],
      resolve: async () => [{ address: '169.254.169.254', family: 4 }],
    };
    const webhooks = await bench.open({}, wide);
    await bench.send(webhooks, { url: 'http://hooks.example/' });
    expect((await onlyDelivery(webhooks)).lastError).toContain('public internet');
  });

  it('checkUrl() takes https on a public host, as far as the name tells, and names the field', async () => {
    const webhooks = await bench.open({}, {});
    webhooks.checkUrl('https://hooks.example/a?b=c', 'callback_url');
    webhooks.checkUrl('https://93.184.216.34:8443/', 'callback_url');
    for (const url of [
      'http://hooks.example/',
      'https://10.0.0.1/',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://localhost/',
      'https://app.localhost./',
      'https://user:secret@hooks.example/',
      'ftp://hooks.example/',
      'hooks.example',
      '',
    ]) {
      expect(() => webhooks.checkUrl(url, 'callback_url'), url).toThrow(
        expect.objectContaining({ kind: 'invalid_request', param: 'callback_url' }),
      );
    }
    const inside = await bench.open({}, loopback);
    inside.checkUrl('http://localhost:1234/', 'callback_url');
  });
});
