/** The rerank port against a server that answers as it is told. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  answers,
  createMockEngine,
  type MockEngine,
  type MockExchange,
} from '../../../test/support/mock-engine.ts';
import { Wheel } from '../../lib/wheel.ts';
import type { Engine } from '../contract/engine.ts';
import type { RerankRequest } from '../contract/rerank.ts';
import { toAddress } from './address.ts';
import type { FlavorName } from './flavor.ts';
import { flavors } from './flavors.ts';
import { createOpenaiCompatible } from './index.ts';
import { toShares } from './rerank.ts';

let mock: MockEngine;
let wheel: Wheel;
const engines: Engine[] = [];

beforeEach(async () => {
  wheel = new Wheel();
  mock = await createMockEngine();
});
afterEach(async () => {
  expect(wheel.size).toBe(0);
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await mock.close();
});

function engine(flavor: FlavorName, maxBatch?: number): Engine {
  const made = createOpenaiCompatible({
    address: toAddress(mock.url),
    flavor: flavors[flavor],
    apiKey: undefined,
    headers: {},
    timeoutMs: 100_000,
    idleTimeoutMs: 20_000,
    maxBatch,
    wheel,
  });
  engines.push(made);
  return made;
}
const port = (flavor: FlavorName = 'vllm', maxBatch?: number) => engine(flavor, maxBatch).rerank!;

const request = (changes: Partial<RerankRequest> = {}): RerankRequest => ({
  model: 'Org/Ranker',
  query: 'question',
  documents: ['one', 'three', 'seventeen'],
  maxTokens: 512,
  ...changes,
});
const { signal: never } = new AbortController();
const sent = () => mock.others.map(({ path, body }) => [path, body]);
const documentsOf = ({ request: { body } }: MockExchange) =>
  (body?.['documents'] ?? body?.['texts']) as string[];

/** The longest first: engines sort, and the port must not rely on it. */
function byLength(exchange: MockExchange): void {
  const results = documentsOf(exchange)
    .map((document, index) => ({ index, relevance_score: document.length / 100 }))
    .sort((one, other) => other.relevance_score - one.relevance_score);
  exchange.json(200, { results, usage: { prompt_tokens: results.length * 5, total_tokens: 99 } });
}

describe('a request', () => {
  it.each([
    ['vllm', '/rerank', { model: 'Org/Ranker', documents: ['one'], truncate_prompt_tokens: -1 }],
    ['sglang', '/v1/rerank', { model: 'Org/Ranker', documents: ['one'], return_documents: false }],
    ['llama.cpp', '/v1/rerank', { model: 'Org/Ranker', documents: ['one'] }],
    [
      'tei',
      '/rerank',
      { model: 'Org/Ranker', texts: ['one'], truncate: true, raw_scores: false, return_text: false },
    ],
    ['generic', '/v1/rerank', { model: 'Org/Ranker', documents: ['one'], return_documents: false }],
  ] as const)('is what %s expects', async (flavor, path, body) => {
    mock.route(path, byLength);
    await port(flavor).rerank(request({ documents: ['one'] }), never);
    expect(sent()).toEqual([[path, { query: 'question', ...body }]]);
  });

  it('goes to the score route of a vLLM that has no other', async () => {
    mock.route('/score', ({ json }) => {
      const data = [0.1, 0.2, 0.3].map((score, index) => ({ index, object: 'score', score }));
      json(200, { data, usage: { prompt_tokens: 8 } });
    });
    const result = await port('vllm').rerank(request(), never);
    expect(result).toEqual({ scores: [0.1, 0.2, 0.3], promptTokens: 8 });
    expect(sent()[1]).toEqual([
      '/score',
      {
        model: 'Org/Ranker',
        text_1: 'question',
        text_2: ['one', 'three', 'seventeen'],
        truncate_prompt_tokens: -1,
      },
    ]);
  });

  it('is not possible where the engine has no such route', () => {
    expect(engine('ollama').rerank).toBeUndefined();
    expect(engine('tei').chat).toBeUndefined();
  });
});

