import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Type from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createShell, type Shell } from '../../test/support/shell.ts';
import { common } from '../../test/support/shell-routes.ts';
import { GatewayError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { createObjects, type Objects } from '../platform/objects/index.ts';
import { fileReply, parseRange } from './file-reply.ts';
import { defineRoute } from './route.ts';

const bytes = Buffer.from('0123456789abcdefghij');
let folder: string;
let objects: Objects;
let shell: Shell;

const route = defineRoute({
  ...common,
  method: 'GET',
  path: '/file',
  access: 'public',
  query: Type.Object({ key: Type.Optional(Type.String()) }),
  async handle(call, platform) {
    const reply = await fileReply(call, platform.objects, {
      key: call.query.key ?? 'videos/a.mp4',
      mediaType: 'video/mp4',
      filename: 'a.mp4',
      disposition: 'attachment',
      headers: { 'x-more': '1' },
    });
    if (reply === undefined) throw new GatewayError('not_found', 'No such file');
    return reply;
  },
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-test-'));
  objects = createObjects({ folder, log: createLog('silent'), now: () => 1_790_000_000_000 });
  await objects.put('videos/a.mp4', bytes);
  await objects.put('videos/empty.mp4', Buffer.alloc(0));
  shell = createShell([route], { platform: { objects } });
});
afterEach(async () => {
  await shell.close();
  await objects.close();
  await rm(folder, { recursive: true });
});

const get = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET', url = '/v1/file') =>
  shell.send({ method, url, headers });

describe('a file', () => {
  it('is answered with its length, type, name and a mark by which it is known again', async () => {
    const answer = await get();
    expect([answer.status, answer.body]).toEqual([200, String(bytes)]);
    expect(answer.headers).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': '20',
      'accept-ranges': 'bytes',
      'content-disposition': 'attachment; filename="a.mp4"',
      'x-more': '1',
    });
    expect(answer.headers['content-range']).toBeUndefined();
    const { etag } = answer.headers;
    expect(etag).toMatch(/^"[^"]+"$/);
    await objects.put('videos/a.mp4', bytes.subarray(1));
    expect((await get()).headers.etag).not.toBe(etag);
  });

  it('is answered in part with 206', async () => {
    for (const [range, body, contentRange] of [
      ['bytes=0-0', '0', 'bytes 0-0/20'],
      ['bytes=5-9', '56789', 'bytes 5-9/20'],
      ['bytes=15-', 'fghij', 'bytes 15-19/20'],
      ['bytes=15-999', 'fghij', 'bytes 15-19/20'],
      ['bytes=-3', 'hij', 'bytes 17-19/20'],
      ['bytes=-999', String(bytes), 'bytes 0-19/20'],
      ['Bytes= 5-9', '56789', 'bytes 5-9/20'],
    ] as const) {
      const answer = await get({ range });
      expect([answer.status, answer.body, answer.headers['content-range']], range).toEqual([
        206,
        body,
        contentRange,
      ]);
      expect(answer.headers['content-length']).toBe(String(body.length));
    }
  });

  it('is answered whole when several parts or something else is asked for', async () => {
    for (const range of ['bytes=0-1,4-5', 'bytes=9-5', 'bytes=-', 'bytes=a-b', 'bytes', 'lines=0-1', '']) {
      const answer = await get({ range });
      expect([answer.status, answer.body], range).toEqual([200, String(bytes)]);
    }
  });

  it('has no part behind its end: 416 in the usual envelope, with the length', async () => {
    for (const range of ['bytes=20-', 'bytes=20-30', 'bytes=-0', `bytes=${'9'.repeat(30)}-`]) {
      const answer = await get({ range });
      expect([answer.status, answer.headers['content-range']], range).toEqual([416, 'bytes */20']);
      expect(answer.json().error).toMatchObject({
        code: 416,
        type: 'invalid_request_error',
        metadata: { error_type: 'invalid_request' },
      });
    }
  });

  it('is answered in part only while it is what the client knows (If-Range)', async () => {
    const etag = String((await get()).headers.etag);
    expect((await get({ range: 'bytes=5-9', 'if-range': etag })).status).toBe(206);
    for (const other of ['"other"', `W/${etag}`, 'Sun, 15 Nov 2026 08:00:00 GMT']) {
      const answer = await get({ range: 'bytes=5-9', 'if-range': other });
      expect([answer.status, answer.body], other).toEqual([200, String(bytes)]);
      expect((await get({ range: 'bytes=50-', 'if-range': other })).status).toBe(200);
    }
  });

  it('has a head without a body, which knows no parts', async () => {
    const answer = await get({ range: 'bytes=5-9' }, 'HEAD');
    expect([answer.status, answer.body, answer.headers['content-length']]).toEqual([200, '', '20']);
    const address = await shell.listen();
    const head = await fetch(`${address}/v1/file`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '20', '']);
  });

  it('may be empty, and then has no part at all', async () => {
    const url = '/v1/file?key=videos/empty.mp4';
    const whole = await get({}, 'GET', url);
    expect([whole.status, whole.body, whole.headers['content-length']]).toEqual([200, '', '0']);
    expect((await get({ range: 'bytes=0-' }, 'GET', url)).headers['content-range']).toBe('bytes */0');
  });

  it('that is not there is left to the route', async () => {
    expect((await get({}, 'GET', '/v1/file?key=videos/none.mp4')).status).toBe(404);
  });
});

describe('ranges', () => {
  it('are read as RFC 9110 writes them', () => {
    expect(parseRange('bytes=0-', 1)).toEqual({ start: 0, end: 0 });
    expect(parseRange('bytes=-1', 0)).toBe('unsatisfiable');
    expect(parseRange('bytes=1-0', 0)).toBeUndefined();
  });
});
