import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';
import { createSampleCatalog, listedIds } from '../support/sample-models.ts';

const textIds = ['qwen3-8b', 'plain-chat', 'acme/thinker'];

let gateway: TestGateway;
let client: OpenRouter;
let base: string;

beforeAll(async () => {
  gateway = await createTestGateway({ platform: { catalog: createSampleCatalog() } });
  base = await gateway.listen();
  client = connect(base, gateway.key);
});
afterAll(() => gateway.close());

/** By itself the SDK retries every 5xx for an hour. */
function connect(serverURL: string, apiKey: string): OpenRouter {
  return new OpenRouter({ serverURL, apiKey, retryConfig: { strategy: 'none' } });
}

test('[ROUTE-30] [MODEL-37] the OpenRouter SDK parses the model list, text models by default', async () => {
  const { result } = await client.models.list();
  expect(result.data.map((model) => model.id)).toEqual(textIds);
  expect(result.totalCount).toBe(3);
  expect(result.links.next).toBeNull();
  expect(result.data[0]).toMatchObject({
    canonicalSlug: 'qwen3-8b',
    contextLength: 131_072,
    huggingFaceId: 'Qwen/Qwen3-8B',
    pricing: { prompt: '0.00000015', inputCacheRead: '0.00000003' },
    reasoning: { mandatory: false, defaultEffort: 'medium' },
    defaultParameters: { topK: 20 },
  });
});

test('[ROUTE-30] [MODEL-39] the OpenRouter SDK parses an entry of every type of model', async () => {
  const { result } = await client.models.list({ outputModalities: 'all' });
  expect(result.data.map((model) => model.id)).toEqual(listedIds);
});

test('[ROUTE-30] [MODEL-31] [MODEL-35] the OpenRouter SDK pages through the list, its own filters ignored', async () => {
  const seen: string[] = [];
  const pages = await client.models.list({
    outputModalities: 'all',
    limit: 4,
    sort: 'newest',
    category: 'programming',
  });
  for await (const page of pages) seen.push(...page.result.data.map((model) => model.id));
  expect(seen).toEqual(listedIds);
  expect((await client.models.list({})).result.data).toHaveLength(3);
});

test('[ROUTE-30] [MODEL-40] [MODEL-41] the OpenRouter SDK filters the list', async () => {
  const ids = async (request: Parameters<typeof client.models.list>[0]) =>
    (await client.models.list(request)).result.data.map((model) => model.id);
  expect(await ids({ inputModalities: 'image' })).toEqual(['qwen3-8b']);
  expect(await ids({ supportedParameters: 'tools' })).toEqual(['qwen3-8b', 'acme/thinker']);
  expect(await ids({ q: 'plain' })).toEqual(['plain-chat']);
});

test('[ROUTE-30] [MODEL-43] the OpenRouter SDK counts the models', async () => {
  expect((await client.models.count()).data.count).toBe(3);
  expect((await client.models.count({ outputModalities: 'all' })).data.count).toBe(listedIds.length);
});

test('[ROUTE-30] [MODEL-44] [MODEL-46] [MODEL-48] the OpenRouter SDK gets one model', async () => {
  expect((await client.models.get({ author: 'qwen', slug: 'qwen3-8b' })).data.id).toBe('qwen3-8b');
  expect((await client.models.get({ author: 'Qwen', slug: 'Qwen3-8B:free' })).data.id).toBe('qwen3-8b');
  expect((await client.models.get({ author: 'acme', slug: 'thinker' })).data.id).toBe('acme/thinker');
  expect((await client.models.get({ author: 'x', slug: 'acme/thinker' })).data.id).toBe('acme/thinker');
});

test('[ROUTE-30] [MODEL-72] [MODEL-73] the OpenRouter SDK parses the endpoints of every model', async () => {
  for (const id of listedIds) {
    const { data } = await client.endpoints.list({ author: 'any', slug: id });
    expect(data.id).toBe(id);
    expect(data.endpoints).toHaveLength(1);
  }
});

test('[ROUTE-30] [MODEL-58] the OpenRouter SDK pages through the embedding models', async () => {
  const seen: string[] = [];
  const pages = await client.embeddings.listModels({ limit: 1 });
  for await (const page of pages) seen.push(...page.result.data.map((model) => model.id));
  expect(seen).toEqual(['embed-small', 'embed-large']);
  expect((await client.embeddings.listModels()).result.totalCount).toBe(2);
});

test('[ROUTE-30] [IMG-69] [IMG-76] the OpenRouter SDK parses the image models and their descriptors', async () => {
  const { data } = await client.images.listModels();
  expect(data.map((model) => model.id)).toEqual(['draw-fast', 'atelier/draw-edit']);
  expect(data[0]?.supportedParameters).toMatchObject({
    steps: { type: 'range', min: 1, max: 50 },
    resolution: { type: 'enum', values: ['512', '768', '1K', '1.5K', '2K'] },
    seed: { type: 'boolean' },
  });
});

test('[ROUTE-30] [IMG-79] the OpenRouter SDK parses the endpoint record of every image model', async () => {
  const record = await client.images.listModelEndpoints({ author: 'atelier', slug: 'draw-fast' });
  expect(record.id).toBe('draw-fast');
  expect(record.endpoints[0]).toMatchObject({
    providerSlug: 'atelier',
    allowedPassthroughParameters: ['num_inference_steps', 'steps', 'guidance_scale', 'negative_prompt'],
    pricing: [{ billable: 'output_image', unit: 'megapixel', costUsd: 0.01 }],
  });
  const slashed = await client.images.listModelEndpoints({ author: 'x', slug: 'atelier/draw-edit' });
  expect(slashed.endpoints[0]?.pricing).toEqual([]);
});

test('[ROUTE-30] [VIDEO-83] the OpenRouter SDK parses the video models', async () => {
  const { data } = await client.videoGeneration.listVideosModels();
  expect(data).toMatchObject([
    {
      id: 'film-one',
      pricingSkus: { duration_seconds: '0.05', duration_seconds_2K: '0.2' },
      creativity: null,
    },
    { id: 'film-mini', pricingSkus: null, supportedDurations: [2] },
  ]);
});

test('[ROUTE-30] the OpenRouter SDK raises its typed errors', async () => {
  const missing = await client.models
    .get({ author: 'x', slug: 'no-such-model' })
    .catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(errors.NotFoundResponseError);
  expect(missing).toMatchObject({ statusCode: 404, error: { code: 404 } });
  await expect(client.models.list({ limit: 0 })).rejects.toBeInstanceOf(errors.BadRequestResponseError);
  const stranger = connect(base, 'wrong');
  await expect(stranger.images.listModelEndpoints({ author: 'x', slug: 'draw-fast' })).rejects.toMatchObject({
    statusCode: 401,
  });
});
