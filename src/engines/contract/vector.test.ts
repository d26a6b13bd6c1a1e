import { expect, test } from 'vitest';
import { toUnitVector } from './vector.ts';

test('a vector is brought to length 1, and one that has it is left as it is', () => {
  expect(toUnitVector(Float32Array.of(3, 4))).toEqual(Float32Array.of(0.6, 0.8));
  const unit = Float32Array.of(0.6, 0.8);
  expect(toUnitVector(unit)).toBe(unit);
});

test('a vector is cut before, and the whole one is not touched', () => {
  const whole = Float32Array.of(3, 4, 12);
  expect(toUnitVector(whole, 2)).toEqual(Float32Array.of(0.6, 0.8));
  expect(whole).toEqual(Float32Array.of(3, 4, 12));
  expect(toUnitVector(whole, 4)).toBeUndefined();
});

test('zeros stay, and what is no number is told', () => {
  expect(toUnitVector(new Float32Array(3))).toEqual(new Float32Array(3));
  expect(toUnitVector(Float32Array.of(1, Number.NaN))).toBeUndefined();
  expect(toUnitVector(Float32Array.of(1, Number.POSITIVE_INFINITY))).toBeUndefined();
});
