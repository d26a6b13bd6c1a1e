/** Collections of a composed gateway in the hands of clients that send what nobody should, or all of it at once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestGateway, type TestGateway } from './support/gateway.ts';
import { sendForm, untilRead } from './support/vectors-gateway.ts';
import { fileForm } from './support/vectors-shell.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await createTestGateway({
    settings: {
      limits: { requestsPerMinute: 100_000, concurrent: 64, maxQueueWaitMs: 20_000 },
      engines: { sandbox: { kind: 'sandbox' } },
      defaults: { embedding: 'words' },
      builtins: { models: [], defaults: {} },
      models: [{ type: 'embedding', id: 'words', engine: 'sandbox', contextLength: 8192, dimensions: 384 }],
    },
  });
});
afterAll(() => gateway.close());

const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: unknown) =>
  gateway.inject({ method, url: `/v1/vector_store${path}`, payload });

async function createWith(text: string | Buffer, fields: Record<string, string> = {}): Promise<string> {
  const id = (await call('POST', '', {})).json().id as string;
  const added = await sendForm(gateway, `/vector_store/${id}/files`, fileForm(text, fields));
  expect(added.status, added.body).toBe(201);
  await untilRead(gateway, id);
  return id;
}

describe('a filter', () => {
  const year = { type: 'eq', key: 'year', value: 2026 };

  it.each([
    ['several filters with a key', { type: 'and', filters: [year], key: 'year', value: 'unchecked' }],
    ['a comparison with filters', { ...year, filters: 5 }],
    ['a comparison with filters inside', { type: 'or', filters: [{ ...year, filters: [{}] }] }],
  ])('is what its type says, whatever else it has: %s', async (_, filters) => {
    const id = await createWith('The heron stands in the reeds.', { attributes: '{"year":2026}' });
    const answer = await call('POST', `/${id}/search`, { input: 'heron', filters });
    expect(answer.status, answer.body).toBe(200);
    expect(answer.json().data).toHaveLength(1);
  });
});

describe('what a collection takes', () => {
  it('is counted right when an item is described many times at once and then deleted', async () => {
    const id = await createWith('The heron stands in the reeds.');
    const [item] = (await call('GET', `/${id}/items`)).json().data;
    const descriptions = Array.from({ length: 12 }, (_, n) => 'x'.repeat(n * 100));
    const changes = await Promise.all(
      descriptions.map((description) => call('PATCH', `/${id}/items/${item.id}`, { description })),
    );
    expect(new Set(changes.map(({ status }) => status))).toEqual(new Set([202]));
    expect((await call('DELETE', `/${id}/items/${item.id}`)).status).toBe(204);
    expect((await call('GET', `/${id}`)).json()).toMatchObject({ item_count: 0, usage_bytes: 0 });
  });
});
