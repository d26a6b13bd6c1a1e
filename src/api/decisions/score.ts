/**
 * What follows from a distribution: the best answer, how sure it is, the mean level. All of it from the very
 * numbers that are sent, because clients check one against the other. Pure.
 */
import assert from 'node:assert';

export interface Verdict {
  /** They add up to 1. */
  readonly probabilities: readonly number[];
  /** The place of the greatest; of equals the first. */
  readonly best: number;
  /** 1 when everything is on one answer, 0 when all are even. */
  readonly confidence: number;
  /** Σ i·p, from 0 to the number of answers less one. */
  readonly mean: number;
}

export function toVerdict(given: readonly number[]): Verdict {
  let sum = 0;
  for (const value of given) sum += value;
  assert(
    given.every((value) => value >= 0) && sum > 0 && Number.isFinite(sum),
    'engines answer with probabilities',
  );
  const probabilities = given.map((value) => value / sum);
  const last = probabilities.length - 1;
  let best = 0;
  let mean = 0;
  for (const [index, probability] of probabilities.entries()) {
    if (probability > probabilities[best]!) best = index;
    mean += index * probability;
  }
  // (k·p − 1)/(k − 1) for k answers. The last digit of a sum can leave the bounds that clients check.
  const confidence = last === 0 ? 1 : ((last + 1) * probabilities[best]! - 1) / last;
  return { probabilities, best, confidence: within(confidence, 1), mean: within(mean, last) };
}

function within(value: number, most: number): number {
  return Math.min(most, Math.max(0, value));
}
