/** Embeddings and reranking through the whole gateway: what they cost, what limits them, and engines that fail. */
import { request as send } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { engineKinds } from '../src/engines/index.ts';
import { createCatalog } from '../src/platform/catalog/catalog.ts';
import type { Declaration } from '../src/platform/catalog/index.ts';
import { createTestGateway, type TestGateway } from './support/gateway.ts';
import { createMockEngine, type MockEngine } from './support/mock-engine.ts';

const embedding = {
  type: 'embedding',
  contextLength: 64,
  dimensions: 8,
  pricing: { prompt: '0.000001' },
} as const;
const sandboxModels: readonly Declaration[] = [
  { ...embedding, id: 'priced', engine: 'sandbox' },
  {
    ...embedding,
    id: 'aware',
    engine: 'sandbox',
    queryInstruction: { text: 'Instruct: find it\nQuery: ', marker: 'Instruct:' },
  },
  { ...embedding, id: 'once-a-minute', engine: 'sandbox', limits: { requestsPerMinute: 1 } },
  { id: 'ranker', type: 'rerank', engine: 'sandbox', contextLength: 64, pricing: { prompt: '0.00001' } },
  {
    id: 'rank-once',
    type: 'rerank',
    engine: 'sandbox',
    contextLength: 64,
    limits: { requestsPerMinute: 1 },
  },
];

describe('over the sandbox', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({ settings: { models: sandboxModels } });
  });
  afterAll(() => gateway.close());
  const post = (path: string, payload: object) =>
    gateway.inject({ method: 'POST', url: `/v1${path}`, payload });

  /** What the ledger holds of an answer. */
  async function billed(headers: Record<string, unknown>) {
    const id = String(headers['x-generation-id']);
    const { usage, accounts } = gateway.house.platform;
    const caller = await accounts.authenticate(gateway.key);
    return usage.generation(caller?.subscriptionId ?? '', id);
  }

  it('[BILL-24] bills the prompt’s tokens at the model’s price, once', async () => {
    const answer = await post('/embeddings', { model: 'priced', input: ['one two three', 'four'] });
    expect(answer.json().usage).toEqual({ prompt_tokens: 4, total_tokens: 4, cost: 0.000004 });
    expect(await billed(answer.headers)).toMatchObject({
      operation: 'embeddings',
      modelId: 'priced',
      quantities: { promptTokens: 4 },
      costPicoUsd: 4_000_000n,
      outcome: 'stop',
      streamed: false,
    });
  });

  it('[BILL-24] [EMB-20] bills the instruction’s tokens with the text’s', async () => {
    const input = 'Where is it';
    const plain = (await post('/embeddings', { model: 'aware', input })).json().usage;
    const query = await post('/embeddings', { model: 'aware', input, input_type: 'query' });
    expect(plain.prompt_tokens).toBe(3);
    expect(query.json().usage.prompt_tokens).toBe(10);
    expect(await billed(query.headers)).toMatchObject({
      quantities: { promptTokens: 10 },
      costPicoUsd: 10_000_000n,
    });
  });

  it('[EMB-19] cuts an input that is longer than the model reads, and bills what was read', async () => {
    const long = 'word '.repeat(500);
    const { data, usage } = (
      await post('/embeddings', { model: 'priced', input: [long, 'word '.repeat(70)] })
    ).json();
    expect(usage.prompt_tokens).toBe(128);
    expect(data[0].embedding).toEqual(data[1].embedding);
  });

  it('does not bill what was refused', async () => {
    const answer = await post('/embeddings', { model: 'priced', input: 'a', dimensions: 4 });
    expect(answer.status).toBe(400);
    expect(await billed(answer.headers)).toBeUndefined();
  });

  it.each([
    ['/embeddings', { model: 'once-a-minute', input: 'a' }],
    ['/rerank', { model: 'rank-once', query: 'a', documents: ['a'] }],
  ])(
    '[LIMIT-1] [LIMIT-3] [LIMIT-13] %s over its limit is a 429 that says when to come back',
    async (path, body) => {
      const first = await post(path, body);
      expect(first.status).toBe(200);
      expect(first.headers).toMatchObject({
        'x-ratelimit-limit-requests': '1',
        'x-ratelimit-remaining-requests': '0',
      });
      const second = await post(path, body);
      expect(second.status).toBe(429);
      expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
      expect(second.headers['x-ratelimit-remaining-requests']).toBe('0');
      expect(second.json().error.code).toBe(429);
    },
  );

  it('ranks by the words of the query, and bills every pair', async () => {
    const answer = await post('/rerank', {
      model: 'ranker',
      query: 'red apples',
      documents: ['blue sky', 'apples', { text: 'red apples' }],
      top_n: 2,
    });
    const { results, usage } = answer.json();
    expect(results).toEqual([
      { index: 2, relevance_score: 1, document: { text: 'red apples' } },
      { index: 1, relevance_score: expect.any(Number), document: { text: 'apples' } },
    ]);
    expect(usage).toEqual({ prompt_tokens: 11, total_tokens: 11, cost: 0.00011 });
    expect(await billed(answer.headers)).toMatchObject({ operation: 'rerank', costPicoUsd: 110_000_000n });
  });
});

