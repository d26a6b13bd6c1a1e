import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request as openRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Type from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createShell, type Shell, shellKey } from '../../test/support/shell.ts';
import { GatewayError } from '../lib/errors.ts';
import { createLog } from '../lib/log.ts';
import { createObjects, type Objects } from '../platform/objects/index.ts';
import { defineRoute } from './route.ts';

const mb = 1_000_000;
let folder: string;
let objects: Objects;
let shell: Shell;
let reserved: string[];
/** What stands in the way of a reservation. */
let reserving: () => Promise<void>;

const route = defineRoute({
  method: 'POST',
  path: '/shelf/{id}/files',
  aliases: ['/shelves/{id}/files'],
  access: 'key',
  summary: 'For tests.',
  tag: 'Test',
  multipart: {
    fields: Type.Object({ note: Type.Optional(Type.String({ maxLength: 5 })) }),
    files: {
      file: {
        maxCount: 1,
        maxBytes: 20 * mb,
        required: true,
        async storeAt() {
          await reserving();
          reserved.push(`shelf/${reserved.length}`);
          return reserved.at(-1) as string;
        },
      },
    },
  },
  maxBodyBytes: 21 * mb,
  success: 201,
  async before({ params }) {
    if (params.id === 'none') throw new GatewayError('invalid_request', 'There is no such shelf');
  },
  handle: ({ body, uploads, stored }) => ({ body, uploads: uploads.length, stored }),
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-test-'));
  objects = createObjects({ folder, log: createLog('silent'), now: Date.now });
  shell = createShell([route], { platform: { objects } });
  reserved = [];
  reserving = async () => {};
});
afterEach(async () => {
  await shell.close();
  await objects.close();
  await rm(folder, { recursive: true });
});

async function toBytes(data: FormData) {
  const request = new Request('http://x', { method: 'POST', body: data });
  return {
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer()),
  };
}

async function post(data: FormData, path = '/shelf/a/files') {
  return shell.send({ method: 'POST', url: `/v1${path}`, ...(await toBytes(data)) });
}

function form(file: string | Buffer | undefined, fields: Record<string, string> = {}): FormData {
  const data = new FormData();
  if (file !== undefined) data.append('file', new Blob([file]), 'notes.txt');
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}

