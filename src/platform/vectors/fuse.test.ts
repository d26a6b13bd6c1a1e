import { describe, expect, test } from 'vitest';
import { fuse, toCandidates } from './fuse.ts';

const near = (...numbers: number[]) =>
  numbers.map((number, place) => ({ number, similarity: 0.9 - place / 100 }));

describe('a fused order', () => {
  test('puts first what both ways find early, with the score 1 for the first of both', () => {
    const ranked = fuse(toCandidates(near(1, 2, 3), [1, 3]), 10);
    expect(ranked.map(({ number }) => number)).toEqual([1, 3, 2]);
    expect(ranked[0]?.score).toBe(1);
    expect(ranked[2]?.score).toBeCloseTo(61 / 62 / 2, 10);
  });

  test('has scores over 0 and up to 1 that never rise', () => {
    const words = [90, 3, 50, 1, 2, 91];
    const ranked = fuse(toCandidates(near(...Array.from({ length: 50 }, (_, place) => place)), words), 100);
    expect(ranked).toHaveLength(53);
    for (const [place, { score }] of ranked.entries()) {
      expect(score).toBeGreaterThan(0);
      expect(score).toBeLessThanOrEqual(ranked[place - 1]?.score ?? 1);
    }
  });

  test('of one way alone is that way’s, from the score 1 on', () => {
    expect(fuse(toCandidates(near(7, 5), []), 10)).toEqual([
      { number: 7, score: 1 },
      { number: 5, score: expect.closeTo(61 / 62, 10) },
    ]);
    expect(fuse(toCandidates([], [5, 7]), 10).map(({ number }) => number)).toEqual([5, 7]);
    expect(fuse([], 10)).toEqual([]);
  });

  test('is cut at the limit, and of two with the same share the nearer one comes first', () => {
    expect(fuse(toCandidates(near(1, 2, 3), []), 2)).toHaveLength(2);
    expect(fuse(toCandidates(near(1, 2), [2, 1]), 5).map(({ number }) => number)).toEqual([1, 2]);
  });
});
