import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toProgress, toTold } from './progress.ts';

const facts = {
  status: 'in_progress',
  startedAt: 0,
  endedAt: undefined,
  expectedMs: 18_000,
  told: 0,
} as const;

describe('the progress of a job', () => {
  it('[JOB-12] is estimated from the expected render time while in_progress', () => {
    expect([0, 9_000, 18_000, 36_000, 1e9].map((now) => toProgress(facts, now))).toEqual([0, 54, 79, 94, 99]);
  });

  it('is what an engine tells, where that is more', () => {
    expect(toProgress({ ...facts, told: 70 }, 9_000)).toBe(70);
    expect([0.5, 1, 2, -1, Number.NaN].map(toTold)).toEqual([50, 99, 99, 0, 0]);
  });

  it('is 0 before the start and 100 only when it completed', () => {
    expect(toProgress({ ...facts, status: 'pending', startedAt: undefined }, 9e9)).toBe(0);
    expect(toProgress({ ...facts, status: 'cancelled', startedAt: undefined, endedAt: 5 }, 9e9)).toBe(0);
    expect(toProgress({ ...facts, status: 'completed', endedAt: 5 }, 6)).toBe(100);
    expect(toProgress({ ...facts, status: 'expired', endedAt: 5 }, 6)).toBe(100);
  });

  it('[JOB-11] is an integer from 0 to 100 and never falls, also when the job ends', () => {
    const time = fc.nat({ max: 100_000 });
    fc.assert(
      fc.property(
        time,
        time,
        fc.nat({ max: 99 }),
        fc.integer({ min: 1, max: 60_000 }),
        (a, b, told, expectedMs) => {
          const [early, late] = [Math.min(a, b), Math.max(a, b)];
          const before = toProgress({ ...facts, told: Math.min(told, 10), expectedMs }, early);
          expect(Number.isInteger(before) && before >= 0 && before <= 99).toBe(true);
          expect(toProgress({ ...facts, told, expectedMs }, late)).toBeGreaterThanOrEqual(before);
          for (const status of ['failed', 'cancelled'] as const) {
            const ended = toProgress({ ...facts, status, endedAt: late, told, expectedMs }, late + 60_000);
            expect(ended).toBeGreaterThanOrEqual(before);
            expect(ended).toBeLessThan(100);
          }
        },
      ),
    );
  });
});
