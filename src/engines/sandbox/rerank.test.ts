import { describe, expect, it } from 'vitest';
import type { RerankRequest } from '../contract/rerank.ts';
import { createSandboxRerank } from './rerank.ts';

const port = createSandboxRerank();
const { signal } = new AbortController();
const rerank = (query: string, documents: string[], changes: Partial<RerankRequest> = {}) =>
  port.rerank({ model: 'm', query, documents, maxTokens: 100, ...changes }, signal);

describe('the sandbox’s ranking', () => {
  it('prefers documents that share words with the query, and of those the ones that say less besides', async () => {
    const { scores } = await rerank('capital of France', [
      'Bananas are yellow',
      'The capital of Italy is Rome',
      'Paris is the capital of France, on the Seine, and has many museums, parks and bridges',
      'Paris is the capital of France',
    ]);
    const [none, some, all, brief] = scores as [number, number, number, number];
    expect(none).toBe(0);
    expect(some).toBeGreaterThan(none);
    expect(all).toBeGreaterThan(some);
    expect(brief).toBeGreaterThan(all);
    expect(brief).toBeLessThanOrEqual(1);
  });

  it('gives 1 to a document that is the query, and 0 where there is nothing to compare', async () => {
    expect((await rerank('one two', ['one two', '…'])).scores).toEqual([1, 0]);
    expect((await rerank(' ', ['one'])).scores).toEqual([0]);
  });

  it('counts the query with every document, each pair up to what the model reads', async () => {
    expect((await rerank('one two', ['three', 'four five'])).promptTokens).toBe(3 + 4);
    expect((await rerank('one two', ['three '.repeat(500)], { maxTokens: 50 })).promptTokens).toBe(50);
  });

  it('fails as the model’s script says', async () => {
    await expect(rerank('a', ['b'], { script: { failBefore: 'refuse' } })).rejects.toMatchObject({
      kind: 'unreachable',
    });
  });
});
