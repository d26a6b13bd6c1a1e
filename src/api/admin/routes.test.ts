import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import type { TestRequest } from '../../../test/support/inject.ts';
import { createValidator } from '../../lib/schema.ts';
import { adminRoutes } from './index.ts';

const token = 'operator-token-of-the-test';
let gateway: TestGateway;
let clock: number;

beforeEach(async () => {
  clock = 1_700_000_000_500;
  gateway = await createTestGateway({ env: { ROUNDHOUSE_ADMIN_TOKEN: token }, now: () => clock });
});
afterEach(() => gateway.close());

function ask(method: 'GET' | 'POST', path: string, payload?: unknown, more: Partial<TestRequest> = {}) {
  return gateway.inject({ method, url: `/v1/admin${path}`, key: token, payload, ...more });
}

async function isAccepted(key: string): Promise<boolean> {
  return (await gateway.inject({ url: '/v1/models/sandbox-chat', key })).status === 200;
}

describe('who may use the admin routes', () => {
  it("every one needs the operator's token: no key, a subscription's key and a wrong token are a 401", async () => {
    expect(adminRoutes).toHaveLength(18);
    for (const { method, path } of adminRoutes) {
      const url = `/v1${path.replace('{id}', 'key_x')}`;
      for (const key of [null, gateway.key, 'wrong', `${token}x`, '']) {
        const answer = await gateway.inject({ method, url, key });
        expect(answer.status, `${method} ${url}`).toBe(401);
        expect(answer.json().error.message).toBe(key === null ? 'No API key provided' : 'Invalid API key');
      }
    }
  });

  it('the control socket counts as the operator', async () => {
    expect((await gateway.inject({ url: '/v1/admin/keys', key: null, origin: 'local' })).status).toBe(200);
  });

  it("the operator's token is no key", async () => {
    expect(await isAccepted(token)).toBe(false);
  });

  it('without a configured token nobody on the network is the operator', async () => {
    const closed = await createTestGateway();
    for (const key of ['', 'undefined', closed.key]) {
      expect((await closed.inject({ url: '/v1/admin/keys', key })).status).toBe(401);
    }
    await closed.close();
  });
});

describe('keys', () => {
  it('a new key works at once; its secret is in this answer alone, which no cache may keep', async () => {
    const answer = await ask('POST', '/keys', { name: 'ci' });
    expect(answer.status).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    const { secret, ...key } = answer.json();
    expect(key).toEqual({
      object: 'key',
      id: expect.stringMatching(/^key_[0-9a-f]{24}$/),
      subscription_id: expect.stringMatching(/^sub_/),
      name: 'ci',
      prefix: secret.slice(0, 10),
      status: 'active',
      created_at: 1_700_000_000,
      expires_at: null,
      revoked_at: null,
    });
    expect(await isAccepted(secret)).toBe(true);
    const list = (await ask('GET', '/keys')).json();
    expect(list).toMatchObject({ object: 'list', has_more: false });
    expect(list.data).toContainEqual(key);
    expect(JSON.stringify(list)).not.toContain(secret.slice(0, 12));
  });

  it('suspend, resume and revoke take effect on the next request', async () => {
    const { id, secret } = (await ask('POST', '/keys', {})).json();
    expect(await isAccepted(secret)).toBe(true);
    expect((await ask('POST', `/keys/${id}/suspend`)).json()).toMatchObject({ id, status: 'suspended' });
    expect(await isAccepted(secret)).toBe(false);
    expect((await ask('POST', `/keys/${id}/resume`)).json()).toMatchObject({ status: 'active' });
    expect(await isAccepted(secret)).toBe(true);
    expect((await ask('POST', `/keys/${id}/revoke`)).json()).toMatchObject({
      status: 'revoked',
      revoked_at: 1_700_000_000,
    });
    expect(await isAccepted(secret)).toBe(false);
  });

  it('[AUTH-8] [AUTH-9] [AUTH-10] an unknown, a suspended and a revoked key get the same 401', async () => {
    const { id, secret } = (await ask('POST', '/keys', {})).json();
    const refusals: unknown[] = [];
    const refuse = async (key: string) => {
      const answer = await gateway.inject({ url: '/v1/models/sandbox-chat', key });
      expect(answer.status).toBe(401);
      refusals.push(answer.json());
    };
    await refuse('rh_unknown');
    await ask('POST', `/keys/${id}/suspend`);
    await refuse(secret);
    await ask('POST', `/keys/${id}/revoke`);
    await refuse(secret);
    const expected = {
      error: {
        code: 401,
        message: 'Invalid API key',
        type: 'auth_error',
        metadata: { error_type: 'authentication' },
      },
    };
    expect(refusals).toEqual([expected, expected, expected]);
  });

  it('expire: at a time, never, or at once', async () => {
    const { id, secret } = (await ask('POST', '/keys', { expires_at: 1_700_000_010 })).json();
    expect(await isAccepted(secret)).toBe(true);
    clock = 1_700_000_010_000;
    expect(await isAccepted(secret)).toBe(false);
    expect((await ask('POST', `/keys/${id}/expire`, { expires_at: null })).json()).toMatchObject({
      expires_at: null,
    });
    expect(await isAccepted(secret)).toBe(true);
    expect((await ask('POST', `/keys/${id}/expire`)).json()).toMatchObject({ expires_at: 1_700_000_010 });
    expect(await isAccepted(secret)).toBe(false);
  });

  it.each([
    [{ expires_at: 1_600_000_000 }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ expires_at: 1e15 }, 'expires_at'],
    [{ name: '' }, 'name'],
    [{ name: ' padded ' }, 'name'],
    [{ name: 'escape\u001b[31m' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ colour: 'red' }, 'colour'],
  ])('a body such as %j is a 400 that names %s', async (body, param) => {
    const answer = await ask('POST', '/keys', body);
    expect(answer.status).toBe(400);
    expect(answer.json().error.param).toBe(param);
  });

  it('an unknown id is a 404, a move that the state does not allow a 409 that must not be retried', async () => {
    expect((await ask('POST', '/keys/key_none/revoke')).status).toBe(404);
    expect((await ask('POST', '/keys', { subscription: 'nobody' })).status).toBe(404);
    const { id } = (await ask('POST', '/keys', {})).json();
    const answer = await ask('POST', `/keys/${id}/resume`);
    expect(answer.status).toBe(409);
    expect(answer.headers['x-should-retry']).toBe('false');
  });

  it('lists go page by page', async () => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/keys', { name });
    const first = (await ask('GET', '/keys?limit=3')).json();
    expect(first.data).toHaveLength(3);
    expect(first.has_more).toBe(true);
    const rest = (await ask('GET', `/keys?limit=3&after=${first.data[2].id}`)).json();
    expect(rest.data).toHaveLength(1);
    expect(rest.has_more).toBe(false);
    expect((await ask('GET', '/keys?limit=0')).status).toBe(400);
    expect((await ask('GET', '/keys?limit=1001')).status).toBe(400);
  });
});

