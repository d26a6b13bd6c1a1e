/** Drums made of noise and falling tones, for the plain synthesiser. */
import { createRandom } from '../seed.ts';

interface Recipe {
  readonly seconds: number;
  /** A tone that falls from one pitch to another. */
  readonly tone?: { from: number; to: number; fallSeconds: number; gain: number; decaySeconds: number };
  /** Hiss; `edge` is 0 for a rumble, near 1 for the brightest. */
  readonly noise?: { edge: number; gain: number; decaySeconds: number };
}

const tom = (from: number): Recipe => ({
  seconds: 0.5,
  tone: { from, to: from * 0.6, fallSeconds: 0.09, gain: 0.8, decaySeconds: 0.14 },
  noise: { edge: 0.3, gain: 0.12, decaySeconds: 0.03 },
});
const hiss = (seconds: number, decaySeconds: number, gain: number, edge = 0.9): Recipe => ({
  seconds,
  noise: { edge, gain, decaySeconds },
});
const knock = (from: number, gain: number, decaySeconds = 0.03): Recipe => ({
  seconds: 0.2,
  tone: { from, to: from * 0.95, fallSeconds: 0.05, gain, decaySeconds },
});

const recipes: Readonly<Record<number, Recipe>> = {
  36: {
    seconds: 0.45,
    tone: { from: 150, to: 46, fallSeconds: 0.035, gain: 1.1, decaySeconds: 0.13 },
    noise: { edge: 0.5, gain: 0.15, decaySeconds: 0.005 },
  },
  37: knock(1_700, 0.5),
  38: {
    seconds: 0.35,
    tone: { from: 240, to: 175, fallSeconds: 0.03, gain: 0.5, decaySeconds: 0.07 },
    noise: { edge: 0.75, gain: 0.55, decaySeconds: 0.09 },
  },
  39: hiss(0.3, 0.07, 0.6, 0.7),
  42: hiss(0.12, 0.022, 0.4),
  44: hiss(0.12, 0.03, 0.3),
  45: tom(120),
  46: hiss(0.6, 0.14, 0.38),
  47: tom(160),
  49: hiss(1.8, 0.5, 0.45, 0.85),
  50: tom(220),
  51: hiss(0.7, 0.16, 0.25, 0.93),
  54: hiss(0.2, 0.05, 0.35, 0.92),
  56: knock(560, 0.4, 0.06),
  63: tom(330),
  64: tom(210),
  70: hiss(0.1, 0.02, 0.3, 0.88),
  75: knock(2_500, 0.4, 0.02),
  81: { seconds: 0.9, tone: { from: 4_200, to: 4_190, fallSeconds: 0.1, gain: 0.2, decaySeconds: 0.25 } },
};

export function makeDrum(pitch: number, sampleRate: number): Float32Array {
  const recipe = recipes[pitch] ?? tom(180);
  const { seconds, tone, noise } = recipe;
  const samples = new Float32Array(Math.round(seconds * sampleRate));
  if (tone !== undefined) addTone(samples, sampleRate, tone);
  if (noise !== undefined) addNoise(samples, sampleRate, noise, pitch);
  fadeEdges(samples, sampleRate);
  return samples;
}

function addTone(samples: Float32Array, sampleRate: number, tone: NonNullable<Recipe['tone']>): void {
  const { from, to, fallSeconds, gain, decaySeconds } = tone;
  let phase = 0;
  for (let index = 0; index < samples.length; index++) {
    const time = index / sampleRate;
    phase += (2 * Math.PI * (to + (from - to) * Math.exp(-time / fallSeconds))) / sampleRate;
    samples[index] = (samples[index] ?? 0) + gain * Math.exp(-time / decaySeconds) * Math.sin(phase);
  }
}

function addNoise(
  samples: Float32Array,
  sampleRate: number,
  noise: NonNullable<Recipe['noise']>,
  pitch: number,
): void {
  const { edge, gain, decaySeconds } = noise;
  const random = createRandom(BigInt(pitch));
  let low = 0;
  for (let index = 0; index < samples.length; index++) {
    const white = random.next() * 2 - 1;
    low += (white - low) * (1 - edge * 0.85);
    const value = edge > 0.6 ? white - low : low;
    const level = gain * Math.exp(-index / sampleRate / decaySeconds);
    samples[index] = (samples[index] ?? 0) + level * value;
  }
}

/** Without it a drum would end with a click. */
function fadeEdges(samples: Float32Array, sampleRate: number): void {
  const attack = Math.round(0.0008 * sampleRate);
  const release = Math.round(0.02 * sampleRate);
  for (let index = 0; index < samples.length; index++) {
    const edge = Math.min(1, index / attack, (samples.length - index) / release);
    samples[index] = (samples[index] ?? 0) * edge;
  }
}
