/** Requests with an Idempotency-Key through the real shell, on a route that stands in for the paid ones. */
import { request as send } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import Type from 'typebox';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { createShell, type Shell, shellKey } from '../../test/support/shell.ts';
import { common } from '../../test/support/shell-routes.ts';
import { routes as apiRoutes } from '../api/index.ts';
import { migrationsFolder } from '../compose.ts';
import { GatewayError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { createIdempotency, type Idempotency } from '../platform/idempotency/index.ts';
import { createObjects, type Objects } from '../platform/objects/index.ts';
import { migrate } from '../storage/migrate.ts';
import { toOpenApi } from './openapi.ts';
import { EventReply, json, Reply } from './reply.ts';
import { type Call, defineRoute } from './route.ts';

let test: TestDatabase;
let objects: Objects;
let idempotency: Idempotency;
let shell: Shell;
let time: number;
/** How often something was made and paid. */
let runs: number;
let seen: Call | undefined;
let answer: (call: Call) => unknown;

const Body = Type.Object({ prompt: Type.String(), n: Type.Optional(Type.Integer()) });

function paid(path: string) {
  return defineRoute({
    ...common,
    method: 'POST',
    path,
    access: 'key',
    body: Body,
    multipart: { files: { image: { maxCount: 2, maxBytes: 1000 } } },
    success: 202,
    generation: true,
    idempotent: true,
    handle(call) {
      runs++;
      seen = call;
      return answer(call);
    },
  });
}
const routes = [
  paid('/videos'),
  paid('/music'),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/free',
    access: 'key',
    body: Body,
    handle: () => ({ runs: ++runs }),
  }),
];

beforeEach(async () => {
  test = await createTestDatabase();
  await migrate(test.database, { folder: migrationsFolder });
  time = 1_790_000_000_000;
  runs = 0;
  answer = () => ({ made: runs });
  const parts = { log: createLog('silent'), now: () => time };
  objects = createObjects({ folder: join(test.folder, 'objects'), ...parts });
  idempotency = createIdempotency({ database: test.database, objects, ...parts });
  const authenticate = (secret: string) =>
    secret === shellKey || secret === 'rh_other'
      ? { subscriptionId: `sub_of_${secret}`, keyId: 'key_1', keyName: 'test' }
      : undefined;
  shell = createShell(routes, { platform: { idempotency, accounts: { authenticate } as never } });
});
afterEach(async () => {
  await shell.close();
  await idempotency.close();
  await objects.close();
  await test.close();
});

function post(key: string | undefined, payload: unknown = { prompt: 'a' }, more: object = {}) {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return shell.send({ method: 'POST', url: '/v1/videos', payload, headers, ...more });
}

function form(image: string, prompt = 'a') {
  const boundary = `b${Math.random().toString(36).slice(2)}`;
  const part = (head: string, body: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
  return {
    payload: Buffer.from(
      `${part('name="prompt"', prompt)}${part('name="image"; filename="a.png"', image)}--${boundary}--\r\n`,
    ),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'idempotency-key': 'k' },
  };
}