/** Every file in the folder of objects, half-written ones too. */
async function files(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** A request over a socket whose form is written by hand. */
async function open(headers: Record<string, string> = {}) {
  const address = await shell.listen();
  const sent = openRequest(`${address}/v1/shelf/a/files`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${shellKey}`,
      'content-type': 'multipart/form-data; boundary=B',
      ...headers,
    },
  });
  sent.on('error', () => {});
  sent.write('--B\r\ncontent-disposition: form-data; name="file"; filename="big.txt"\r\n\r\n');
  return sent;
}

describe('a file that is stored while it is read', () => {
  it('is an object with its name and size, and stands in no buffer', async () => {
    const answer = await post(form('twelve bytes', { note: 'short' }));
    expect([answer.status, answer.json()]).toEqual([
      201,
      {
        body: { note: 'short' },
        uploads: 0,
        stored: [{ field: 'file', filename: 'notes.txt', objectKey: 'shelf/0', bytes: 12 }],
      },
    ]);
    expect(String(await objects.read('shelf/0'))).toBe('twelve bytes');
    expect((await post(form(''))).json().stored[0].bytes).toBe(0);
    expect((await post(form('x'), '/shelves/a/files')).status).toBe(201);
  });

  it('of any size takes little memory: what storage cannot write yet is not read either', async () => {
    const { put } = objects;
    const gate = Promise.withResolvers<void>();
    objects.put = (key, data) =>
      put(
        key,
        (async function* slow() {
          for await (const chunk of data as AsyncIterable<Uint8Array>) {
            await gate.promise;
            yield chunk;
          }
        })(),
      );
    const sent = await open();
    sent.write(Buffer.alloc(19 * mb, 'x'));
    sent.end('\r\n--B--\r\n');
    let before = -1;
    const isStill = () => {
      const left = sent.socket?.writableLength ?? 0;
      const isSame = left === before;
      before = left;
      return isSame;
    };
    await expect.poll(isStill, { interval: 100 }).toBe(true);
    // The rest is in the buffers of the two sockets.
    expect(before).toBeGreaterThan(10 * mb);
    gate.resolve();
    const [answer] = await once(sent, 'response');
    expect(JSON.parse(await text(answer)).stored[0].bytes).toBe(19 * mb);
  });

  it('[ERR-33] over its limit is a 413 that names it, told before the rest is sent, with nothing left', async () => {
    const sent = await open();
    const answered = once(sent, 'response');
    const piece = Buffer.alloc(mb, 'x');
    // The form is never ended: the answer cannot have waited for it.
    for (let written = 0; written < 22 && !sent.destroyed; written++) sent.write(piece);
    const [answer] = await answered;
    sent.end();
    expect([answer.statusCode, JSON.parse(await text(answer)).error.message]).toEqual([
      413,
      'file is larger than the limit of 20 MB (20000000 bytes)',
    ]);
    expect(await files()).toEqual([]);
    expect(reserved).toHaveLength(1);
  });

  it('[ERR-33] is refused by the length of its form, before a byte of it is read', async () => {
    const answer = await shell.send({
      method: 'POST',
      url: '/v1/shelf/a/files',
      headers: { 'content-type': 'multipart/form-data; boundary=B', 'content-length': String(22 * mb) },
      payload: '',
    });
    expect([answer.status, answer.json().error.message]).toEqual([
      413,
      'file is larger than the limit of 20 MB (20000000 bytes)',
    ]);
    expect(reserved).toEqual([]);
  });

  it('is removed when something else of its form is wrong', async () => {
    const wrong: [FormData, string][] = [
      [form('text', { note: 'too long' }), 'note must have at most 5 characters'],
      [form('text', { 'a[': 'x' }), 'a[ is not a readable field name'],
    ];
    for (const [data, message] of wrong) {
      const answer = await post(data);
      expect([answer.status, answer.json().error.message]).toEqual([400, message]);
    }
    const two = form('text');
    two.append('file', new Blob(['more']), 'more.txt');
    expect((await post(two)).json().error.message).toBe('file must have at most 1 files');
    const other = form('text');
    other.append('other', new Blob(['more']), 'more.txt');
    expect((await post(other)).json().error.message).toBe('other is not a file that this route takes');
    expect(await files()).toEqual([]);
    expect(reserved.length).toBeGreaterThan(1);
  });

  it('does not make room for fields: all of them together have the limit of one', async () => {
    const half = 'x'.repeat(600_000);
    const answer = await post(form('text', { one: half, two: half }));
    expect([answer.status, answer.json().error.message]).toEqual([
      413,
      'The sum of the fields is larger than the limit of 1 MiB (1048576 bytes)',
    ]);
    expect(await files()).toEqual([]);
  });

  it('is removed when its form breaks off', async () => {
    const { headers, payload } = await toBytes(form(Buffer.alloc(200_000, 'x')));
    const cut = payload.subarray(0, 150_000);
    const answer = await shell.send({ method: 'POST', url: '/v1/shelf/a/files', headers, payload: cut });
    expect([answer.status, answer.json().error.message]).toEqual([
      400,
      expect.stringContaining('The multipart body is malformed'),
    ]);
    expect(await files()).toEqual([]);
  });

  it('is removed when its client leaves', async () => {
    const { remove } = objects;
    const removed = new Promise<string>((resolve) => {
      objects.remove = async (key) => {
        await remove(key);
        resolve(key);
      };
    });
    const sent = await open();
    sent.write(Buffer.alloc(200_000, 'x'));
    await expect.poll(files).toHaveLength(1);
    sent.destroy();
    expect(await removed).toBe('shelf/0');
    expect(await files()).toEqual([]);
  });

  it('has no place: the failure is the answer', async () => {
    reserving = () => Promise.reject(new GatewayError('overloaded', 'The database is away'));
    const answer = await post(form('text'));
    expect([answer.status, answer.json().error.message]).toEqual([503, 'The database is away']);
    objects.put = () => Promise.reject(new GatewayError('internal', 'There is no room left'));
    reserving = async () => {};
    expect((await post(form('text'))).json().error.message).toBe('There is no room left');
    expect(await files()).toEqual([]);
  });

  it('is required, also of who sends no form at all', async () => {
    expect((await post(form(undefined, { note: 'a' }))).json().error).toMatchObject({
      message: 'file is required',
      param: 'file',
    });
    for (const payload of [undefined, { file_id: 'file-1' }]) {
      const answer = await shell.send({ method: 'POST', url: '/v1/shelf/a/files', payload });
      expect([answer.status, answer.json().error]).toEqual([
        400,
        expect.objectContaining({
          message: 'file is required, in a multipart/form-data body',
          param: 'file',
        }),
      ]);
    }
  });

  it('is not sent at all to what refuses it before: a client who waits for 100-continue hears it first', async () => {
    const address = await shell.listen();
    const sent = openRequest(`${address}/v1/shelf/none/files`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${shellKey}`,
        'content-type': 'multipart/form-data; boundary=B',
        'content-length': String(10 * mb),
        expect: '100-continue',
      },
    });
    let isInvited = false;
    sent.on('continue', () => {
      isInvited = true;
    });
    sent.on('error', () => {});
    sent.flushHeaders();
    const [answer] = await once(sent, 'response');
    expect([answer.statusCode, JSON.parse(await text(answer)).error.message, isInvited]).toEqual([
      400,
      'There is no such shelf',
      false,
    ]);
    sent.destroy();
  });
});
