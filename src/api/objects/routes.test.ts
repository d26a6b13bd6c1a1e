import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createShell, type Shell } from '../../../test/support/shell.ts';
import { toBaseUrl } from '../../http/base-url.ts';
import { createLog } from '../../lib/log.ts';
import { createLinks, createObjects, type Links, type Objects } from '../../platform/objects/index.ts';
import { objectRoutes } from './index.ts';

const hourMs = 3_600_000;
const picture = Buffer.from('\x89PNG picture', 'latin1');

let folder: string;
let time: number;
let objects: Objects;
let links: Links;
let shell: Shell;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roundhouse-test-'));
  time = Date.now();
  const now = () => time;
  const sign = (purpose: string, text: string) =>
    createHmac('sha256', 'secret').update(`${purpose}\0${text}`).digest('base64');
  const signatures = { sign, verify: (a: string, b: string, given: string) => sign(a, b) === given };
  objects = createObjects({ folder, log: createLog('silent'), now });
  links = createLinks({ signatures, now });
  shell = createShell(objectRoutes, { platform: { objects, links } });
});
afterEach(async () => {
  await shell.close();
  await objects.close();
  await rm(folder, { recursive: true });
});

/** A picture, and the path of its link after the base address. */
async function store(name = 'ab12.png'): Promise<{ key: string; link: string }> {
  const key = objects.passingKey('images', time + hourMs, name);
  await objects.put(key, picture);
  const path = `/objects/${key}`;
  return { key, link: `${path}?${links.sign(path, time + hourMs)}` };
}

const get = (link: string, more: object = {}) => shell.send({ url: `/v1${link}`, key: null, ...more });

describe('GET /objects/{key}', () => {
  it('[IMG-6] an image link works without a key and stops working after one hour', async () => {
    const { link } = await store();
    const answer = await get(link);
    expect([answer.status, answer.bytes.equals(picture)]).toEqual([200, true]);
    time += hourMs - 1000;
    expect((await get(link)).status).toBe(200);
    time += 1001;
    const late = await get(link);
    expect([late.status, late.json().error.metadata.error_type]).toEqual([404, 'not_found']);
  });

  it('[IMG-7] a key sent to it is ignored, right or wrong, and it is reached by an absolute address', async () => {
    const { link } = await store();
    for (const key of ['wrong', 'rh_test-key']) expect((await get(link, { key })).status).toBe(200);
    const headers = { authorization: 'Basic x', 'x-api-key': 'y' };
    expect((await get(link, { headers })).status).toBe(200);
    const address = await shell.listen();
    const base = toBaseUrl({ headers: { host: new URL(address).host } }, { publicUrl: () => undefined });
    const answer = await fetch(`${base}${link}`);
    expect(Buffer.from(await answer.arrayBuffer()).equals(picture)).toBe(true);
  });

  it('is shown by a browser as what it is, and kept by it as long as the link lasts', async () => {
    const { link } = await store();
    const { headers } = await get(link);
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(picture.length),
      'content-disposition': 'inline; filename="ab12.png"',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      'access-control-allow-origin': '*',
    });
    const [, age] = /^private, max-age=(\d+)$/.exec(String(headers['cache-control'])) ?? [];
    expect(Number(age)).toBeGreaterThan(3590);
    expect(Number(age)).toBeLessThanOrEqual(3600);
    for (const [name, type] of [
      ['a.jpeg', 'image/jpeg'],
      ['a.jpg', 'image/jpeg'],
      ['a.webp', 'image/webp'],
      ['a.mp4', 'video/mp4'],
      ['a.html', 'application/octet-stream'],
      ['constructor', 'application/octet-stream'],
      ['a', 'application/octet-stream'],
    ] as const)
      expect((await get((await store(name)).link)).headers['content-type'], name).toBe(type);
  });

  it('is given in parts, and its head alone', async () => {
    const { link } = await store();
    const part = await get(link, { headers: { range: 'bytes=1-3' } });
    expect([part.status, part.body]).toEqual([206, 'PNG']);
    expect((await get(link, { headers: { range: 'bytes=99-' } })).status).toBe(416);
    const head = await get(link, { method: 'HEAD' });
    expect([head.status, head.body, head.headers['content-length']]).toEqual([
      200,
      '',
      String(picture.length),
    ]);
  });

  it('a forged link, one for another file, none, and a file that is gone are one and the same 404', async () => {
    const { key, link } = await store();
    const { link: other } = await store('cd.png');
    const [path = '', query = ''] = link.split('?');
    const messages = new Set();
    for (const wrong of [
      path,
      `${path}?exp=${time}`,
      `${link}x`,
      `${other.split('?')[0]}?${query}`,
      `/objects/%2e%2e%2f${key}?${query}`,
      `/objects/none?${query}`,
    ]) {
      const answer = await get(wrong);
      expect(answer.status, wrong).toBe(404);
      messages.add(answer.json().error.message);
    }
    await objects.remove(key);
    const gone = await get(link);
    expect(gone.status).toBe(404);
    messages.add(gone.json().error.message);
    expect(messages.size).toBe(1);
  });
});
