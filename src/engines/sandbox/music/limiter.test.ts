import { describe, expect, it } from 'vitest';
import { createLimiter } from './limiter.ts';

describe('the limiter', () => {
  it('keeps every peak under the ceiling, wherever it comes', () => {
    const limiter = createLimiter(32_000, 0.9);
    const left = Float32Array.from({ length: 8_000 }, (_, at) => 1.6 * Math.sin(at / 3) * Math.sin(at / 411));
    const right = left.map((sample, at) => (at % 997 === 0 ? 3 : sample * 0.5));
    limiter.process(left, right);
    for (const side of [left, right])
      expect(side.reduce((most, at) => Math.max(most, Math.abs(at)), 0)).toBeLessThan(0.9001);
    expect(left.reduce((most, at) => Math.max(most, at), 0)).toBeGreaterThan(0.5);
  });

  it('leaves what is soft as it is, but later', () => {
    const limiter = createLimiter(32_000, 0.9);
    const samples = Float32Array.from({ length: 2_000 }, (_, at) => 0.5 * Math.sin(at / 9));
    const [left, right] = [samples.slice(), samples.slice()];
    limiter.process(left, right);
    const late = limiter.delayFrames;
    for (let at = late; at < left.length; at++) expect(left[at]).toBeCloseTo(samples[at - late]!, 5);
    expect(right).toEqual(left);
  });

  it('does the same in one piece and in many', () => {
    const samples = Float32Array.from({ length: 3_000 }, (_, at) => 1.5 * Math.sin(at / 5));
    const whole = samples.slice();
    createLimiter(32_000, 0.9).process(whole, samples.slice());
    const pieces = samples.slice();
    const limiter = createLimiter(32_000, 0.9);
    for (let at = 0; at < pieces.length; at += 77) {
      limiter.process(pieces.subarray(at, at + 77), samples.slice(at, at + 77));
    }
    expect(pieces).toEqual(whole);
  });
});
