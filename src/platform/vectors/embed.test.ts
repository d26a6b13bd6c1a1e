import { describe, expect, test } from 'vitest';
import { toTestOperation } from '../../../test/support/vector-house.ts';
import type { EmbeddingRequest, EmbeddingResult } from '../../engines/contract/embedding.ts';
import type { Engine } from '../../engines/contract/engine.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Inference } from '../inference/types.ts';
import { createEmbed, toPassage, toUnit } from './embed.ts';

function createCase(
  answer: Partial<EmbeddingResult> = {},
  queryInstruction?: { text: string; marker: string },
) {
  const requests: EmbeddingRequest[] = [];
  const settlements: unknown[] = [];
  const engine = {
    embedding: {
      async embed(request: EmbeddingRequest) {
        requests.push(request);
        return { vectors: request.inputs.map(() => Float32Array.of(0, 1)), promptTokens: 4, ...answer };
      },
    },
  } as unknown as Engine;
  const model = { id: 'm', engineModel: 'org/m', contextLength: 512, dimensions: 2, queryInstruction };
  const embed = createEmbed({
    catalog: { resolve: () => ({ model, variant: undefined }) } as unknown as Catalog,
    inference: {
      async run(...[, , work, settle]: Parameters<Inference['run']>) {
        const result = await work(engine, new AbortController().signal);
        settlements.push(settle(result));
        return { result, costPicoUsd: 3n };
      },
    } as unknown as Inference,
  });
  return { embed, requests, settlements };
}

describe('texts are embedded', () => {
  test('with the catalogue’s settings of the model, and billed by their tokens', async () => {
    const { embed, requests, settlements } = createCase();
    const answer = await embed(toTestOperation('sub_1'), 'm', ['a', 'b'], 'passage');
    expect(answer).toEqual({
      vectors: [Float32Array.of(0, 1), Float32Array.of(0, 1)],
      promptTokens: 4,
      costPicoUsd: 3n,
    });
    expect(requests).toEqual([{ model: 'org/m', inputs: ['a', 'b'], maxTokens: 512, fullDimensions: 2 }]);
    expect(settlements).toEqual([{ quantities: { promptTokens: 4 }, outcome: 'stop' }]);
  });

  test('with the query instruction only as a query, and only once', async () => {
    const { embed, requests } = createCase({}, { text: 'Find: ', marker: 'Find:' });
    await embed(toTestOperation('sub_1'), 'm', ['a', 'Find: b'], 'query');
    await embed(toTestOperation('sub_1'), 'm', ['a'], 'passage');
    expect(requests.map(({ inputs }) => inputs)).toEqual([['Find: a', 'Find: b'], ['a']]);
  });

  test.each([[{ vectors: [] }], [{ vectors: [Float32Array.of(1, Number.NaN)] }]])(
    'and an answer with other vectors is a failure: %#',
    async (answer) => {
      await expect(
        createCase(answer).embed(toTestOperation('sub_1'), 'm', ['a'], 'query'),
      ).rejects.toMatchObject({
        kind: 'unreachable',
      });
    },
  );
});

test('a vector of another length than 1 is brought to it, and one of no length stays', () => {
  expect([...toUnit(Float32Array.of(3, 4))]).toEqual([expect.closeTo(0.6, 6), expect.closeTo(0.8, 6)]);
  expect([...toUnit(Float32Array.of(0, 0))]).toEqual([0, 0]);
});

test('a piece is embedded with its description before it', () => {
  expect(toPassage({ description: 'Guide › Start', text: 'Go.' })).toBe('Guide › Start\n\nGo.');
  expect(toPassage({ description: '', text: 'Go.' })).toBe('Go.');
});
