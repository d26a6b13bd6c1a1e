/** Where the sandbox's answers come from: a request becomes a seed, and a seed a stream of numbers. */
import { hash } from 'node:crypto';

/**
 * 64 bits that stand for a request. Two requests with equal fields have the same seed, whatever the order of
 * their keys; an absent field and an undefined one are equal, as they are in JSON.
 */
export function toSeed(request: unknown): bigint {
  return BigInt(`0x${hash('sha256', canonical(request), 'hex').slice(0, 16)}`);
}

function canonical(value: unknown): string {
  if (value instanceof Uint8Array) return `bytes:${hash('sha256', value, 'hex')}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`);
  return `{${fields.join(',')}}`;
}

export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** A whole number of at least 0, less than `limit`. */
  below(limit: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** sfc32 (PractRand's small fast counter): 128 bits of state, no multiplication, passes BigCrush. */
export function createRandom(seed: bigint): Random {
  let a = Number(seed & 0xffffffffn) | 0;
  let b = Number((seed >> 32n) & 0xffffffffn) | 0;
  let c = 0x9e3779b9 | 0;
  let counter = 1;
  const next32 = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  // Its author's warm-up: after 12 rounds the state no longer resembles the seed.
  for (let round = 0; round < 12; round++) next32();
  const below = (limit: number) => Math.floor((next32() / 2 ** 32) * limit);
  return {
    next: () => next32() / 2 ** 32,
    below,
    pick: (choices) => choices[below(choices.length)] ?? choices[0],
  };
}