describe('a request with an Idempotency-Key', () => {
  it('[IDEM-2, IDEM-3] that is repeated gets the stored status and body, and nothing is made twice', async () => {
    const first = await post('k');
    expect([first.status, first.json()]).toEqual([202, { made: 1 }]);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    const second = await post('k');
    expect([second.status, second.body, second.headers['idempotent-replayed']]).toEqual([
      202,
      first.body,
      'true',
    ]);
    expect(second.headers['content-type']).toBe(first.headers['content-type']);
    expect(second.headers['x-generation-id']).toBe(first.headers['x-generation-id']);
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(runs).toBe(1);
    expect((await post('other')).json()).toEqual({ made: 2 });
    expect((await post(undefined)).json()).toEqual({ made: 3 });
    expect((await post(undefined)).json()).toEqual({ made: 4 });
  });

  it('keeps the status and the headers of a reply of its own, and bytes as they are', async () => {
    answer = () => json({ id: 1 }, { status: 201, headers: { 'openai-poll-after-ms': '2000' } });
    await post('a');
    expect(await post('a')).toMatchObject({ status: 201, headers: { 'openai-poll-after-ms': '2000' } });
    const bytes = Buffer.from([0, 255, 128, 10]);
    answer = () => new Reply(bytes, { status: 200, headers: { 'content-type': 'image/png' } });
    await post('b');
    const replayed = await post('b');
    expect([replayed.status, replayed.headers['content-type'], replayed.bytes.equals(bytes)]).toEqual([
      200,
      'image/png',
      true,
    ]);
    answer = () => undefined;
    await post('c');
    expect((await post('c')).headers['idempotent-replayed']).toBe('true');
  });

  it('is given again from storage, piece by piece, however large its answer is', async () => {
    const body = Buffer.alloc(3_000_000, 'x');
    answer = () => new Reply(body, { status: 200, headers: { 'content-type': 'image/png' } });
    await post('k');
    const whole = vi.spyOn(objects, 'read');
    const again = await post('k');
    expect([again.headers['content-length'], again.bytes.equals(body)]).toEqual(['3000000', true]);
    expect(whole).not.toHaveBeenCalled();
  });

  it('is the same however its fields are ordered, and another one with another value', async () => {
    await post('k', { prompt: 'a', n: 1 });
    expect(
      (
        await post('k', '{"n":1,  "prompt":"\\u0061"}', {
          headers: { 'idempotency-key': 'k', 'content-type': 'application/json' },
        })
      ).headers['idempotent-replayed'],
    ).toBe('true');
    expect((await post('k', { prompt: 'a', n: 1, ignored: { b: 1 } })).status).toBe(400);
  });

  it('[IDEM-4] with another body, file or route is a 400 naming Idempotency-Key', async () => {
    await post('k');
    for (const wrong of [
      await post('k', { prompt: 'b' }),
      await post('k', { prompt: 'a', n: 1 }),
      await post('k', { prompt: 'a' }, { url: '/v1/music' }),
    ]) {
      expect(wrong.status).toBe(400);
      expect(wrong.json().error).toMatchObject({ param: 'Idempotency-Key' });
      expect(wrong.json().error.message).toContain('Idempotency-Key');
    }
    expect(runs).toBe(1);
  });

  it('[IDEM-4] as a form is known by its files, not by how it was cut into parts', async () => {
    const url = '/v1/videos';
    await shell.send({ method: 'POST', url, ...form('picture') });
    const again = await shell.send({ method: 'POST', url, ...form('picture') });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await shell.send({ method: 'POST', url, ...form('picturf') })).status).toBe(400);
    expect((await shell.send({ method: 'POST', url, ...form('picture', 'b') })).status).toBe(400);
    expect((await post('k')).status).toBe(400);
  });

  it('[IDEM-5] while the first still runs is a 409 with x-should-retry: false', async () => {
    const gate = Promise.withResolvers<void>();
    answer = () => gate.promise.then(() => ({ made: runs }));
    const first = post('k');
    await expect.poll(() => runs).toBe(1);
    const second = await post('k');
    expect([second.status, second.headers['x-should-retry']]).toEqual([409, 'false']);
    gate.resolve();
    expect((await first).status).toBe(202);
    expect((await post('k')).json()).toEqual({ made: 1 });
  });

  it('[IDEM-6] may have a key of 255 characters; 256, or none at all, is a 400 naming it', async () => {
    expect((await post('k'.repeat(255))).status).toBe(202);
    for (const key of ['k'.repeat(256), '']) {
      const refused = await post(key);
      expect([refused.status, refused.json().error.param]).toEqual([400, 'Idempotency-Key']);
    }
    expect(runs).toBe(1);
  });

  it('[IDEM-7] has its key for itself in its subscription', async () => {
    await post('k');
    expect((await post('k', { prompt: 'b' }, { key: 'rh_other' })).json()).toEqual({ made: 2 });
    expect((await post('k', { prompt: 'b' }, { key: 'rh_other' })).json()).toEqual({ made: 2 });
  });

  it('[IDEM-8] is forgotten after 24 hours', async () => {
    await post('k');
    time += 24 * 3_600_000 - 1;
    expect((await post('k')).json()).toEqual({ made: 1 });
    time += 1;
    expect((await post('k', { prompt: 'b' })).json()).toEqual({ made: 2 });
  });

  it('that fails, or answers with anything but a success, may be tried again with its key', async () => {
    answer = () => {
      throw new GatewayError('overloaded', 'Busy');
    };
    expect((await post('k')).status).toBe(503);
    answer = () => json({ no: true }, { status: 404 });
    expect((await post('k', { prompt: 'b' })).status).toBe(404);
    answer = () => ({ made: runs });
    expect((await post('k')).json()).toEqual({ made: 3 });
  });

  it('that is refused has let go of its key before its client can know', async () => {
    const { claim } = idempotency;
    let isFree = false;
    vi.spyOn(idempotency, 'claim').mockImplementation(async (...asked) => {
      const claimed = await claim(...asked);
      if (claimed.type === 'replay') return claimed;
      const release = async () => {
        await claimed.release();
        // However long it takes.
        await new Promise((resolve) => setTimeout(resolve, 20));
        isFree = true;
      };
      return { ...claimed, release };
    });
    for (const refuse of [
      () => json({ no: true }, { status: 404 }),
      () => Promise.reject(new GatewayError('overloaded', 'Busy')),
    ]) {
      answer = refuse;
      isFree = false;
      expect((await post('k')).status).toBeGreaterThan(400);
      expect(isFree).toBe(true);
    }
  });

  it('that is refused before it runs leaves its key free', async () => {
    expect((await post('k', { prompt: 7 })).status).toBe(400);
    expect((await post('k', undefined, { key: null })).status).toBe(401);
    expect((await post('k')).json()).toEqual({ made: 1 });
  });

  it('that is answered by a stream is not kept; its key is taken until the stream has ended', async () => {
    const gate = Promise.withResolvers<void>();
    async function* events() {
      yield { data: { at: 1 } };
      await gate.promise;
      yield { data: '[DONE]' };
    }
    answer = () => new EventReply(events(), () => []);
    const first = post('k');
    await expect.poll(() => runs).toBe(1);
    expect((await post('k')).status).toBe(409);
    gate.resolve();
    expect((await first).body).toContain('[DONE]');
    answer = () => new Reply(Readable.from([Buffer.from('x')]), { status: 200 });
    // The end of a stream is read a moment before its key is free.
    await expect.poll(async () => (await post('k')).body).toBe('x');
    answer = () => ({ made: runs });
    await expect.poll(async () => (await post('k')).json()).toEqual({ made: 3 });
  });

  it('on a route that does not know the header is run like any other', async () => {
    for (const made of [1, 2]) {
      const free = await post('k', { prompt: 'a' }, { url: '/v1/free' });
      expect(free.json()).toEqual({ runs: made });
    }
  });

  it('is described in the reference, with its 409', () => {
    const operation = toOpenApi(routes, '1').paths['/videos']?.['post'];
    expect(operation?.parameters).toContainEqual(
      expect.objectContaining({ name: 'Idempotency-Key', in: 'header', required: false }),
    );
    expect(operation?.responses).toHaveProperty('409');
    expect(toOpenApi(routes, '1').paths['/free']?.['post']?.parameters).toBeUndefined();
  });
});

