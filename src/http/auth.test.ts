import { afterEach, describe, expect, it } from 'vitest';
import { createShell, type Shell, shellKey } from '../../test/support/shell.ts';
import { chat, shellRoutes } from '../../test/support/shell-routes.ts';

let shell: Shell;
const setUp = () => {
  shell = createShell(shellRoutes, { adminToken: 'operator-token' });
  return shell;
};
afterEach(() => shell.close());

describe('keys', () => {
  it('[AUTH-1, AUTH-2] both headers carry a key', async () => {
    setUp();
    expect((await shell.send({ url: '/v1/closed' })).json()).toEqual({ subscription: 'sub_1' });
    expect(
      (await shell.send({ url: '/v1/closed', key: null, headers: { 'x-api-key': shellKey } })).status,
    ).toBe(200);
  });

  it('[AUTH-3, AUTH-4] with both headers sent, Authorization wins, right or wrong', async () => {
    setUp();
    expect((await shell.send({ url: '/v1/closed', headers: { 'x-api-key': 'wrong' } })).status).toBe(200);
    expect(
      (await shell.send({ url: '/v1/closed', key: 'wrong', headers: { 'x-api-key': shellKey } })).status,
    ).toBe(401);
    expect(
      (
        await shell.send({
          url: '/v1/closed',
          key: null,
          headers: { authorization: 'Basic eA==', 'x-api-key': shellKey },
        })
      ).status,
    ).toBe(401);
  });

  it('[AUTH-5] Bearer has a capital B', async () => {
    setUp();
    for (const authorization of [
      `bearer ${shellKey}`,
      `BEARER ${shellKey}`,
      shellKey,
      `Bearer  ${shellKey}`,
      'Bearer',
      'Bearer ',
    ]) {
      const answer = await shell.send({ url: '/v1/closed', key: null, headers: { authorization } });
      expect([answer.status, answer.json().error.message], authorization).toEqual([401, 'Invalid API key']);
    }
  });

  it('[AUTH-6] keys match exactly: another case, a cut key or an added character is a 401', async () => {
    setUp();
    for (const key of [shellKey.toUpperCase(), shellKey.slice(0, -1), `${shellKey}x`, 'RH_test-key']) {
      expect((await shell.send({ url: '/v1/closed', key })).status, key).toBe(401);
    }
  });

  it('[AUTH-7, AUTH-8, ERR-12] the two messages, and their type names', async () => {
    setUp();
    const none = await shell.send({ url: '/v1/closed', key: null });
    expect(none.status).toBe(401);
    expect(none.json()).toEqual({
      error: {
        code: 401,
        message: 'No API key provided',
        type: 'auth_error',
        metadata: { error_type: 'authentication' },
      },
    });
    expect((await shell.send({ url: '/v1/closed', key: 'rh_no' })).json().error.message).toBe(
      'Invalid API key',
    );
  });

  it('[AUTH-11, ERR-28] on the messages routes the 401 has that shape with the same texts', async () => {
    setUp();
    const none = await shell.send({ method: 'POST', url: '/v1/messages', key: null, payload: chat });
    expect([none.status, none.json().type, none.json().error]).toEqual([
      401,
      'error',
      { type: 'authentication_error', message: 'No API key provided' },
    ]);
    const wrong = await shell.send({ method: 'POST', url: '/v1/messages', key: 'no', payload: chat });
    expect(wrong.json().error).toEqual({ type: 'authentication_error', message: 'Invalid API key' });
  });

  it('[AUTH-17] no valid key and an invalid body is a 401, not a 400', async () => {
    setUp();
    for (const payload of ['{', '{"model":1}', 'x'.repeat(5000)]) {
      expect(
        (
          await shell.send({
            method: 'POST',
            url: '/v1/chat',
            key: 'no',
            payload,
            headers: { 'content-type': 'application/json' },
          })
        ).status,
      ).toBe(401);
    }
  });

  it('public routes ignore a key, wrong or right', async () => {
    setUp();
    expect((await shell.send({ url: '/v1/open', key: 'wrong' })).json()).toEqual({ caller: null });
  });

  it('admin routes take the operator token or the control socket, never a subscription key', async () => {
    setUp();
    expect((await shell.send({ url: '/v1/admin/x', key: null })).status).toBe(401);
    expect((await shell.send({ url: '/v1/admin/x' })).status).toBe(401);
    expect((await shell.send({ url: '/v1/admin/x', key: 'operator-token' })).status).toBe(200);
    expect((await shell.send({ url: '/v1/admin/x', key: null, origin: 'local' })).status).toBe(200);
    const unset = createShell(shellRoutes);
    expect((await unset.send({ url: '/v1/admin/x', key: '' })).status).toBe(401);
    expect((await unset.send({ url: '/v1/admin/x', key: 'undefined' })).status).toBe(401);
  });
});
