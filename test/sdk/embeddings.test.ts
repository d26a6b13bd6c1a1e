/** Embeddings and reranking by the SDKs that have them, over a socket, against the sandbox models. */
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenAIEmbeddings } from '@langchain/openai';
import { OpenRouter } from '@openrouter/sdk';
import type {
  CreateEmbeddingsResponseBody,
  CreateRerankResponseBody,
} from '@openrouter/sdk/models/operations';
import { cosineSimilarity, type EmbeddingModel, embed, embedMany } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { thrown } from '../support/chat-gateway.ts';
import { createTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let base: string;
beforeAll(async () => {
  gateway = await createTestGateway({
    settings: { limits: { requestsPerMinute: 100_000, concurrent: 64, maxQueueWaitMs: 20_000 } },
  });
  base = await gateway.listen();
});
afterAll(() => gateway.close());

const model = 'sandbox-embedding';
const question = 'How do I reset my password?';
const near = 'I forgot my password and want to reset it';
const far = 'Lisbon is sunny and warm today';

/** What every client must get, however it asks. */
async function plain(input: string): Promise<number[]> {
  const answer = await gateway.inject({ method: 'POST', url: '/v1/embeddings', payload: { model, input } });
  return answer.json().data[0].embedding;
}

function expectToFit(vectors: number[][]): void {
  const [asked, close, distant] = vectors as [number[], number[], number[]];
  for (const vector of vectors) {
    expect(vector).toHaveLength(1024);
    expect(cosineSimilarity(vector, vector)).toBeCloseTo(1, 5);
  }
  expect(cosineSimilarity(asked, close)).toBeGreaterThan(cosineSimilarity(asked, distant) + 0.2);
}

describe('the OpenAI SDK', () => {
  const client = () => new OpenAI({ apiKey: gateway.key, baseURL: base, maxRetries: 0 });
  const vectorsOf = ({ data }: OpenAI.CreateEmbeddingResponse) => data.map(({ embedding }) => [...embedding]);

  it('[ROUTE-28] [EMB-10] asks for base64 by itself and gets the same numbers as with float', async () => {
    const input = [question, near, far];
    const byDefault = await client().embeddings.create({ model, input });
    expect(byDefault).toMatchObject({ object: 'list', model });
    expect(byDefault.usage.prompt_tokens).toBe(byDefault.usage.total_tokens);
    expect(byDefault.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expectToFit(vectorsOf(byDefault));
    const asFloats = await client().embeddings.create({ model, input, encoding_format: 'float' });
    expect(vectorsOf(byDefault)).toEqual(vectorsOf(asFloats));
    const asText = await client().embeddings.create({ model, input: question, encoding_format: 'base64' });
    expect(typeof asText.data[0]?.embedding).toBe('string');
  });

  it('[ROUTE-28] [EMB-4] [EMB-13] sends tokens and dimensions, and 2048 inputs come back in order', async () => {
    const tokens = await client().embeddings.create({ model, input: [[1, 2, 3], [4]], dimensions: 16 });
    expect(vectorsOf(tokens).map(({ length }) => length)).toEqual([16, 16]);
    expect(tokens.usage.prompt_tokens).toBe(4);
    const input = Array.from({ length: 2048 }, (_, index) => `text number ${index}`);
    const many = await client().embeddings.create({ model, input });
    expect(many.data).toHaveLength(2048);
    expect([...many.data[1234]!.embedding]).toEqual(await plain('text number 1234'));
  });

  it('[ROUTE-28] raises BadRequestError and NotFoundError', async () => {
    const wrong = await thrown(() => client().embeddings.create({ model, input: [] }));
    expect(wrong).toBeInstanceOf(OpenAI.BadRequestError);
    expect(wrong).toMatchObject({ param: 'input' });
    const missing = await thrown(() => client().embeddings.create({ model: 'nobody', input: 'a' }));
    expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe('the OpenRouter SDK', () => {
  const client = () =>
    new OpenRouter({ serverURL: base, apiKey: gateway.key, retryConfig: { strategy: 'none' } });

  it('[ROUTE-30] [EMB-15] [EMB-18] parses vectors and usage, and its own fields are accepted', async () => {
    const requestBody = { model, input: [question, near, far], user: 'u', sessionId: 's', provider: {} };
    const result = (await client().embeddings.generate({ requestBody })) as CreateEmbeddingsResponseBody;
    expect(result).toMatchObject({ object: 'list', model, id: expect.stringMatching(/^emb-/) });
    expectToFit(result.data.map(({ embedding }) => embedding as number[]));
    expect(result.usage?.cost).toBeGreaterThan(0);
    const query = (await client().embeddings.generate({
      requestBody: { model, input: question, inputType: 'search_query' },
    })) as CreateEmbeddingsResponseBody;
    expect(query.data[0]?.embedding).not.toEqual(result.data[0]?.embedding);
  });

  it('[ROUTE-30] parses base64', async () => {
    const requestBody = { model, input: question, encodingFormat: 'base64' as const };
    const result = (await client().embeddings.generate({ requestBody })) as CreateEmbeddingsResponseBody;
    const bytes = new Uint8Array(Buffer.from(result.data[0]?.embedding as string, 'base64'));
    expect([...new Float32Array(bytes.buffer)]).toEqual(await plain(question));
  });

  it('[ROUTE-30] lists the embedding models and reranks', async () => {
    const models = await client().embeddings.listModels();
    expect(JSON.stringify(models)).toContain(model);
    const requestBody = {
      model: 'sandbox-rerank',
      query: question,
      documents: [far, { text: near }],
      topN: 1,
    };
    const ranked = (await client().rerank.rerank({ requestBody })) as CreateRerankResponseBody;
    expect(ranked.results).toEqual([
      { index: 1, relevanceScore: expect.any(Number), document: { text: near } },
    ]);
    expect(ranked.usage?.totalTokens).toBeGreaterThan(0);
  });
});

describe.each([
  ['@ai-sdk/openai', () => createOpenAI({ baseURL: base, apiKey: gateway.key }).embedding(model)],
  [
    '@ai-sdk/openai-compatible',
    () =>
      createOpenAICompatible({ name: 'roundhouse', baseURL: base, apiKey: gateway.key }).embeddingModel(
        model,
      ),
  ],
] as [string, () => EmbeddingModel][])('the AI SDK with %s', (_, connect) => {
  it('[ROUTE-31] [EMB-3] [EMB-9] embeds one text', async () => {
    const { embedding, usage } = await embed({ model: connect(), value: question, maxRetries: 0 });
    expect(embedding).toEqual(await plain(question));
    expect(usage.tokens).toBeGreaterThan(0);
  });

  it('[ROUTE-31] [EMB-7] embeds many texts, more than it sends at once, in their order', async () => {
    const values = [question, near, far, ...Array.from({ length: 2100 }, (_, index) => `text ${index}`)];
    const { embeddings } = await embedMany({ model: connect(), values, maxRetries: 0 });
    expect(embeddings).toHaveLength(2103);
    expectToFit(embeddings.slice(0, 3));
    expect(embeddings[2000]).toEqual(await plain('text 1997'));
  });

  it('[ROUTE-31] raises an API error for what is refused', async () => {
    const error = await thrown(() => embed({ model: connect(), value: '', maxRetries: 0 }));
    expect(error).toMatchObject({ statusCode: 400, message: expect.stringContaining('input') });
  });
});

describe('LangChain', () => {
  const connect = (options: object = {}) =>
    new OpenAIEmbeddings({
      model,
      apiKey: gateway.key,
      configuration: { baseURL: base },
      maxRetries: 0,
      ...options,
    });

  it('[ROUTE-33] embeds a query and documents, in batches of its own', async () => {
    expect(await connect().embedQuery(question)).toEqual(await plain(question));
    expectToFit(await connect({ batchSize: 2 }).embedDocuments([question, near, far]));
  });

  it('[ROUTE-33] [EMB-13] asks for fewer dimensions', async () => {
    expect(await connect({ dimensions: 64 }).embedQuery(question)).toHaveLength(64);
  });
});
