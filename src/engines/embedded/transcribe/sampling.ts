/** Chooses a token from a model's scores, and says how sure the model was. Pure but for the dice. */

export interface Choice {
  readonly token: number;
  /** The natural logarithm of its probability at temperature 1. */
  readonly logprob: number;
}

/** The likeliest token at temperature 0, else one by chance; `random` gives numbers from 0 to 1. */
export function choose(scores: Float32Array, temperature: number, random: () => number): Choice {
  let best = 0;
  for (let i = 1; i < scores.length; i++) if (scores[i]! > scores[best]!) best = i;
  const highest = scores[best]!;
  let sum = 0;
  for (let i = 0; i < scores.length; i++) sum += Math.exp(scores[i]! - highest);
  const token = temperature === 0 ? best : draw(scores, highest, temperature, random());
  return { token, logprob: scores[token]! - highest - Math.log(sum) };
}

function draw(scores: Float32Array, highest: number, temperature: number, chance: number): number {
  let sum = 0;
  for (let i = 0; i < scores.length; i++) sum += Math.exp((scores[i]! - highest) / temperature);
  let left = chance * sum;
  for (let i = 0; i < scores.length; i++) {
    left -= Math.exp((scores[i]! - highest) / temperature);
    if (left <= 0) return i;
  }
  return scores.indexOf(highest);
}

/** The share of one token among all. */
export function probabilityOf(scores: Float32Array, token: number): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (const score of scores) if (score > highest) highest = score;
  let sum = 0;
  for (const score of scores) sum += Math.exp(score - highest);
  return Math.exp(scores[token]! - highest) / sum;
}

export function suppress(scores: Float32Array, tokens: Iterable<number>): void {
  for (const token of tokens) if (token < scores.length) scores[token] = Number.NEGATIVE_INFINITY;
}

/** The same numbers each time: a request that is sent again gets the same words (mulberry32). */
export function createDice(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
