import { afterEach, describe, expect, it } from 'vitest';
import { createShell, type Shell } from '../../test/support/shell.ts';
import { chat, common, shellRoutes } from '../../test/support/shell-routes.ts';
import { defineRoute } from './route.ts';

let shell: Shell;
const setUp = () => {
  shell = createShell(shellRoutes, { adminToken: 'operator-token' });
  return shell;
};
afterEach(() => shell.close());

describe('paths and methods', () => {
  it('[ROUTE-1] every route lives under /v1; the same path without the prefix is a 404', async () => {
    setUp();
    expect((await shell.send({ url: '/v1/open' })).status).toBe(200);
    for (const url of ['/open', '/', '/v1', '/v2/open', '/v1open']) {
      expect((await shell.send({ url })).status, url).toBe(404);
    }
  });

  it('[ROUTE-1] a route at the root is there alone, with its 405 and its key', async () => {
    const atRoot = defineRoute({
      ...common,
      method: 'POST',
      path: '/beside/{id}',
      at: '/',
      access: 'key',
      handle: ({ params }) => params,
    });
    shell = createShell([...shellRoutes, atRoot]);
    expect((await shell.send({ method: 'POST', url: '/beside/a%2Fb?x=1' })).json()).toEqual({ id: 'a/b' });
    expect((await shell.send({ method: 'POST', url: '/beside/a', key: null })).status).toBe(401);
    expect((await shell.send({ url: '/beside/a' })).headers['allow']).toBe('POST, OPTIONS');
    for (const url of ['/v1/beside/a', '/v1/v1/beside/a', '/beside', '/beside/a/b'])
      expect((await shell.send({ method: 'POST', url })).status, url).toBe(404);
  });

  it('[ROUTE-2] an unknown route is a 404 whose message names the method and the path', async () => {
    const answer = await setUp().send({ method: 'POST', url: '/v1/no/such?x=1' });
    expect(answer.status).toBe(404);
    expect(answer.json().error.message).toContain('POST /v1/no/such');
    expect(answer.json().error.message).not.toContain('x=1');
  });

  it('[ROUTE-3, ROUTE-4] a known route with another method is a 405 whose Allow lists the methods it takes', async () => {
    setUp();
    const answer = await shell.send({ method: 'PUT', url: '/v1/things/a' });
    expect(answer.status).toBe(405);
    expect(String(answer.headers['allow']).split(', ')).toEqual(['GET', 'DELETE', 'HEAD', 'OPTIONS']);
    expect((await shell.send({ method: 'GET', url: '/v1/chat' })).headers['allow']).toBe('POST, OPTIONS');
  });

  it('[ROUTE-5] unknown route and wrong method are answered before the key is looked at', async () => {
    setUp();
    expect((await shell.send({ url: '/v1/none', key: null })).status).toBe(404);
    expect((await shell.send({ method: 'DELETE', url: '/v1/chat', key: null })).status).toBe(405);
  });

  it('[ROUTE-6] the whole API answers under /v1/v1 as well, but not deeper', async () => {
    setUp();
    expect((await shell.send({ url: '/v1/v1/closed' })).status).toBe(200);
    expect((await shell.send({ url: '/v1/v1/closed', key: null })).status).toBe(401);
    expect((await shell.send({ url: '/v1/v1/v1/closed' })).status).toBe(404);
  });

  it('[ROUTE-7] an id with a slash works percent-encoded and as extra path segments', async () => {
    setUp();
    expect((await shell.send({ url: '/v1/things/a%2Fb' })).json()).toEqual({ id: 'a/b' });
    expect((await shell.send({ url: '/v1/things/a/b' })).json()).toEqual({ id: 'a/b' });
    expect((await shell.send({ url: '/v1/things/x/a/b/parts' })).json()).toEqual({
      author: 'x',
      slug: 'a/b',
    });
    expect((await shell.send({ url: '/v1/things/x/a%2Fb/parts' })).json()).toEqual({
      author: 'x',
      slug: 'a/b',
    });
    expect((await shell.send({ url: '/v1/things/%C3%A9%20%3A' })).json()).toEqual({ id: 'é :' });
  });

  it('an id cannot smuggle a request past the key check', async () => {
    setUp();
    for (const url of [
      '/v1/things/a%2Fb',
      '/v1/things/a/b',
      '/v1/v1/things/a',
      '/v1/things/..%2Fopen',
      'http://evil/v1/closed',
    ]) {
      expect((await shell.send({ url, key: null })).status, url).toBe(401);
    }
  });

  it('a malformed percent-encoding in an id is a 400, after the key', async () => {
    setUp();
    expect((await shell.send({ url: '/v1/things/%zz' })).status).toBe(400);
    expect((await shell.send({ url: '/v1/things/%zz', key: null })).status).toBe(401);
  });

  it('HEAD is answered like GET, without the body', async () => {
    const answer = await setUp().send({ method: 'HEAD', url: '/v1/closed' });
    expect(answer.status).toBe(200);
    expect(answer.body).toBe('');
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength('{"subscription":"sub_1"}')));
  });
});