describe('a long list', () => {
  it('is split and comes back in the order of the documents, with all its tokens', async () => {
    mock.route('/rerank', byLength);
    const documents = Array.from({ length: 1000 }, (_, index) => 'x'.repeat((index % 89) + 1));
    const { scores, promptTokens } = await port('tei').rerank(request({ documents }), never);
    expect(scores).toEqual(documents.map(({ length }) => length / 100));
    expect(promptTokens).toBe(5000);
    expect(mock.others).toHaveLength(Math.ceil(1000 / 32));
  });

  it('has its scores on one scale, whichever part has one beyond it', async () => {
    mock.route('/v1/rerank', (exchange) => {
      const results = documentsOf(exchange).map((text, index) => ({ index, relevance_score: Number(text) }));
      exchange.json(200, { results });
    });
    const { scores } = await port('llama.cpp', 1).rerank(request({ documents: ['0.5', '-3'] }), never);
    expect(scores).toEqual(toShares([0.5, -3]));
    expect(scores[0]).toBeCloseTo(0.622, 3);
  });
});

describe('a pair that the engine calls too long', () => {
  it('is cut, the query to no more than half', async () => {
    mock.route('/v1/rerank', (exchange) => {
      const { query } = exchange.request.body as { query: string };
      const bytes = query.length + Math.max(...documentsOf(exchange).map(({ length }) => length));
      if (bytes <= 4.5 * 512) byLength(exchange);
      else answers.invalid('input (700 tokens) is larger than the max context size (512 tokens)')(exchange);
    });
    await port('llama.cpp').rerank(
      request({ query: 'q'.repeat(5_000), documents: ['d'.repeat(9_000), 'short'] }),
      never,
    );
    expect(mock.others).toHaveLength(2);
    const { query, documents } = mock.others[1]!.body as { query: string; documents: string[] };
    expect([query.length, documents[0]?.length, documents[1]]).toEqual([1008, 1008, 'short']);
  });
});

describe('an answer', () => {
  const answering = (body: unknown, headers?: Record<string, string>) =>
    mock.route('/v1/rerank', ({ json }) => json(200, body, headers));
  const scores = [0.5, 0.25, 0];
  const ranked = scores.map((score, index) => ({ index, relevance_score: score }));

  it.each([
    ['usage.prompt_tokens', { results: ranked, usage: { prompt_tokens: 7, total_tokens: 9 } }],
    ['usage.total_tokens', { results: ranked, usage: { total_tokens: 7 } }],
    ['meta.tokens.input_tokens', { results: ranked, meta: { tokens: { input_tokens: 7 } } }],
    [
      'data and scores',
      { data: scores.map((score, index) => ({ index, score })), usage: { total_tokens: 7 } },
    ],
  ])('is read by %s', async (_, body) => {
    answering(body);
    expect(await port('generic').rerank(request(), never)).toEqual({ scores, promptTokens: 7 });
  });

  it('without a usage is counted by its bytes, the query for every document', async () => {
    answering({ results: ranked });
    const { promptTokens } = await port('generic').rerank(request({ maxTokens: 5 }), never);
    expect(promptTokens).toBe(4 + 5 + 5);
  });

  it.each([
    ['too few scores', { results: ranked.slice(1) }],
    ['too many scores', { results: [...ranked, { index: 3, relevance_score: 1 }] }],
    ['a score that is none', { results: [...ranked.slice(0, 2), { index: 2, relevance_score: 'high' }] }],
    ['nothing', {}],
    ['an error', { error: { message: 'broken', code: 500 } }],
  ])('with %s is a failure of the engine', async (_, body) => {
    answering(body);
    await expect(port('generic').rerank(request(), never)).rejects.toMatchObject({ kind: 'unreachable' });
  });
});
