import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';
import { createSampleCatalog, listedIds } from '../support/sample-models.ts';

let gateway: TestGateway;
let client: OpenAI;
let base: string;

beforeAll(async () => {
  gateway = await createTestGateway({ platform: { catalog: createSampleCatalog() } });
  base = await gateway.listen();
  client = new OpenAI({ apiKey: gateway.key, baseURL: base, maxRetries: 0 });
});
afterAll(() => gateway.close());

test('[ROUTE-28] [MODEL-36] the OpenAI SDK lists every model', async () => {
  const page = await client.models.list();
  expect(page.object).toBe('list');
  expect(page.data.map((model) => model.id)).toEqual(listedIds);
  expect(page.data[0]).toMatchObject({
    id: 'qwen3-8b',
    object: 'model',
    created: 1_760_000_000,
    owned_by: 'qwen',
    shutdown_date: '2027-06-30',
  });
});

test('[ROUTE-28] the OpenAI SDK iterates over the models and stops', async () => {
  const seen: string[] = [];
  for await (const model of client.models.list()) seen.push(model.id);
  expect(seen).toEqual(listedIds);
});

test('[ROUTE-28] [ROUTE-7] [MODEL-51] the OpenAI SDK retrieves a model, also one with a slash in its id', async () => {
  expect(await client.models.retrieve('qwen3-8b')).toMatchObject({ id: 'qwen3-8b', object: 'model' });
  expect((await client.models.retrieve('acme/thinker')).id).toBe('acme/thinker');
});

test('[ROUTE-28] the OpenAI SDK raises NotFoundError and AuthenticationError, with the request id', async () => {
  const missing = await client.models.retrieve('no-such-model').catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
  expect(missing).toMatchObject({ status: 404, code: 404, type: 'not_found_error' });
  expect((missing as InstanceType<typeof OpenAI.NotFoundError>).requestID).toMatch(/^req_[0-9a-f]{24}$/);
  const stranger = new OpenAI({ apiKey: 'wrong', baseURL: base, maxRetries: 0 });
  await expect(stranger.models.retrieve('qwen3-8b')).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  expect((await stranger.models.list()).data).toHaveLength(listedIds.length);
});
