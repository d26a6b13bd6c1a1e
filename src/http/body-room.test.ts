import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import Type from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { createShell, type Shell, shellKey } from '../../test/support/shell.ts';
import { common } from '../../test/support/shell-routes.ts';
import { createBodyRoom } from './body-room.ts';
import { defineRoute } from './route.ts';

describe('the room for bodies', () => {
  it('is bounded for each subscription and for all, and given back', () => {
    const room = createBodyRoom({ maxBytes: 100, maxBytesEach: 60 });
    const leave = room.enter('a', 40);
    expect(() => room.enter('a', 21)).toThrow(expect.objectContaining({ kind: 'rate_limited' }));
    const leaveOther = room.enter('b', 60);
    expect(() => room.enter('c', 1)).toThrow(
      expect.objectContaining({ kind: 'overloaded', retryAfterSeconds: 5 }),
    );
    leave();
    room.enter('c', 40)();
    leaveOther();
    room.enter('a', 60)();
  });

  it('has a place for one that is larger than its share, when it is the only one', () => {
    const room = createBodyRoom({ maxBytes: 100, maxBytesEach: 60 });
    const leave = room.enter('a', 200);
    expect(() => room.enter('b', 1)).toThrow(expect.objectContaining({ kind: 'overloaded' }));
    leave();
  });
});

describe('large bodies', () => {
  const mb = 1024 * 1024;
  const route = defineRoute({
    ...common,
    method: 'POST',
    path: '/large',
    access: 'key',
    body: Type.Object({ text: Type.Optional(Type.String()) }),
    maxBodyBytes: 400 * mb,
    handle: ({ body }) => ({ length: body.text?.length ?? 0 }),
  });
  let shell: Shell;
  afterEach(() => shell.close());

  function open(address: string, headers: Record<string, string>): ClientRequest {
    const request = send(`${address}/v1/large`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${shellKey}`, 'content-type': 'application/json', ...headers },
    });
    request.on('error', () => {});
    return request;
  }
  async function answerOf(request: ClientRequest, body?: string): Promise<{ status?: number; text: string }> {
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    if (body === undefined) request.flushHeaders();
    else request.end(body);
    const [answer] = await answered;
    return { status: answer.statusCode ?? 0, text: await text(answer) };
  }

  it('that are still being sent keep others of the same subscription out, but no small ones, until they end', async () => {
    shell = createShell([route]);
    const address = await shell.listen();
    const slow = open(address, { 'content-length': String(300 * mb) });
    slow.write('{');
    const chunked = { 'transfer-encoding': 'chunked' };
    await expect.poll(async () => (await answerOf(open(address, chunked), '{}')).status).toBe(429);
    expect(await answerOf(open(address, { 'content-length': String(300 * mb) }))).toMatchObject({
      status: 429,
      text: expect.stringContaining('Too many large requests'),
    });
    expect((await answerOf(open(address, { 'content-length': '2' }), '{}')).status).toBe(200);
    slow.destroy();
    await expect.poll(async () => (await answerOf(open(address, chunked), '{}')).status).toBe(200);
  });
});
