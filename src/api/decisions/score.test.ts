import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toVerdict } from './score.ts';

const weights = fc
  .array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 255 })
  .filter((values) => values.some((value) => value > 1e-9));

describe('what follows from a distribution', () => {
  it('[DEC-20, DEC-21, DEC-22, DEC-24] holds for the very probabilities that are sent', () => {
    fc.assert(
      fc.property(weights, (given) => {
        const { probabilities, best, confidence, mean } = toVerdict(given);
        const k = probabilities.length;
        expect(probabilities.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 9);
        expect(probabilities[best]).toBe(Math.max(...probabilities));
        expect(best).toBe(probabilities.indexOf(probabilities[best]!));
        const expected = probabilities.reduce((sum, value, index) => sum + index * value, 0);
        expect(Math.abs(mean - expected)).toBeLessThan(1e-9);
        expect(mean).toBeGreaterThanOrEqual(0);
        expect(mean).toBeLessThanOrEqual(k - 1);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
        if (k > 1) expect(confidence).toBeCloseTo((k * probabilities[best]! - 1) / (k - 1), 9);
      }),
    );
  });

  it('[DEC-24] confidence is 1 when everything is on one answer and 0 when all are even', () => {
    expect(toVerdict([0, 1, 0]).confidence).toBe(1);
    for (let k = 2; k <= 255; k++) {
      const { confidence } = toVerdict(Array.from({ length: k }, () => 1 / k));
      expect(confidence).toBeCloseTo(0, 9);
      expect(confidence).toBeGreaterThanOrEqual(0);
    }
    expect(toVerdict([0.88, 0.12]).confidence).toBeCloseTo(0.76, 12);
    expect(toVerdict([0.1, 0.4, 0.5])).toMatchObject({ best: 2 });
    expect(toVerdict([0.1, 0.4, 0.5]).confidence).toBeCloseTo(0.25, 12);
    expect(toVerdict([0.1, 0.4, 0.5]).mean).toBeCloseTo(1.4, 12);
  });

  it('[DEC-25] with one answer confidence is 1 and the mean is 0', () => {
    expect(toVerdict([0.3])).toEqual({ probabilities: [1], best: 0, confidence: 1, mean: 0 });
  });

  it('of equals the first is the best', () => {
    expect(toVerdict([0.2, 0.4, 0.4]).best).toBe(1);
  });

  it.each([[[]], [[0, 0]], [[Number.NaN, 1]], [[-0.5, 1.5]], [[Number.POSITIVE_INFINITY]]])(
    'an engine that gives no probabilities is a bug: %j',
    (given) => {
      expect(() => toVerdict(given)).toThrow('engines answer with probabilities');
    },
  );
});
