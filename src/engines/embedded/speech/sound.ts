/** Sound as numbers: trimmed, resampled, as 16-bit samples. Pure. */
import { speechSampleRate } from '../../contract/speech.ts';
import type { Ending } from './pieces.ts';

/** The silence that is left around a piece, in seconds. A model leaves nearly a second of its own. */
const silenceBefore = 0.04;
const silenceAfter: Readonly<Record<Ending, number>> = {
  none: 0.02,
  clause: 0.16,
  sentence: 0.34,
  paragraph: 0.6,
};
/** What is quieter than this, over a hundredth of a second, is silence: 52 dB below full scale. */
const quiet = 0.0025;
const windowSamples = speechSampleRate / 100;

/** Cuts the silence at both ends to what its ending asks for; sound that is all silence becomes nothing. */
export function trimSilence(samples: Float32Array, ending: Ending): Float32Array {
  let first = 0;
  while (first < samples.length && isQuiet(samples, first)) first += windowSamples;
  if (first >= samples.length) return new Float32Array();
  let end = samples.length;
  while (end > first && isQuiet(samples, Math.max(0, end - windowSamples))) end -= windowSamples;
  const start = Math.max(0, first - Math.round(silenceBefore * speechSampleRate));
  const tail = Math.round(silenceAfter[ending] * speechSampleRate);
  const trimmed = new Float32Array(end - start + tail);
  trimmed.set(samples.subarray(start, Math.min(samples.length, end + tail)));
  return trimmed;
}

function isQuiet(samples: Float32Array, start: number): boolean {
  const end = Math.min(samples.length, start + windowSamples);
  let sum = 0;
  for (let i = start; i < end; i += 1) sum += (samples[i] as number) ** 2;
  return sum < quiet ** 2 * (end - start);
}

export function hasOnlyNumbers(samples: Float32Array): boolean {
  for (const sample of samples) if (!Number.isFinite(sample)) return false;
  return true;
}

/** Above this a sample is bent towards full scale instead of being cut off there, which would be heard as a crackle. */
const knee = 0.8;

export function toInt16(samples: Float32Array): Int16Array {
  const result = new Int16Array(samples.length);
  for (const [index, sample] of samples.entries()) result[index] = Math.round(bend(sample) * 32_767);
  return result;
}

function bend(sample: number): number {
  const loudness = Math.abs(sample);
  if (loudness <= knee) return sample;
  return Math.sign(sample) * (knee + (1 - knee) * Math.tanh((loudness - knee) / (1 - knee)));
}

/** Sample rates with a small ratio, by a windowed sinc: each new sample from the 32 old ones around it. */
export function resample(samples: Int16Array, from: number, to: number): Float32Array {
  const length = Math.floor((samples.length * to) / from);
  const result = new Float32Array(length);
  const step = from / to;
  // Below the lower of the two Nyquist frequencies, with room for the filter's slope.
  const cutoff = Math.min(1, to / from) * 0.95;
  const kernels = new Map<number, Float64Array>();
  const phases = to / greatestDivisor(from, to);
  for (let i = 0; i < length; i += 1) {
    const position = i * step;
    const centre = Math.floor(position);
    const phase = i % phases;
    let kernel = kernels.get(phase);
    if (kernel === undefined) {
      kernel = toKernel(position - centre, cutoff);
      kernels.set(phase, kernel);
    }
    let sum = 0;
    for (let tap = 0; tap < taps; tap += 1) {
      const sample = samples[centre + tap - taps / 2 + 1];
      if (sample !== undefined) sum += sample * (kernel[tap] as number);
    }
    result[i] = sum / 32_768;
  }
  return result;
}

const taps = 32;

function toKernel(offset: number, cutoff: number): Float64Array {
  const kernel = new Float64Array(taps);
  let sum = 0;
  for (let tap = 0; tap < taps; tap += 1) {
    const x = tap - taps / 2 + 1 - offset;
    const sinc = x === 0 ? cutoff : Math.sin(Math.PI * cutoff * x) / (Math.PI * x);
    // Blackman: what it lets through of other frequencies is below hearing.
    const turn = (2 * Math.PI * (x + taps / 2)) / taps;
    const value = sinc * (0.42 - 0.5 * Math.cos(turn) + 0.08 * Math.cos(2 * turn));
    kernel[tap] = value;
    sum += value;
  }
  return kernel.map((value) => value / sum);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
