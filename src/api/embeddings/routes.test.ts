import { expect, test } from 'vitest';
import { createCatalogShell } from '../../../test/support/catalog-shell.ts';
import type { Declaration } from '../../platform/catalog/index.ts';

const { get } = createCatalogShell();
const many = createCatalogShell({
  models: Array.from(
    { length: 1100 },
    (_, index): Declaration => ({
      id: `e-${index}`,
      type: 'embedding',
      engine: 'sandbox',
      contextLength: 8,
      dimensions: 8,
    }),
  ),
});

test('[MODEL-58] answers embedding models only, public and whatever the client', async () => {
  const answer = await get('/embeddings/models', { key: null });
  const { data, ...rest } = answer.json();
  expect(data.map((entry: { id: string }) => entry.id)).toEqual(['embed-small', 'embed-large']);
  expect(rest).toEqual({ total_count: 2, links: { next: null } });
  expect((await get('/embeddings/models', { headers: { 'user-agent': '@openrouter/sdk' } })).json()).toEqual(
    answer.json(),
  );
});

test('[MODEL-59] entries have output_modalities embeddings, the context length and the price in prompt', async () => {
  const [small, large] = (await get('/embeddings/models')).json().data;
  expect(small).toMatchObject({
    architecture: { output_modalities: ['embeddings'] },
    context_length: 512,
    pricing: { prompt: '0.00000002', completion: '0' },
  });
  expect(large).toMatchObject({ context_length: 8192, pricing: { prompt: '0' } });
  expect((await get('/models/embed-small')).json()).toEqual(small);
});

test('[MODEL-60] without offset and limit the whole list is returned', async () => {
  expect((await many.get('/embeddings/models')).json().data).toHaveLength(1100);
});

test('[MODEL-61] offset starts at 0 by default and leaves out what stands before it', async () => {
  const first = (await many.get('/embeddings/models?limit=2')).json();
  expect(first).toEqual((await many.get('/embeddings/models?offset=0&limit=2')).json());
  expect(first.links.next).toBe('/v1/embeddings/models?offset=2&limit=2');
  expect((await many.get('/embeddings/models?offset=1099')).json().data).toMatchObject([{ id: 'e-1099' }]);
});

test.each(['-1', 'x', '1.5', ''])('[MODEL-61] offset %j is a 400 naming it', async (offset) => {
  const answer = await get(`/embeddings/models?offset=${offset}`, { key: null });
  expect(answer.status).toBe(400);
  expect(answer.json().error.message).toContain('offset');
});

test('[MODEL-62] limit is 500 by default and 1 to 1000', async () => {
  const page = async (query: string) => (await many.get(`/embeddings/models?${query}`)).json();
  expect((await page('offset=0')).data).toHaveLength(500);
  expect((await page('limit=1')).data).toHaveLength(1);
  expect((await page('limit=1000')).data).toHaveLength(1000);
  expect((await page('limit=1000')).total_count).toBe(1100);
});

test.each(['0', '1001', 'ten', '2.5', '-1'])('[MODEL-62] limit %s is a 400 naming it', async (limit) => {
  const answer = await get(`/embeddings/models?limit=${limit}`, { key: null });
  expect(answer.status).toBe(400);
  expect(answer.json().error).toMatchObject({ code: 400, param: 'limit' });
  expect(answer.json().error.message).toContain('limit');
});

test('[MODEL-63] an unreadable catalogue is a 502, never an empty list', async () => {
  const unreadable = createCatalogShell({
    readModels: () => {
      throw new Error('gone');
    },
  });
  const answer = await unreadable.get('/embeddings/models', { key: null });
  expect(answer.status).toBe(502);
  expect(answer.json()).not.toHaveProperty('data');
});