describe('over engines', () => {
  const engines: MockEngine[] = [];
  let gateway: TestGateway | undefined;
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await Promise.all(engines.splice(0).map((engine) => engine.close()));
  });

  async function setUp(flavor: string, count = 1) {
    for (let i = 0; i < count; i++) {
      const engine = await createMockEngine();
      engine.route('/health', ({ text }) => text(200, ''));
      engines.push(engine);
    }
    const names = engines.map((_, index) => `e${index}`);
    const declared = engines.map(({ url }, index) => [
      `e${index}`,
      { kind: 'openai-compatible', url, flavor },
    ]);
    gateway = await createTestGateway({
      settings: {
        engines: Object.fromEntries(declared),
        models: [
          { ...embedding, id: 'm', engines: names, dimensions: 2 },
          { id: 'r', type: 'rerank', engines: names, contextLength: 64 },
        ],
        builtins: { models: [], defaults: {} },
      },
    });
    return gateway;
  }
  const unit = ({ json, request }: Parameters<Parameters<MockEngine['route']>[1]>[0]) =>
    json(200, {
      data: (request.body!['input'] as string[]).map((_, index) => ({ index, embedding: [0, 1] })),
      usage: { prompt_tokens: 5 },
    });

  it('another engine is asked when one is down, and only the answer is billed', async () => {
    const { inject } = await setUp('tei', 2);
    for (const engine of engines) engine.route('/v1/embeddings', unit);
    await engines[0]?.refuse();
    for (let i = 0; i < 4; i++) {
      const answer = await inject({
        method: 'POST',
        url: '/v1/embeddings',
        payload: { model: 'm', input: 'a' },
      });
      expect(answer.status).toBe(200);
      expect(answer.json().data[0].embedding).toEqual([0, 1]);
      expect(answer.json().usage).toEqual({ prompt_tokens: 5, total_tokens: 5, cost: 0.000005 });
    }
    expect(engines[1]?.others.filter(({ path }) => path === '/v1/embeddings')).toHaveLength(4);
  });

  it('a client that leaves ends the engine’s work, and its place is free again', async () => {
    const made = await setUp('vllm');
    const base = await made.listen();
    const arrived = Promise.withResolvers<{ aborted: Promise<void> }>();
    engines[0]?.route('/v1/embeddings', ({ request }) => {
      arrived.resolve(request);
      return request.aborted;
    });
    const leaving = new AbortController();
    const left = send(`${base}/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'a' }),
      signal: leaving.signal,
    }).catch(() => 'left');
    const { aborted } = await arrived.promise;
    leaving.abort();
    await Promise.all([left, aborted]);
  });

  it('ranks over a server that scores', async () => {
    const { inject } = await setUp('tei');
    engines[0]?.route('/rerank', ({ json }) =>
      json(
        200,
        [
          { index: 1, score: 0.75 },
          { index: 0, score: 0.25 },
        ],
        { 'x-compute-tokens': '9' },
      ),
    );
    const payload = { model: 'r', query: 'q', documents: ['a', 'b'], return_documents: false };
    expect((await inject({ method: 'POST', url: '/v1/rerank', payload })).json()).toMatchObject({
      results: [
        { index: 1, relevance_score: 0.75 },
        { index: 0, relevance_score: 0.25 },
      ],
      usage: { prompt_tokens: 9, total_tokens: 9, cost: 0 },
    });
  });

  it('the catalogue refuses a model whose engine’s flavour does not serve it, by its path', () => {
    const settings = {
      source: 'test',
      defaults: {},
      engines: { tei: { kind: 'openai-compatible', url: 'http://127.0.0.1:9', flavor: 'tei' } },
      models: [{ id: 'c', type: 'chat', engine: 'tei', contextLength: 64 } as const],
      builtins: { models: [], defaults: {} },
    };
    expect(() => createCatalog({ settings, engineKinds })).toThrow(
      'models[0].engine names tei, but the kind openai-compatible with flavor tei does not serve chat models, only: embedding, rerank',
    );
  });
});
