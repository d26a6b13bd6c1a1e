import { describe, expect, test } from 'vitest';
import { createRunShell } from '../../../test/support/run-shell.ts';
import type { RerankRequest } from '../../engines/contract/rerank.ts';
import { GatewayError } from '../../lib/errors.ts';
import { rerankRoutes } from './index.ts';

function createRerankShell(answer?: (request: RerankRequest) => readonly number[]) {
  const requests: RerankRequest[] = [];
  const shell = createRunShell({
    routes: rerankRoutes,
    models: [
      { id: 'ranker', type: 'rerank', engine: 'sandbox', contextLength: 512, engineModel: 'Org/Ranker' },
      { id: 'embedder', type: 'embedding', engine: 'sandbox', contextLength: 512, dimensions: 3 },
    ],
    engine: {
      rerank: {
        async rerank(request) {
          requests.push(request);
          const byLength = request.documents.map(({ length }) => Math.min(1, length / 100));
          return { scores: answer?.(request) ?? byLength, promptTokens: 42 };
        },
      },
    },
  });
  const post = (body: object) =>
    shell.post('/rerank', { model: 'ranker', query: 'q', documents: ['a', 'ccc', 'bb'], ...body });
  return { ...shell, requests, post };
}

const { post, requests, operations, settlements } = createRerankShell();
const order = async (body: object) =>
  (await post(body)).json().results.map(({ index }: { index: number }) => index);

async function named(body: object): Promise<string> {
  const answer = await post(body);
  expect(answer.status).toBe(400);
  const { message, param } = answer.json().error;
  expect(message).toContain(param);
  return param;
}

describe('an answer', () => {
  test('has the results, the best first, the model and what was used', async () => {
    const answer = await post({});
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^rerank-[0-9a-f]{24}$/),
      model: 'ranker',
      results: [
        { index: 1, relevance_score: 0.03, document: { text: 'ccc' } },
        { index: 2, relevance_score: 0.02, document: { text: 'bb' } },
        { index: 0, relevance_score: 0.01, document: { text: 'a' } },
      ],
      usage: { prompt_tokens: 42, total_tokens: 42, cost: 0.000012345678 },
    });
    expect(answer.headers).toMatchObject({
      'x-generation-id': operations.at(-1)?.id,
      'x-ratelimit-remaining-requests': '59',
    });
    expect(operations.at(-1)?.name).toBe('rerank');
    expect(settlements.at(-1)).toEqual({ quantities: { promptTokens: 42 }, outcome: 'stop' });
  });

  test('has equals in the order in which they were sent', async () => {
    expect(await order({ documents: ['bb', 'aa', 'ccc', 'dd'] })).toEqual([2, 0, 1, 3]);
  });

  test('has only the best top_n, and all of them when that is more', async () => {
    expect(await order({ top_n: 1 })).toEqual([1]);
    expect(await order({ top_n: 99 })).toEqual([1, 2, 0]);
    expect(await order({ top_n: null })).toEqual([1, 2, 0]);
  });

  test('leaves the documents out when that is asked for', async () => {
    expect((await post({ return_documents: false })).json().results[0]).toEqual({
      index: 1,
      relevance_score: 0.03,
    });
    for (const return_documents of [true, null])
      expect((await post({ return_documents })).json().results[0].document).toEqual({ text: 'ccc' });
  });
});

describe('a request', () => {
  test('reaches the engine as texts, under its name of the model', async () => {
    await post({ documents: ['a', { text: 'b', title: 'B' }], top_n: 1, user: 'x' });
    expect(requests.at(-1)).toEqual({
      model: 'Org/Ranker',
      query: 'q',
      documents: ['a', 'b'],
      maxTokens: 512,
    });
  });

  test('without a model goes to the default one', async () => {
    for (const model of [undefined, null]) expect((await post({ model })).json().model).toBe('ranker');
  });

  test('takes 1000 documents, and 1001 are a 400 naming documents', async () => {
    const documents = Array.from({ length: 1001 }, () => 'a');
    expect((await post({ documents: documents.slice(1) })).status).toBe(200);
    expect(await named({ documents })).toBe('documents');
  });

  test.each([
    [{ query: undefined }, 'query'],
    [{ query: '' }, 'query'],
    [{ query: ['q'] }, 'query'],
    [{ documents: undefined }, 'documents'],
    [{ documents: [] }, 'documents'],
    [{ documents: 'a' }, 'documents'],
    [{ documents: ['a', ''] }, 'documents[1]'],
    [{ documents: ['a', 7] }, 'documents[1]'],
    [{ documents: [{ image: 'x' }] }, 'documents[0].text'],
    [{ documents: [{ text: 7 }] }, 'documents[0].text'],
    [{ top_n: 0 }, 'top_n'],
    [{ top_n: 1.5 }, 'top_n'],
    [{ return_documents: 'yes' }, 'return_documents'],
    [{ model: 7 }, 'model'],
  ])('with %j is a 400 that names %s', async (body, param) => {
    expect(await named(body)).toBe(param);
  });

  test('for an unknown model, or one of another type, is a 404', async () => {
    for (const model of ['nobody', 'embedder']) expect((await post({ model })).status).toBe(404);
  });

  test('to an engine that is down is a 502', async () => {
    const broken = createRerankShell(() => {
      throw new GatewayError('unreachable', 'down');
    });
    expect((await broken.post({})).status).toBe(502);
  });
});
