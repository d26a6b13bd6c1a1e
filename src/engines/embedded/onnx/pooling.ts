/** From what a model says of every token to one vector of length 1. */
import { normalize } from './vectors.ts';

export const poolings = ['mean', 'cls', 'last', 'max'] as const;
export type Pooling = (typeof poolings)[number];

/**
 * `states` holds `tokens` rows of `width` numbers, of which the first `length` belong to the text. The vector is
 * written to `vector`, whose length may be less than the width.
 */
export function pool(
  pooling: Pooling,
  states: ArrayLike<number>,
  offset: number,
  length: number,
  width: number,
  vector: Float32Array,
): void {
  const dimensions = vector.length;
  switch (pooling) {
    case 'cls':
      copyRow(states, offset, vector);
      break;
    case 'last':
      copyRow(states, offset + (length - 1) * width, vector);
      break;
    case 'max':
      vector.fill(Number.NEGATIVE_INFINITY);
      for (let token = 0; token < length; token += 1) {
        const row = offset + token * width;
        for (let i = 0; i < dimensions; i += 1) {
          vector[i] = Math.max(vector[i] as number, states[row + i] as number);
        }
      }
      break;
    case 'mean':
      // The sum is enough: the length of the vector is made 1 below.
      vector.fill(0);
      for (let token = 0; token < length; token += 1) {
        const row = offset + token * width;
        for (let i = 0; i < dimensions; i += 1) {
          vector[i] = (vector[i] as number) + (states[row + i] as number);
        }
      }
  }
  normalize(vector);
}

function copyRow(states: ArrayLike<number>, start: number, vector: Float32Array): void {
  for (let i = 0; i < vector.length; i += 1) vector[i] = states[start + i] as number;
}
