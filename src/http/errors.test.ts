import { afterEach, describe, expect, it } from 'vitest';
import { createShell, type Shell, shellKey } from '../../test/support/shell.ts';
import { chat, common, shellRoutes } from '../../test/support/shell-routes.ts';
import { GatewayError } from '../lib/errors.ts';
import { defineRoute } from './route.ts';

let shell: Shell;
const setUp = () => {
  shell = createShell(shellRoutes, { adminToken: 'operator-token' });
  return shell;
};
afterEach(() => shell.close());

describe('failures', () => {
  it('[ERR-1, ERR-2, ERR-3] the envelope of every route but the messages routes', async () => {
    setUp();
    for (const url of ['/v1/none', '/v1/closed', '/v1/things/%zz']) {
      const answer = await shell.send({ url, key: url.includes('closed') ? null : shellKey });
      expect(answer.headers['content-type']).toMatch(/^application\/json(;|$)/);
      const { error, ...rest } = answer.json();
      expect(rest).toEqual({});
      expect(error.code).toBe(answer.status);
      for (const text of [error.message, error.type, error.metadata.error_type]) {
        expect(typeof text).toBe('string');
        expect(text).not.toBe('');
      }
    }
  });

  it('[ERR-11, ERR-13, ERR-15, ERR-17, ERR-18, ERR-19, ERR-20, ERR-21, ERR-22, ERR-23, ERR-24] each kind has its status and type names', async () => {
    setUp();
    for (const [kind, status, errorType, type] of [
      ['invalid_request', 400, 'invalid_request', 'validation_error'],
      ['not_found', 404, 'not_found', 'not_found_error'],
      ['conflict', 409, 'invalid_request', 'invalid_request_error'],
      ['rate_limited', 429, 'rate_limit_exceeded', 'rate_limit_error'],
      ['internal', 500, 'server', 'server_error'],
      ['unreachable', 502, 'provider_unavailable', 'server_error'],
      ['overloaded', 503, 'provider_overloaded', 'server_error'],
      ['timeout', 504, 'timeout', 'timeout_error'],
      ['unprocessable', 422, 'unprocessable', 'validation_error'],
      ['decision_overloaded', 529, 'provider_overloaded', 'server_error'],
      ['unsupported_parameter', 400, 'unsupported_parameter', 'validation_error'],
    ] as const) {
      const answer = await shell.send({ method: 'POST', url: '/v1/fail', payload: { kind } });
      expect(answer.status).toBe(status);
      expect(answer.json().error).toEqual({
        code: status,
        message: `It was ${kind}`,
        type,
        metadata: { error_type: errorType },
      });
    }
  });

  it('[ERR-14] 405 has error_type invalid_request and type invalid_request_error', async () => {
    const { error } = (await setUp().send({ method: 'PUT', url: '/v1/chat' })).json();
    expect([error.code, error.type, error.metadata.error_type]).toEqual([
      405,
      'invalid_request_error',
      'invalid_request',
    ]);
  });

  it('[ERR-9] validation failures are 400 on every route but the decisions route, which answers 422', async () => {
    setUp();
    expect((await shell.send({ method: 'POST', url: '/v1/chat', payload: {} })).status).toBe(400);
    for (const payload of [{}, '{', { ...chat, model: 'not_found' }]) {
      const answer = await shell.send({
        method: 'POST',
        url: '/v1/systemone',
        payload,
        headers: { 'content-type': 'application/json' },
      });
      expect([answer.status, answer.json().error.code, answer.json().error.metadata.error_type]).toEqual([
        422,
        422,
        'unprocessable',
      ]);
    }
    expect(
      (await shell.send({ method: 'POST', url: '/v1/systemone', payload: { ...chat, model: 'overloaded' } }))
        .status,
    ).toBe(529);
    expect((await shell.send({ method: 'POST', url: '/v1/systemone', payload: {}, key: null })).status).toBe(
      401,
    );
  });

  it('[ERR-25, ERR-26] the messages routes answer {type, error: {type, message}, request_id}', async () => {
    const answer = await setUp().send({ method: 'POST', url: '/v1/messages', payload: {} });
    expect(answer.json()).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'model is required' },
      request_id: answer.headers['request-id'],
    });
  });

  it('[ERR-27, ERR-29, ERR-30, ERR-31, ERR-32] type names on the messages routes', async () => {
    setUp();
    const typeOf = async (model: string) => {
      const answer = await shell.send({ method: 'POST', url: '/v1/messages', payload: { ...chat, model } });
      return [answer.status, answer.json().error.type];
    };
    expect(await typeOf('invalid_request')).toEqual([400, 'invalid_request_error']);
    expect(await typeOf('not_found')).toEqual([404, 'not_found_error']);
    expect(await typeOf('x'.repeat(3000))).toEqual([413, 'request_too_large']);
    expect(await typeOf('rate_limited')).toEqual([429, 'rate_limit_error']);
    expect(await typeOf('internal')).toEqual([500, 'api_error']);
    expect(await typeOf('unreachable')).toEqual([502, 'api_error']);
    expect(await typeOf('overloaded')).toEqual([503, 'api_error']);
    expect(await typeOf('timeout')).toEqual([504, 'api_error']);
    const wrongMethod = await shell.send({ url: '/v1/messages' });
    expect([wrongMethod.status, wrongMethod.json().error.type]).toEqual([405, 'invalid_request_error']);
  });

  it('[ERR-37] a fault of the service itself is a 500 that shows nothing of itself, and is logged whole', async () => {
    const answer = await setUp().send({ method: 'POST', url: '/v1/fail', payload: { kind: 'bug' } });
    expect(answer.status).toBe(500);
    expect(answer.body).not.toMatch(/secret|srv|TypeError|\.js|at /);
    const line = shell.logged.find(({ status }) => status === 500);
    expect(JSON.stringify(line)).toContain('secret detail');
    expect(line?.['id']).toBe(answer.headers['x-request-id']);
  });

  it('[ERR-43, ERR-44] a 409 and a permanent failure tell SDKs not to retry; others do not', async () => {
    setUp();
    const headerOf = async (kind: string) =>
      (await shell.send({ method: 'POST', url: '/v1/fail', payload: { kind } })).headers['x-should-retry'];
    expect(await headerOf('conflict')).toBe('false');
    expect(await headerOf('unreachable')).toBeUndefined();
    const permanent = defineRoute({
      ...common,
      method: 'GET',
      path: '/p',
      access: 'public',
      handle: () => {
        throw new GatewayError('internal', 'never', { permanent: true });
      },
    });
    expect((await createShell([permanent]).send({ url: '/v1/p' })).headers['x-should-retry']).toBe('false');
    for (const payload of ['{', '[]', '{"kind":1}']) {
      expect(
        (
          await shell.send({
            method: 'POST',
            url: '/v1/fail',
            payload,
            headers: { 'content-type': 'application/json' },
          })
        ).status,
      ).toBe(400);
    }
  });

  it('Retry-After is a whole number of seconds from 1 to 59', async () => {
    const answer = await setUp().send({ method: 'POST', url: '/v1/fail', payload: { kind: 'rate_limited' } });
    expect(answer.headers['retry-after']).toBe('1');
  });
});
