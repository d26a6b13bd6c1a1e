import { createHmac } from 'node:crypto';
import Type from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createShell, type Shell } from '../../test/support/shell.ts';
import { common } from '../../test/support/shell-routes.ts';
import { createLinks, type Links } from '../platform/objects/index.ts';
import { toOpenApi } from './openapi.ts';
import { defineRoute } from './route.ts';

const route = defineRoute({
  ...common,
  method: 'GET',
  path: '/videos/{id}/content',
  access: 'link',
  query: Type.Object({ index: Type.Optional(Type.Integer()) }),
  handle: ({ caller, query, params }) => ({
    who: caller?.subscriptionId ?? null,
    index: query.index ?? 0,
    id: params.id,
  }),
});

let time: number;
let links: Links;
let shell: Shell;

beforeEach(() => {
  time = 1_790_000_000_000;
  const sign = (purpose: string, text: string) =>
    createHmac('sha256', 'secret').update(`${purpose}\0${text}`).digest('base64');
  const signatures = { sign, verify: (a: string, b: string, given: string) => sign(a, b) === given };
  links = createLinks({ signatures, now: () => time });
  shell = createShell([route], { platform: { links } });
});
afterEach(() => shell.close());

const path = '/videos/video_1/content';

describe('a route behind a link', () => {
  it('takes a key', async () => {
    const answer = await shell.send({ url: `/v1${path}?index=2` });
    expect(answer.json()).toEqual({ who: 'sub_1', index: 2, id: 'video_1' });
  });

  it('takes a signed link without a key, under both bases, and then nobody is the caller', async () => {
    const query = links.sign(path, time + 1000);
    for (const base of ['/v1', '/v1/v1']) {
      const answer = await shell.send({ url: `${base}${path}?index=1&${query}`, key: null });
      expect([answer.status, answer.json()]).toEqual([200, { who: null, index: 1, id: 'video_1' }]);
    }
  });

  it('is a 401 without either, and with a link that is forged, late or for another path', async () => {
    const query = links.sign(path, time + 1000);
    const none = await shell.send({ url: `/v1${path}`, key: null });
    expect([none.status, none.json().error.message]).toEqual([401, 'No API key provided']);
    for (const url of [
      `${path}?${query}x`,
      `${path}?${query.replace('sig=', 'sig=x')}`,
      `${path}?${query.replace(/exp=\d/, 'exp=9')}`,
      `/videos/video_2/content?${query}`,
      `${path}?${links.sign(path, time - 1000)}`,
    ]) {
      const answer = await shell.send({ url: `/v1${url}`, key: null });
      expect([answer.status, answer.json().error.metadata.error_type], url).toEqual([401, 'authentication']);
    }
    time += 1001;
    expect((await shell.send({ url: `/v1${path}?${query}`, key: null })).status).toBe(401);
  });

  it('lets the key decide where there is one', async () => {
    const valid = links.sign(path, time + 1000);
    expect((await shell.send({ url: `/v1${path}?exp=1&sig=x` })).json().who).toBe('sub_1');
    expect((await shell.send({ url: `/v1${path}?${valid}` })).json().who).toBe('sub_1');
    expect((await shell.send({ url: `/v1${path}?${valid}`, key: 'wrong' })).status).toBe(401);
  });

  it('is described as such', () => {
    const { paths, components } = toOpenApi([route], '1');
    expect(paths['/videos/{id}/content']?.['get']?.security).toEqual([
      { bearer: [] },
      { apiKey: [] },
      { link: [] },
    ]);
    expect(components['securitySchemes']).toMatchObject({ link: { in: 'query', name: 'sig' } });
  });
});
