/**
 * What Whisper hears: the loudness of 80 bands of pitch, 100 times a second, for exactly 30 seconds. The numbers
 * are those of OpenAI's `whisper/audio.py`, which takes its bands from librosa (Slaney's scale and weights). Pure.
 */
import { createTransform } from './fourier.ts';

export const melBands = 80;
export const melFrames = 3_000;

const windowSamples = 400;
const hopSamples = 160;
const bins = windowSamples / 2 + 1;
const sampleRate = 16_000;
const fullScale = 32_768;
/** What is quieter counts as this. */
const quietest = 1e-10;
/** In units of ten decibels: what lies further below the loudest moment is cut off. */
const range = 8;

/** One band: what each of a run of bins counts. */
export interface MelBand {
  readonly start: number;
  readonly weights: Float64Array;
}

export type LogMel = (samples: Int16Array) => Float32Array;

/** Makes the function once: its tables take longer than a frame. */
export function createLogMel(): LogMel {
  const bands = createMelBands();
  const hann = Float64Array.from(
    { length: windowSamples },
    (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / windowSamples),
  );
  const transform = createTransform(windowSamples);
  const real = new Float64Array(windowSamples);
  const imaginary = new Float64Array(windowSamples);
  const power = new Float64Array(bins);

  return (samples) => {
    const features = new Float32Array(melBands * melFrames);
    // Behind the end there is silence, which needs no transform.
    const heard = Math.min(melFrames, Math.ceil((samples.length + windowSamples / 2) / hopSamples));
    features.fill(Math.log10(quietest));
    let loudest = Math.log10(quietest);
    // Two frames at a time, one as the real and one as the imaginary part.
    for (let frame = 0; frame < heard; frame += 2) {
      fill(real, samples, frame, hann);
      fill(imaginary, samples, frame + 1, hann);
      transform(real, imaginary);
      for (const part of [0, 1]) {
        if (frame + part >= heard) break;
        toPower(real, imaginary, part, power);
        bands.forEach(({ start, weights }, band) => {
          let sum = 0;
          for (let i = 0; i < weights.length; i++) sum += weights[i]! * power[start + i]!;
          const level = Math.log10(Math.max(quietest, sum));
          if (level > loudest) loudest = level;
          features[band * melFrames + frame + part] = level;
        });
      }
    }
    const floor = loudest - range;
    for (let i = 0; i < features.length; i++) features[i] = (Math.max(features[i]!, floor) + 4) / 4;
    return features;
  };
}

/** A frame stands around its moment; before the beginning the sound is mirrored, behind the end it is silent. */
function fill(into: Float64Array, samples: Int16Array, frame: number, hann: Float64Array): void {
  const start = frame * hopSamples - windowSamples / 2;
  for (let i = 0; i < windowSamples; i++) {
    const at = Math.abs(start + i);
    into[i] = at < samples.length ? (samples[at]! / fullScale) * hann[i]! : 0;
  }
}

/** The spectrum of a real signal is symmetric, so that of two can be told apart again. */
function toPower(real: Float64Array, imaginary: Float64Array, part: number, power: Float64Array): void {
  for (let bin = 0; bin < bins; bin++) {
    const mirror = (windowSamples - bin) % windowSamples;
    const sign = part === 0 ? 1 : -1;
    const re = real[bin]! + sign * real[mirror]!;
    const im = imaginary[bin]! - sign * imaginary[mirror]!;
    power[bin] = (re * re + im * im) / 4;
  }
}

export function createMelBands(): readonly MelBand[] {
  const highest = toMel(sampleRate / 2);
  const edges = Array.from({ length: melBands + 2 }, (_, i) => toHertz((highest * i) / (melBands + 1)));
  return Array.from({ length: melBands }, (_, band) => {
    const [low, middle, high] = edges.slice(band, band + 3) as [number, number, number];
    const weights = Array.from({ length: bins }, (_, bin) => {
      const hertz = (bin * sampleRate) / windowSamples;
      const slope = Math.min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      return (Math.max(0, slope) * 2) / (high - low);
    });
    const start = weights.findIndex((weight) => weight > 0);
    const end = weights.findLastIndex((weight) => weight > 0) + 1;
    return { start, weights: Float64Array.from(weights.slice(start, end)) };
  });
}

/** Slaney's scale: linear up to 1 kHz, which is 15 mel, and logarithmic above. */
const hertzPerMel = 200 / 3;
const bendHertz = 1_000;
const bendMel = bendHertz / hertzPerMel;
const logStep = Math.log(6.4) / 27;

function toMel(hertz: number): number {
  return hertz < bendHertz ? hertz / hertzPerMel : bendMel + Math.log(hertz / bendHertz) / logStep;
}

function toHertz(mel: number): number {
  return mel < bendMel ? mel * hertzPerMel : bendHertz * Math.exp(logStep * (mel - bendMel));
}