describe('headers of every answer', () => {
  it('[ROUTE-8, ROUTE-9] x-request-id is req_ + 24 hex, the same as request-id and different on every request', async () => {
    setUp();
    const seen = new Set<unknown>();
    for (const url of ['/v1/open', '/v1/none', '/v1/closed', '/v1/open']) {
      const { headers } = await shell.send({ url, key: null });
      expect(headers['x-request-id']).toMatch(/^req_[0-9a-f]{24}$/);
      expect(headers['request-id']).toBe(headers['x-request-id']);
      seen.add(headers['x-request-id']);
    }
    expect(seen.size).toBe(4);
  });

  it('[ROUTE-10] generation routes also send X-Generation-Id', async () => {
    setUp();
    const made = await shell.send({ method: 'POST', url: '/v1/chat', payload: chat });
    expect(made.headers['x-generation-id']).toMatch(/^gen_[0-9a-f]{24}$/);
    expect((await shell.send({ url: '/v1/open' })).headers['x-generation-id']).toBeUndefined();
  });

  it('[ROUTE-11] answers to the decision SDK also carry x-typesafe-request-id', async () => {
    setUp();
    const { headers } = await shell.send({ url: '/v1/open', headers: { 'x-typesafe-sdk': '1' } });
    expect(headers['x-typesafe-request-id']).toBe(headers['x-request-id']);
    expect((await shell.send({ url: '/v1/open' })).headers['x-typesafe-request-id']).toBeUndefined();
  });

  it('[ROUTE-16, ROUTE-19] CORS headers stand on successes and on errors', async () => {
    setUp();
    for (const url of ['/v1/open', '/v1/none', '/v1/events']) {
      const { headers } = await shell.send({ url });
      expect(headers['access-control-allow-origin']).toBe('*');
      const exposed = String(headers['access-control-expose-headers']);
      for (const name of [
        'x-request-id',
        'request-id',
        'retry-after',
        'x-ratelimit-limit-requests',
        'x-ratelimit-remaining-requests',
        'x-ratelimit-reset-requests',
        'x-usage-seconds',
        'x-usage-cost',
        'x-generation-id',
      ]) {
        expect(exposed.split(', ')).toContain(name);
      }
    }
  });

  it('[ROUTE-17, ROUTE-18] OPTIONS is a 204 without a key that echoes the asked headers', async () => {
    setUp();
    const answer = await shell.send({
      method: 'OPTIONS',
      url: '/v1/chat',
      key: null,
      headers: {
        origin: 'https://a.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, x-stainless-lang',
      },
    });
    expect(answer.status).toBe(204);
    expect(String(answer.headers['access-control-allow-methods']).split(', ')).toContain('POST');
    expect(answer.headers['access-control-allow-headers']).toBe('authorization, x-stainless-lang');
    expect((await shell.send({ method: 'OPTIONS', url: '/v1/none', key: null })).status).toBe(404);
  });

  it('[ROUTE-20] what is announced for removal sends Deprecation and Sunset, at least 90 days ahead', async () => {
    const { headers } = await setUp().send({ url: '/v1/old' });
    expect(headers['deprecation']).toBe(`@${Date.parse('2026-01-01') / 1000}`);
    expect(headers['sunset']).toBe('Mon, 01 Jun 2026 00:00:00 GMT');
    const hasty = { since: new Date('2026-01-01'), sunset: new Date('2026-03-01') };
    expect(() =>
      defineRoute({
        ...common,
        method: 'GET',
        path: '/x',
        access: 'public',
        deprecated: hasty,
        handle: () => ({}),
      }),
    ).toThrow(/90 days/);
  });

  it('[ROUTE-12, ROUTE-13] JSON answers are application/json with the declared status', async () => {
    setUp();
    const plain = await shell.send({ url: '/v1/open' });
    expect(plain.headers['content-type']).toMatch(/^application\/json/);
    expect(plain.status).toBe(200);
    const made = await shell.send({ method: 'POST', url: '/v1/made', payload: {} });
    expect([made.status, made.headers['x-extra'], made.json()]).toEqual([201, '1', { made: true }]);
    const gone = await shell.send({ method: 'DELETE', url: '/v1/things/a' });
    expect([gone.status, gone.body]).toEqual([204, '']);
  });
});