describe('the routes', () => {
  it('[IDEM-1] that are paid and made of one request honour it', () => {
    const honouring = apiRoutes
      .filter((route) => route.idempotent)
      .map(({ method, path }) => `${method} ${path}`);
    expect(honouring.toSorted()).toEqual([
      'POST /images',
      'POST /images/edits',
      'POST /images/generations',
      'POST /music',
      'POST /videos',
    ]);
  });
});

describe('a client that leaves', () => {
  /** Sends over a real socket and hangs up once the handler runs. */
  async function leave(headers: Record<string, string>): Promise<void> {
    const address = await shell.listen();
    const before = runs;
    const request = send(`${address}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shellKey}`, 'content-type': 'application/json', ...headers },
    });
    request.on('error', () => {});
    request.end('{"prompt":"a"}');
    await expect.poll(() => runs).toBe(before + 1);
    request.destroy();
    await expect.poll(() => shell.logged.at(-1)).toMatchObject({ msg: 'request', status: 499 });
  }

  it('with a key finds the answer when it comes back', async () => {
    const gate = Promise.withResolvers<void>();
    answer = () => gate.promise.then(() => ({ made: runs }));
    await leave({ 'idempotency-key': 'k' });
    expect(seen?.presence.aborted).toBe(false);
    expect((await post('k')).status).toBe(409);
    gate.resolve();
    await expect.poll(async () => (await post('k')).headers['idempotent-replayed']).toBe('true');
    expect(runs).toBe(1);
  });

  it('is told of as always where it has no key, and where a stream has begun', async () => {
    const gate = Promise.withResolvers<void>();
    answer = () => gate.promise;
    await leave({});
    expect(seen?.presence.aborted).toBe(true);
    gate.resolve();
    const later = Promise.withResolvers<void>();
    async function* events() {
      await new Promise<void>((resolve) => seen?.presence.addEventListener('abort', () => resolve()));
      later.resolve();
      yield { data: 1 };
    }
    answer = () => new EventReply(events(), () => []);
    await leave({ 'idempotency-key': 's' });
    await later.promise;
    answer = () => ({ made: runs });
    await expect.poll(async () => (await post('s')).status).toBe(202);
  });
});
