import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pullTimeoutMs } from '../../../test/support/packs.ts';
import { openTextModels, type TextModels } from '../../../test/support/text-models.ts';
import type { RerankPort } from '../contract/rerank.ts';
import { createEmbeddingPort } from './embedding.ts';
import { createRerankPort } from './rerank.ts';

const bge = 'bge-small-en-v1.5';
const { signal } = new AbortController();
const query = 'How tall is the Eiffel Tower?';
const documents = [
  'Bananas are rich in potassium.',
  'The Eiffel Tower in Paris is 330 metres high.',
  'Paris is the capital of France.',
];

let models: TextModels;
let port: RerankPort;

beforeAll(async () => {
  models = await openTextModels(bge);
  port = createRerankPort(models);
}, pullTimeoutMs);
afterAll(() => models?.close());

describe('reranking over an embedding model', () => {
  it('puts the document that answers first, and the one about something else last', async () => {
    const { scores } = await port.rerank({ model: bge, query, documents, maxTokens: 512 }, signal);
    const [bananas, tower, paris] = scores as [number, number, number];
    expect(tower).toBeGreaterThan(paris);
    expect(paris).toBeGreaterThan(bananas);
    for (const score of scores) expect(score).toBeGreaterThanOrEqual(0);
    for (const score of scores) expect(score).toBeLessThanOrEqual(1);
  });

  it("puts the model's query instruction before the query, and counts its tokens", async () => {
    const { promptTokens } = await port.rerank({ model: bge, query, documents, maxTokens: 512 }, signal);
    const instruction = 'Represent this sentence for searching relevant passages: ';
    const embedding = createEmbeddingPort(models);
    const inputs = [instruction + query, ...documents];
    const embedded = await embedding.embed({ model: bge, inputs, maxTokens: 512 }, signal);
    expect(promptTokens).toBe(embedded.promptTokens);
  });
});
