import { afterEach, describe, expect, it } from 'vitest';
import { computing } from '../../test/support/computing.ts';
import { createShell, type Shell } from '../../test/support/shell.ts';
import { chat, shellRoutes } from '../../test/support/shell-routes.ts';
import { parseJson } from './json.ts';

let shell: Shell;
const setUp = () => {
  shell = createShell(shellRoutes, { adminToken: 'operator-token' });
  return shell;
};
afterEach(() => shell.close());

describe('bodies', () => {
  const post = (payload: unknown, headers: Record<string, string> = {}, url = '/v1/chat') =>
    shell.send({ method: 'POST', url, payload, headers });
  const asJson = { 'content-type': 'application/json' };

  it('[ERR-4] a missing required field is a 400 whose message names the field', async () => {
    setUp();
    expect((await post({ model: 'm' })).json().error).toMatchObject({
      code: 400,
      message: 'messages is required',
      param: 'messages',
    });
    expect((await post({ model: 'm', messages: [{ role: 'user' }] })).json().error.message).toBe(
      'messages[0].content is required',
    );
  });

  it('[ERR-5, ERR-42] a field of the wrong type is a 400 naming its path; nothing is coerced', async () => {
    setUp();
    const cases: [object, string][] = [
      [{ ...chat, temperature: '1' }, 'temperature must be a number'],
      [{ ...chat, n: 1.5 }, 'n must be an integer'],
      [{ ...chat, n: '1' }, 'n must be an integer'],
      [{ ...chat, temperature: 2.1 }, 'temperature must be at most 2'],
      [{ ...chat, messages: [] }, 'messages must have at least 1 item'],
      [
        { ...chat, messages: [chat.messages[0], { role: 'user', content: 5 }] },
        'messages[1].content must be a string or an array',
      ],
      [
        { ...chat, messages: [{ role: 'robot', content: '' }] },
        'messages[0].role must be one of "user", "assistant"',
      ],
      [
        { ...chat, messages: [{ role: 'user', content: [{ text: 1 }] }] },
        'messages[0].content[0].text must be a string',
      ],
    ];
    for (const [body, message] of cases) {
      const answer = await post(body);
      expect([answer.status, answer.json().error.message]).toEqual([400, message]);
      expect(message.startsWith(answer.json().error.param)).toBe(true);
    }
    expect((await post([])).json().error.message).toBe('The body must be an object');
  });

  it('[ERR-6] a body that is not parsable JSON is a 400', async () => {
    setUp();
    for (const text of ['{', '{"a":1,}', 'nonsense', '{"a":NaN}', "{'a':1}", '\0']) {
      const answer = await post(text, asJson);
      expect([answer.status, answer.json().error.message.includes('JSON')], text).toEqual([400, true]);
    }
  });

  it('[ERR-7] an empty body with a JSON content type is read as {}', async () => {
    setUp();
    expect((await post('', asJson, '/v1/made')).status).toBe(201);
    expect((await post(undefined, asJson)).json().error.message).toBe('model is required');
  });

  it('[ERR-8] another content type on a JSON-only route is a 400, not a 415', async () => {
    setUp();
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
    ]) {
      const answer = await post(JSON.stringify(chat), { 'content-type': type });
      expect([answer.status, answer.json().error.message.includes('Content-Type')], type).toEqual([
        400,
        true,
      ]);
    }
    expect(
      (await post(JSON.stringify(chat), { 'content-type': 'Application/JSON; charset=UTF-8' })).status,
    ).toBe(200);
    expect(
      (await post(JSON.stringify(chat), { 'content-type': 'application/json; charset=utf-16' })).status,
    ).toBe(400);
    expect((await post(JSON.stringify(chat), { ...asJson, 'content-encoding': 'gzip' })).status).toBe(400);
  });

  it('[ERR-33, ERR-16] a body over the limit is a 413 that gives the limit', async () => {
    setUp();
    const answer = await post({ ...chat, pad: 'x'.repeat(3000) });
    expect(answer.status).toBe(413);
    expect(answer.json().error).toMatchObject({
      code: 413,
      type: 'invalid_request_error',
      metadata: { error_type: 'payload_too_large' },
    });
    expect(answer.json().error.message).toContain('2000 bytes');
  });

  it('invalid UTF-8, deep nesting and a byte order mark', async () => {
    setUp();
    expect((await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), asJson)).json().error.message).toMatch(
      /UTF-8/,
    );
    const deep = `${'['.repeat(500)}${']'.repeat(500)}`;
    expect((await post(deep, asJson)).json().error.message).toMatch(/nested/);
    expect((await post(`{"a":${'{"a":'.repeat(200)}1${'}'.repeat(201)}`, asJson)).status).toBe(400);
    const manyBracketsInText = { ...chat, messages: [{ role: 'user', content: '['.repeat(300) }] };
    expect((await post(manyBracketsInText)).status).toBe(200);
    expect((await post(`\ufeff${JSON.stringify(chat)}`, asJson)).status).toBe(200);
  });

  it('more values than a request can mean are a 400; commas in a text are no values', async () => {
    setUp();
    const many = `{"junk":[${'1,'.repeat(200_001)}1]}`;
    const answer = await post(many, asJson, '/v1/large');
    expect([answer.status, answer.json().error.message]).toEqual([
      400,
      'The body has more than 200000 values',
    ]);
    expect((await post({ text: ','.repeat(300_000) }, {}, '/v1/large')).status).toBe(200);
  });

  it('lists and objects are values too, and are refused before they are made', async () => {
    setUp();
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = `${open.repeat(100)}1${close.repeat(100)}`;
      const body = Buffer.from(`{"junk":[${Array(20_000).fill(nested).join(',')}]}`);
      const computed = computing();
      expect(() => parseJson(body)).toThrow('The body has more than 200000 values');
      expect(computed()).toBeLessThan(400);
    }
    const brackets = { text: '[{'.repeat(300_000) };
    expect(parseJson(Buffer.from(JSON.stringify(brackets)))).toEqual(brackets);
    expect(parseJson(Buffer.from(`[${'[],'.repeat(99_998)}[]]`))).toHaveLength(99_999);
  });

  it('what a client made up is shown in part', async () => {
    setUp();
    const { error } = (await post('{}', { 'content-type': `text/${'x'.repeat(5_000)}` })).json();
    expect(error.message).toBe(`Content-Type must be application/json, not "text/${'x'.repeat(95)}…"`);
  });

  it('a field named __proto__ changes nothing', async () => {
    setUp();
    const answer = await post(`{"__proto__":{"polluted":1},${JSON.stringify(chat).slice(1)}`, asJson);
    expect(answer.status).toBe(200);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

it('queries are typed by their declaration; unknown names are ignored', async () => {
  setUp();
  expect((await shell.send({ url: '/v1/page?limit=3&all=true&tags=a&tags=b&nope=1' })).json()).toEqual({
    limit: 3,
    all: true,
    tags: 'a,b',
  });
  for (const bad of [
    'limit=0',
    'limit=11',
    'limit=x',
    'limit=1.5',
    'limit=',
    'limit=1e1',
    'limit=0x1',
    'limit=01',
    'limit=%201',
    'limit=1.0',
    'limit=-0',
    'limit=1&limit=2',
    'limit=1%00',
  ]) {
    const answer = await shell.send({ url: `/v1/page?${bad}` });
    expect([answer.status, answer.json().error.param], bad).toEqual([400, 'limit']);
  }
  expect((await shell.send({ url: '/v1/page?all=yes' })).json().error.message).toBe('all must be a boolean');
});
