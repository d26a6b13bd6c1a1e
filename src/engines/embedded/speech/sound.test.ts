import { describe, expect, it } from 'vitest';
import { hasOnlyNumbers, resample, toInt16, trimSilence } from './sound.ts';

const rate = 24_000;

function sine(frequency: number, seconds: number, sampleRate: number, loudness = 0.5): Float32Array {
  return Float32Array.from(
    { length: seconds * sampleRate },
    (_, i) => loudness * Math.sin((2 * Math.PI * frequency * i) / sampleRate),
  );
}

/** How strong a frequency is (Goertzel), as the amplitude of a sine. */
function strength(samples: Float32Array, frequency: number, sampleRate: number): number {
  let [real, imaginary] = [0, 0];
  for (const [i, sample] of samples.entries()) {
    real += sample * Math.cos((2 * Math.PI * frequency * i) / sampleRate);
    imaginary += sample * Math.sin((2 * Math.PI * frequency * i) / sampleRate);
  }
  return (2 * Math.hypot(real, imaginary)) / samples.length;
}

describe('silence', () => {
  it('is cut at both ends to what the ending asks for', () => {
    const sound = new Float32Array(3 * rate);
    sound.set(sine(200, 1, rate), rate);
    const seconds = (ending: Parameters<typeof trimSilence>[1]) => trimSilence(sound, ending).length / rate;
    expect(seconds('none')).toBeCloseTo(1.06, 1);
    expect(seconds('sentence')).toBeCloseTo(1.38, 1);
    expect(seconds('paragraph')).toBeGreaterThan(seconds('sentence'));
    expect(seconds('clause')).toBeLessThan(seconds('sentence'));
  });

  it('is added where there is none, and nothing of the sound is lost', () => {
    const trimmed = trimSilence(sine(200, 1, rate), 'sentence');
    expect(trimmed.length / rate).toBeCloseTo(1.34, 2);
    expect(strength(trimmed.subarray(0, rate), 200, rate)).toBeCloseTo(0.5, 2);
    expect(trimmed.subarray(rate + 240).every((sample) => sample === 0)).toBe(true);
  });

  it('alone becomes nothing', () => {
    expect(trimSilence(new Float32Array(rate), 'sentence')).toHaveLength(0);
    expect(trimSilence(new Float32Array(), 'sentence')).toHaveLength(0);
  });
});

describe('samples', () => {
  it('are bent towards full scale, neither cut off nor wrapped around', () => {
    const [none, half, full, over, least] = toInt16(
      Float32Array.of(0, 0.5, 1, 1.2, -9),
    ) as unknown as number[];
    expect([none, half, least]).toEqual([0, 16_384, -32_767]);
    expect(full).toBeGreaterThan(30_000);
    expect(over).toBeGreaterThan(full!);
    expect(over).toBeLessThan(32_767);
  });

  it('are checked for what is no number', () => {
    expect(hasOnlyNumbers(Float32Array.of(0, 1))).toBe(true);
    expect(hasOnlyNumbers(Float32Array.of(0, Number.NaN))).toBe(false);
    expect(hasOnlyNumbers(Float32Array.of(Number.POSITIVE_INFINITY))).toBe(false);
  });

  it.each([
    [16_000, 24_000, 1_000],
    [8_000, 24_000, 1_000],
    [16_000, 24_000, 6_000],
    [44_100, 24_000, 1_000],
  ])('from %i to %i Hz keep a tone of %i Hz, its loudness and its length', (from, to, frequency) => {
    const resampled = resample(toInt16(sine(frequency, 1, from)), from, to);
    expect(resampled).toHaveLength(to);
    expect(strength(resampled, frequency, to)).toBeCloseTo(0.5, 1);
    // What a plain interpolation would mirror into the upper band.
    expect(strength(resampled, from - frequency > to / 2 ? to / 2 - 100 : from - frequency, to)).toBeLessThan(
      0.01,
    );
  });
});
