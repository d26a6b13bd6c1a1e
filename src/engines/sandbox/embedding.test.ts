import { describe, expect, it } from 'vitest';
import type { EmbeddingRequest } from '../contract/embedding.ts';
import { createSandboxEmbedding } from './embedding.ts';

const port = createSandboxEmbedding();
const { signal } = new AbortController();
const embed = (inputs: EmbeddingRequest['inputs'], changes: Partial<EmbeddingRequest> = {}) =>
  port.embed({ model: 'm', inputs, maxTokens: 100, fullDimensions: 1024, ...changes }, signal);

function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

async function similarity(one: string, other: string, changes?: Partial<EmbeddingRequest>): Promise<number> {
  const { vectors } = await embed([one, other], changes);
  return cosine(vectors[0]!, vectors[1]!);
}

describe('a sandbox vector', () => {
  it('has the model’s length and length 1, whatever the input', async () => {
    const inputs = ['one two', '🍮', ' ', '!?', [1, 2, 3], 'word '.repeat(5_000)];
    for (const fullDimensions of [1, 8, 384]) {
      const { vectors } = await embed(inputs, { fullDimensions });
      expect(vectors.map(({ length }) => length)).toEqual(inputs.map(() => fullDimensions));
      for (const vector of vectors) expect(cosine(vector, vector)).toBeCloseTo(1, 5);
    }
  });

  it('is the same for the same input, alone or among others', async () => {
    const alone = await embed(['one']);
    expect((await embed(['two', 'one'])).vectors[1]).toEqual(alone.vectors[0]);
    expect(
      (
        await createSandboxEmbedding().embed(
          { model: 'n', inputs: ['one'], maxTokens: 9, fullDimensions: 1024 },
          signal,
        )
      ).vectors,
    ).toEqual(alone.vectors);
  });

  it.each([1024, 256, 64])(
    'is near for texts that share words, and far for others (%s values)',
    async (dimensions) => {
      const question = 'How do I reset my password?';
      const near = await similarity(question, 'I forgot my password and want to reset it', { dimensions });
      const far = await similarity(question, 'Lisbon is sunny and warm today', { dimensions });
      expect(near).toBeGreaterThan(0.4);
      expect(far).toBeLessThan(0.25);
    },
  );

  it('knows forms of a word', async () => {
    expect(await similarity('translation', 'translations')).toBeGreaterThan(0.2);
    expect(await similarity('Paris', 'PARIS')).toBeCloseTo(1, 5);
  });

  it('[EMB-13] is cut to the dimensions that are asked for, and of length 1 again', async () => {
    const text = 'a text with some words in it';
    const { vectors: whole } = await embed([text]);
    const { vectors: cut } = await embed([text], { dimensions: 64 });
    expect(cut[0]).toHaveLength(64);
    expect(cosine(cut[0]!, cut[0]!)).toBeCloseTo(1, 5);
    const start = whole[0]!.slice(0, 64);
    expect(cosine(start, cut[0]!) / Math.sqrt(cosine(start, start))).toBeCloseTo(1, 5);
  });

  it('[EMB-19] [EMB-20] is of the first tokens that the model reads, and only those are counted', async () => {
    const { vectors, promptTokens } = await embed(['one two three four', 'one two', [7, 8, 9]], {
      maxTokens: 2,
    });
    expect(vectors[0]).toEqual(vectors[1]);
    expect(promptTokens).toBe(6);
  });

  it('of tokens depends on the tokens', async () => {
    const { vectors } = await embed([
      [1, 2],
      [1, 2],
      [3, 4],
    ]);
    expect(vectors[0]).toEqual(vectors[1]);
    expect(cosine(vectors[0]!, vectors[2]!)).toBeLessThan(0.5);
  });
});

describe('the port', () => {
  it('fails as the model’s script says', async () => {
    await expect(embed(['a'], { script: { failBefore: 'overload' } })).rejects.toMatchObject({
      kind: 'overloaded',
    });
    await expect(embed(['a', 'b', 'c'], { script: { failAfterTokens: 2 } })).rejects.toMatchObject({
      kind: 'unreachable',
    });
  });

  it('ends when the caller leaves, before and in the middle of a long list', async () => {
    const leaving = new AbortController();
    const inputs = Array.from({ length: 2048 }, (_, index) => `${index} words `.repeat(200));
    const work = port.embed({ model: 'm', inputs, maxTokens: 8192 }, leaving.signal);
    setImmediate(() => leaving.abort(new Error('gone')));
    await expect(work).rejects.toThrow('gone');
    await expect(port.embed({ model: 'm', inputs: ['a'], maxTokens: 1 }, leaving.signal)).rejects.toThrow(
      'gone',
    );
  });
});
