import { describe, expect, it } from 'vitest';
import { createTransform } from './fourier.ts';
import { createLogMel, createMelBands, melBands, melFrames } from './log-mel.ts';

describe('the Fourier transform', () => {
  it.each([1, 2, 5, 12, 25, 400])('of %i numbers is what its definition says', (length) => {
    const real = Float64Array.from({ length }, (_, i) => Math.sin(i * i));
    const imaginary = Float64Array.from({ length }, (_, i) => Math.cos(3 * i));
    const expected = Array.from({ length }, (_, k) => {
      let re = 0;
      let im = 0;
      for (let n = 0; n < length; n++) {
        const angle = (-2 * Math.PI * k * n) / length;
        re += real[n]! * Math.cos(angle) - imaginary[n]! * Math.sin(angle);
        im += real[n]! * Math.sin(angle) + imaginary[n]! * Math.cos(angle);
      }
      return [re, im] as const;
    });
    const transform = createTransform(length);
    // Twice with the same tables: a call must leave nothing behind.
    const first = [real.slice(), imaginary.slice()] as const;
    transform(...first);
    transform(real, imaginary);
    expect([real, imaginary]).toEqual(first);
    expected.forEach(([re, im], k) => {
      expect(real[k]).toBeCloseTo(re, 9);
      expect(imaginary[k]).toBeCloseTo(im, 9);
    });
  });
});

describe('the bands', () => {
  it.each([
    // librosa.filters.mel(sr=16000, n_fft=400, n_mels=80), which Whisper's own file of filters holds.
    [0, 1, 0.02486259490251541],
    [1, 1, 0.001990821911022067],
    [1, 2, 0.022871771827340126],
    [7, 8, 0.010926840826869011],
    [39, 41, 0.011486922390758991],
    [69, 131, 0.00487553421407938],
    [79, 190, 0.0022320549469441175],
    [79, 199, 0.0004487590049393475],
  ])('%i counts bin %i as librosa does', (band, bin, weight) => {
    const { start, weights } = createMelBands()[band]!;
    expect(weights[bin - start]).toBeCloseTo(weight, 8);
  });

  it('are 80, and together weigh what librosa’s do', () => {
    const bands = createMelBands();
    expect(bands).toHaveLength(melBands);
    const sum = bands.flatMap(({ weights }) => [...weights]).reduce((total, weight) => total + weight, 0);
    expect(sum).toBeCloseTo(1.999024, 5);
  });
});

describe('the features of a sound', () => {
  const logMel = createLogMel();
  const tones = (at: number) =>
    0.5 * Math.sin((2 * Math.PI * 440 * at) / 16_000) + 0.25 * Math.sin((2 * Math.PI * 1000 * at) / 16_000);
  const features = logMel(Int16Array.from({ length: 16_000 }, (_, at) => Math.round(32_768 * tones(at))));

  it.each([
    // By librosa 0.11: stft(n_fft=400, hop_length=160, window='hann', pad_mode='reflect'), then Whisper's scaling,
    // of one second of two tones in floating point; 16 bits move the quiet places a little.
    [0, 0, 1.0255200862884521],
    [0, 100, 0.8750050663948059],
    [3, 0, 1.046639084815979],
    [3, 100, 0.8961241245269775],
    [10, 0, 1.345945954322815],
    [10, 50, 1.3487379550933838],
    [10, 99, 1.3496463298797607],
    [10, 100, 1.272093415260315],
    [10, 101, 0.3800355792045593],
    [10, 150, -0.5617961883544922],
    [20, 0, 0.5353192090988159],
    [20, 100, 0.3848041892051697],
    [40, 0, 0.6249067783355713],
    [40, 100, 0.47439175844192505],
    [79, 0, 0.08437436819076538],
    [0, 2999, -0.5617961883544922],
  ])('in band %i, frame %i are those of the reference', (band, frame, value) => {
    expect(features[band * melFrames + frame]).toBeCloseTo(value, 2);
  });

  it('are the same for two frames that are calculated together and for each alone', () => {
    // Shifted by one hop, an odd frame becomes an even one.
    const noise = Int16Array.from({ length: 8_000 }, (_, i) => 9_000 * Math.sin(i * i * 0.37));
    const shifted = logMel(noise.subarray(160));
    const whole = logMel(noise);
    for (let band = 0; band < melBands; band++) {
      for (const frame of [10, 11, 12, 13]) {
        expect(shifted[band * melFrames + frame]).toBeCloseTo(whole[band * melFrames + frame + 1]!, 5);
      }
    }
  });

  it('of nothing are the features of silence', () => {
    const silent = logMel(new Int16Array(0));
    expect(new Set(silent)).toEqual(new Set([-1.5]));
    expect(logMel(new Int16Array(16_000)).every((value) => value === -1.5)).toBe(true);
  });
});
