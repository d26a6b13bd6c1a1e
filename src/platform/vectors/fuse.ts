/**
 * Two ways of finding as one order: reciprocal rank fusion. A way gives the item at its rank r the share 1 / (60 + r), so
 * that what both ways find early comes first, whatever the two kinds of distance are worth against each other
 * (Cormack, Clarke and Büttcher, SIGIR 2009, where 60 is the constant).
 *
 * The score is the sum of the shares over the most that can be had: 1 for the item that is first in every way that found
 * anything, and falling with the order.
 */
import type { Candidate } from './parts.ts';

export interface Ranked {
  readonly number: number;
  /** 0 to 1. */
  readonly score: number;
}

const constant = 60;

export function fuse(candidates: readonly Candidate[], limit: number): Ranked[] {
  const shares = new Map<number, number>();
  const near = candidates
    .filter(({ similarity }) => similarity !== undefined)
    .sort((one, other) => (other.similarity ?? 0) - (one.similarity ?? 0) || one.number - other.number);
  for (const [place, { number }] of near.entries()) shares.set(number, 1 / (constant + place + 1));
  const said = candidates.filter(({ textRank }) => textRank !== undefined);
  for (const { number, textRank = 0 } of said) {
    shares.set(number, (shares.get(number) ?? 0) + 1 / (constant + textRank));
  }
  const ways = (near.length > 0 ? 1 : 0) + (said.length > 0 ? 1 : 0);
  const most = ways / (constant + 1);
  const similarities = new Map(near.map(({ number, similarity = 0 }) => [number, similarity]));
  return (
    [...shares]
      .map(([number, share]) => ({ number, score: Math.min(1, share / most) }))
      // Of two with the same share the nearer one; the number decides the rest, so that the order is always the same.
      .sort(
        (one, other) =>
          other.score - one.score ||
          (similarities.get(other.number) ?? -1) - (similarities.get(one.number) ?? -1) ||
          one.number - other.number,
      )
      .slice(0, limit)
  );
}

/** Both ways together: each item once. */
export function toCandidates(
  near: readonly { number: number; similarity: number }[],
  words: readonly number[],
): Candidate[] {
  const ranks = new Map(words.map((number, place) => [number, place + 1]));
  const found = new Set(near.map(({ number }) => number));
  return [
    ...near.map(({ number, similarity }) => ({ number, similarity, textRank: ranks.get(number) })),
    ...words
      .filter((number) => !found.has(number))
      .map((number) => ({ number, similarity: undefined, textRank: ranks.get(number) })),
  ];
}