describe('subscriptions', () => {
  it('are made, listed, suspended, resumed and closed, and their keys follow', async () => {
    clock += 1;
    const created = await ask('POST', '/subscriptions', { name: 'Acme, Inc. & Söhne' });
    expect(created.status).toBe(201);
    const { id, name } = created.json();
    const { secret } = (await ask('POST', '/keys', { subscription: name })).json();
    expect(await isAccepted(secret)).toBe(true);
    await ask('POST', `/subscriptions/${id}/suspend`);
    expect(await isAccepted(secret)).toBe(false);
    await ask('POST', `/subscriptions/${encodeURIComponent(name)}/resume`);
    expect(await isAccepted(secret)).toBe(true);
    expect((await ask('POST', `/subscriptions/${id}/close`)).json()).toMatchObject({
      status: 'closed',
      closed_at: 1_700_000_000,
    });
    expect(await isAccepted(secret)).toBe(false);
    expect((await ask('POST', `/subscriptions/${id}/resume`)).status).toBe(409);
    expect((await ask('POST', '/keys', { subscription: id })).status).toBe(409);
    const { data } = (await ask('GET', '/subscriptions')).json();
    expect(data.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
      ['default', 'active'],
      [name, 'closed'],
    ]);
  });

  it('a name is taken once', async () => {
    expect((await ask('POST', '/subscriptions', { name: 'default' })).status).toBe(409);
    expect((await ask('POST', '/subscriptions', { name: 'sub_x' })).status).toBe(400);
    expect((await ask('POST', '/subscriptions', {})).json().error).toMatchObject({ param: 'name' });
  });
});

describe('usage', () => {
  it('is empty at first, over the last 30 days', async () => {
    expect((await ask('GET', '/usage')).json()).toMatchObject({
      by: 'day',
      from: '2023-10-16',
      to: '2023-11-14',
      data: [],
      total: { requests: 0, cost: 0 },
      has_more: false,
    });
  });

  it.each([
    ['/usage?from=monday', 400],
    ['/usage?by=colour', 400],
    ['/usage?to=2026-13-40', 400],
    ['/usage?from=2026-11-15&to=2026-11-14', 400],
    ['/usage?subscription=nobody', 404],
  ])('%s is a %i', async (path, status) => {
    expect((await ask('GET', path)).status).toBe(status);
  });
});

describe('the declared shapes', () => {
  it('hold what the routes answer', async () => {
    const { id, subscription_id } = (await ask('POST', '/keys', {})).json();
    const calls = [
      ['GET', '/subscriptions', '/admin/subscriptions'],
      ['POST', '/subscriptions', '/admin/subscriptions', { name: 'one' }],
      ['GET', '/keys', '/admin/keys'],
      ['GET', '/usage?by=model', '/admin/usage'],
      ['POST', '/keys', '/admin/keys', { expires_at: 1_800_000_000 }],
      ['POST', `/keys/${id}/revoke`, '/admin/keys/{id}/revoke'],
      ['POST', `/subscriptions/${subscription_id}/close`, '/admin/subscriptions/{id}/close'],
    ] as const;
    for (const [method, path, declared, payload] of calls) {
      const { response } = adminRoutes.find((route) => route.method === method && route.path === declared)!;
      const body = (await ask(method, path, payload)).json();
      expect(createValidator(response!).check(body), `${method} ${declared}`).toBe(true);
    }
  });
});
