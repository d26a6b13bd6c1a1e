import { describe, expect, it } from 'vitest';
import { type Pooling, pool } from './pooling.ts';

/** Two texts of two and one tokens, the second padded with what must not be read. */
const states = [3, 0, 0, 4, 1, 2, 99, 99];

function pooled(pooling: Pooling, offset: number, length: number, dimensions = 2): number[] {
  const vector = new Float32Array(dimensions);
  pool(pooling, states, offset, length, 2, vector);
  return [...vector].map((value) => Number(value.toFixed(4)));
}

describe('pooling', () => {
  it('mean takes the tokens of the text and not its padding', () => {
    expect(pooled('mean', 0, 2)).toEqual([0.6, 0.8]);
    expect(pooled('mean', 4, 1)).toEqual([0.4472, 0.8944]);
  });

  it('cls takes the first token, last the last, max the largest of each', () => {
    expect(pooled('cls', 0, 2)).toEqual([1, 0]);
    expect(pooled('last', 0, 2)).toEqual([0, 1]);
    expect(pooled('max', 0, 2)).toEqual([0.6, 0.8]);
  });

  it('gives a vector of length 1 when it is cut shorter too', () => {
    expect(pooled('mean', 4, 1, 1)).toEqual([1]);
  });
});
