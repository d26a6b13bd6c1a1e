import { describe, expect, test } from 'vitest';
import { asAnthropic, createCatalogShell } from '../../../test/support/catalog-shell.ts';
import type { Declaration } from '../../platform/catalog/index.ts';

const { get } = createCatalogShell();
const list = async (query = '', shell = { get }) =>
  (await shell.get(`/models${query}`, { headers: asAnthropic })).json();
const ids = (answer: { data: { id: string }[] }) => answer.data.map((model) => model.id);

const shown = [
  'qwen3-8b',
  'anthropic/qwen3-8b',
  'plain-chat',
  'anthropic/plain-chat',
  'acme/thinker',
  'anthropic/acme/thinker',
];

const chat = (id: string): Declaration => ({ id, type: 'chat', engine: 'sandbox', contextLength: 4096 });
const many = createCatalogShell({ models: Array.from({ length: 600 }, (_, index) => chat(`chat-${index}`)) });

describe('GET /models for clients of the messages format', () => {
  test('[MODEL-64] answers chat models only, with the ids of the page', async () => {
    const answer = await list();
    expect(Object.keys(answer).sort()).toEqual(['data', 'first_id', 'has_more', 'last_id']);
    expect(ids(answer)).toEqual(shown);
    expect(answer).toMatchObject({
      has_more: false,
      first_id: 'qwen3-8b',
      last_id: 'anthropic/acme/thinker',
    });
  });

  test('[MODEL-64] the ids are null when there is no chat model', async () => {
    const empty = createCatalogShell({
      models: [{ id: 'e', type: 'embedding', engine: 'sandbox', contextLength: 8, dimensions: 8 }],
    });
    expect(await list('', empty)).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });

  test('[MODEL-64] [ROUTE-21] [ROUTE-22] the version header with any value and the claude agents get it', async () => {
    const others: Record<string, string>[] = [
      { 'anthropic-version': 'anything' },
      { 'user-agent': 'claude-cli/2.1 (external)' },
      { 'user-agent': 'claude-code/1.0' },
    ];
    for (const headers of others) expect(ids((await get('/models', { headers })).json())).toEqual(shown);
  });

  test('[MODEL-65] a model has every field of the format', async () => {
    const { data } = await list();
    expect(data[0]).toEqual({
      type: 'model',
      id: 'qwen3-8b',
      display_name: 'Qwen3 8B',
      created_at: '2025-10-09T08:53:20Z',
      max_input_tokens: 131_072,
      max_tokens: 32_768,
      capabilities: null,
      lifecycle: 'active',
      line: null,
      deprecated_at: null,
      retires_at: null,
    });
    expect(data[2]).toMatchObject({ id: 'plain-chat', display_name: 'plain-chat', max_tokens: 4096 });
  });

  test('[MODEL-66] limit is 20 by default and 1 to 1000', async () => {
    expect((await list('', many)).data).toHaveLength(20);
    expect((await list('?limit=1', many)).data).toHaveLength(1);
    expect((await list('?limit=1000', many)).data).toHaveLength(1000);
  });

  test.each(['0', '1001', 'many', '1.5', '-3'])(
    '[MODEL-66] limit %s is a 400 in the format of the client',
    async (limit) => {
      const answer = await get(`/models?limit=${limit}`, { headers: asAnthropic });
      expect(answer.status).toBe(400);
      expect(answer.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
      expect(answer.json().error.message).toContain('limit');
      expect(answer.json().request_id).toBe(answer.headers['request-id']);
    },
  );

  test('[MODEL-66] has_more is true exactly when more follow', async () => {
    expect(await list('?limit=5')).toMatchObject({ has_more: true, last_id: 'acme/thinker' });
    expect(await list('?limit=6')).toMatchObject({ has_more: false });
    expect(await list('?limit=2&after_id=anthropic/plain-chat')).toMatchObject({ has_more: false });
    expect(await list('?limit=1&after_id=anthropic/plain-chat')).toMatchObject({ has_more: true });
  });

  test('[MODEL-66] after_id continues behind an id and before_id ends in front of one', async () => {
    expect(ids(await list('?after_id=plain-chat'))).toEqual(shown.slice(3));
    expect(ids(await list('?after_id=qwen3-8b&limit=2'))).toEqual(shown.slice(1, 3));
    expect(await list('?after_id=anthropic/acme/thinker')).toEqual({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
    const before = await list('?before_id=acme/thinker&limit=2');
    expect(ids(before)).toEqual(shown.slice(2, 4));
    expect(before.has_more).toBe(true);
    expect(await list('?before_id=plain-chat&limit=1')).toMatchObject({ has_more: true, first_id: shown[1] });
    expect(await list('?before_id=plain-chat&limit=2')).toMatchObject({
      has_more: false,
      first_id: 'qwen3-8b',
    });
  });

  test('[MODEL-66] following last_id shows every model once', async () => {
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const page = await list(`?limit=7${after}`, many);
      seen.push(...ids(page));
      if (!page.has_more) break;
      after = `&after_id=${encodeURIComponent(page.last_id)}`;
    }
    expect(seen).toHaveLength(1200);
    expect(new Set(seen).size).toBe(1200);
  });

  test('[MODEL-66] a cursor that is no id of the list, or two cursors, are a 400 naming them', async () => {
    for (const [query, name] of [
      ['after_id=nobody', 'after_id'],
      ['before_id=draw-fast', 'before_id'],
      ['after_id=qwen3-8b&before_id=plain-chat', 'before_id'],
    ] as const) {
      const answer = await get(`/models?${query}`, { headers: asAnthropic });
      expect(answer.status).toBe(400);
      expect(answer.json().error.message).toContain(name);
    }
  });

  test('[MODEL-67] lifecycle[] and workspace_id are ignored', async () => {
    expect(ids(await list('?lifecycle[]=active&lifecycle%5B%5D=deprecated&workspace_id=w_1'))).toEqual(shown);
  });

  test('[MODEL-68] shows each chat model under its id and under the prefix', async () => {
    for (const id of ['qwen3-8b', 'plain-chat', 'acme/thinker']) {
      expect(ids(await list()).filter((name) => name === id || name === `anthropic/${id}`)).toHaveLength(2);
    }
  });

  test('[MODEL-68] a model that really has a prefixed id is shown once under it', async () => {
    const clash = createCatalogShell({ models: [chat('mini'), chat('anthropic/mini')] });
    expect(ids(await list('', clash))).toEqual(['mini', 'anthropic/mini', 'anthropic/anthropic/mini']);
  });
});

describe('GET /models/{id} for clients of the messages format', () => {
  test('[MODEL-69] answers the object of the list, prefixed ids included', async () => {
    for (const model of (await list()).data) {
      for (const id of [model.id, encodeURIComponent(model.id)]) {
        expect((await get(`/models/${id}`, { headers: asAnthropic })).json()).toEqual(model);
      }
    }
  });

  test.each(['draw-fast', 'anthropic/draw-fast', 'hidden-chat', 'no-such-model', 'Qwen3-8b', 'anthropic/'])(
    '[MODEL-70] %s, which the list does not show, is a 404 in that format',
    async (id) => {
      const answer = await get(`/models/${encodeURIComponent(id)}`, { headers: asAnthropic });
      expect(answer.status).toBe(404);
      expect(answer.json()).toEqual({
        type: 'error',
        error: { type: 'not_found_error', message: expect.stringContaining(id) },
        request_id: answer.headers['request-id'],
      });
    },
  );

  test('[MODEL-70] a missing key is a 401 in that format', async () => {
    const answer = await get('/models/qwen3-8b', { headers: asAnthropic, key: null });
    expect(answer.status).toBe(401);
    expect(answer.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
  });
});
