/** Walks the whole route table of a composed gateway: what must hold on every route is asked of every route. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../src/api/index.ts';
import type { Method, Route } from '../src/http/route.ts';
import { createTestGateway, type TestGateway } from './support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ env: { ROUNDHOUSE_ADMIN_TOKEN: 'the-operator-token' } });
});
afterAll(() => gateway.close());

const address = ({ at, path }: Route) => {
  const kind = /^\/(video|music)/.exec(path)?.[1];
  const id = kind === undefined ? 'some-id' : `${kind}_0123456789abcdef01234567`;
  return `${at === '/' ? '' : at}${path.replaceAll(/\{\w+\+?\}/g, id)}`;
};
const describedAt = ['/openapi.json', '/docs'];
/** A signed link is its own key. */
const signed = ['/objects/{key+}'];
const specPublic = ['/models', '/models/count', '/model/{author}/{slug+}', '/embeddings/models'];

describe('every route', () => {
  it('[AUTH-12] the four public routes answer without a key', async () => {
    for (const url of [
      '/v1/models',
      '/v1/models/count',
      '/v1/model/any/sandbox-chat',
      '/v1/embeddings/models',
    ]) {
      expect((await gateway.inject({ url, key: null })).status, url).toBe(200);
    }
  });

  it('[AUTH-13] the four public routes ignore a wrong key: 200, not 401', async () => {
    for (const url of [
      '/v1/models',
      '/v1/models/count',
      '/v1/model/any/sandbox-chat',
      '/v1/embeddings/models',
    ]) {
      expect((await gateway.inject({ url, key: 'wrong' })).status, url).toBe(200);
      expect((await gateway.inject({ url, key: null, headers: { 'x-api-key': 'wrong' } })).status, url).toBe(
        200,
      );
    }
  });

  it('[AUTH-14] GET /models/{id} and GET /health without a key are a 401', async () => {
    for (const url of ['/v1/models/sandbox-chat', '/v1/models/a/b', '/v1/models/a%2Fb', '/v1/health']) {
      expect((await gateway.inject({ url, key: null })).status, url).toBe(401);
    }
  });

  it('[AUTH-15] GET /images/models and its endpoints route without a key are a 401', async () => {
    for (const url of ['/v1/images/models', '/v1/images/models/any/sandbox-image/endpoints']) {
      expect((await gateway.inject({ url, key: null })).status, url).toBe(401);
      expect((await gateway.inject({ url })).status, url).toBe(200);
    }
  });

  it('[AUTH-16, AUTH-1, AUTH-2] every other route is a 401 without a key, and takes one in either header', async () => {
    const guarded = routes.filter(({ path }) => ![...specPublic, ...describedAt, ...signed].includes(path));
    expect(guarded.length).toBeGreaterThan(10);
    for (const route of guarded) {
      const request = { method: route.method, url: address(route), ...(route.body ? { payload: {} } : {}) };
      const name = `${route.method} ${route.path}`;
      const key = route.access === 'admin' ? 'the-operator-token' : gateway.key;
      const none = await gateway.inject({ ...request, key: null });
      expect([none.status, none.body.includes('No API key provided')], name).toEqual([401, true]);
      expect((await gateway.inject({ ...request, key: 'wrong' })).status, name).toBe(401);
      expect((await gateway.inject({ ...request, key })).status, name).not.toBe(401);
      expect(
        (await gateway.inject({ ...request, key: null, headers: { 'x-api-key': key } })).status,
        name,
      ).not.toBe(401);
    }
  });

  it("only the specification's four routes, the description of the API and signed files are public", () => {
    const open = routes.filter((route) => route.access === 'public').map((route) => route.path);
    expect(open.toSorted()).toEqual([...specPublic, ...describedAt, ...signed].toSorted());
  });

  it('[ROUTE-3, ROUTE-4, ROUTE-6] answers 405 with Allow to a method it does not take, under /v1 and /v1/v1', async () => {
    for (const route of routes) {
      const taken = routes.filter((other) => other.path === route.path).map((other) => other.method);
      const missing = (['PUT', 'PATCH', 'DELETE'] as Method[]).find(
        (method) => !taken.includes(method),
      ) as Method;
      const urls = route.at === '/' ? [address(route)] : [address(route), `/v1${address(route)}`];
      for (const url of urls) {
        const answer = await gateway.inject({ method: missing, url });
        expect(answer.status, `${missing} ${url}`).toBe(405);
        for (const method of taken) expect(String(answer.headers['allow'])).toContain(method);
      }
    }
  });

  it('[ROUTE-17] answers OPTIONS with a 204 and without a key', async () => {
    for (const route of routes) {
      const answer = await gateway.inject({ method: 'OPTIONS', url: address(route), key: null });
      expect(answer.status, route.path).toBe(204);
      expect(String(answer.headers['access-control-allow-methods'])).toContain(route.method);
    }
  });

  it('[ERR-4, ERR-9] a POST whose schema requires a field names it when the body is empty', async () => {
    const required = (route: Route) => ((route.body?.schema ?? {}) as { required?: string[] }).required ?? [];
    const strict = routes.filter((route) => required(route).length > 0);
    expect(strict.length).toBeGreaterThan(0);
    for (const route of strict) {
      const key = route.access === 'admin' ? 'the-operator-token' : gateway.key;
      const answer = await gateway.inject({ method: route.method, url: address(route), key, payload: {} });
      const [first = ''] = required(route);
      const status = route.dialect('plain') === 'decisions' ? 422 : 400;
      expect([answer.status, answer.body.includes(first)], route.path).toEqual([status, true]);
    }
  });
});

describe('keys of a composed gateway', () => {
  const health = (key: string) => gateway.inject({ url: '/v1/health', key });

  it('[AUTH-9, AUTH-10] a suspended and a revoked key are a 401 with message Invalid API key', async () => {
    const { accounts } = gateway.house.platform;
    const { key, secret } = await accounts.createKey({ subscription: 'default', name: 'to be moved' });
    expect((await health(secret)).status).toBe(200);
    for (const move of ['suspend', 'resume', 'revoke'] as const) {
      await accounts.moveKey(key.id, move);
      const answer = await health(secret);
      expect(answer.status, move).toBe(move === 'resume' ? 200 : 401);
      if (move !== 'resume') expect(answer.json().error.message).toBe('Invalid API key');
    }
  });

  it('[AUTH-9, AUTH-10] so are the keys of a suspended and of a closed subscription', async () => {
    const { accounts } = gateway.house.platform;
    await accounts.createSubscription('closing down');
    const { secret } = await accounts.createKey({ subscription: 'closing down', name: 'k' });
    for (const [move, status] of [
      ['suspend', 401],
      ['resume', 200],
      ['close', 401],
    ] as const) {
      await accounts.moveSubscription('closing down', move);
      expect((await health(secret)).status, move).toBe(status);
    }
  });

  it('[AUTH-23] a webhook secret used as an API key is a 401', async () => {
    const answer = await health('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYq');
    expect([answer.status, answer.json().error.message]).toEqual([401, 'Invalid API key']);
  });

  it('a key that was made a moment ago works at once, and one that expires stops by the clock', async () => {
    let time = Date.now();
    const other = await createTestGateway({ now: () => time });
    try {
      const { secret } = await other.house.platform.accounts.createKey({
        subscription: 'default',
        name: 'short',
        expiresAt: time + 1000,
      });
      expect((await other.inject({ url: '/v1/health', key: secret })).status).toBe(200);
      time += 1000;
      expect((await other.inject({ url: '/v1/health', key: secret })).status).toBe(401);
    } finally {
      await other.close();
    }
  });
});
