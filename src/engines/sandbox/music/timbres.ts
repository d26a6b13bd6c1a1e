/** How the plain synthesiser colours its tones: overtones, and how they swell and fade. */
import type { Timbre } from './instruments.ts';

export interface Colour {
  /** The strength of overtone `number`, from 1; `hertz` is where it lies. */
  overtone(number: number, hertz: number): number;
  /** Of the overtones, when the tone is old: 0 leaves the lowest ones, 1 changes nothing. */
  readonly brightness: number;
  readonly attackSeconds: number;
  /** Until the tone has fallen to a third of the way to `sustain`. */
  readonly decaySeconds: number;
  readonly sustain: number;
  readonly releaseSeconds: number;
  /** Of the pitch, up and down. */
  readonly vibrato: number;
  /** Two voices, so much apart in pitch. */
  readonly detune: number;
  readonly gain: number;
}

const plain = { vibrato: 0, detune: 0, gain: 1, brightness: 0.3 } as const;
const saw = (number: number) => 1 / number;
const list =
  (...strengths: number[]) =>
  (number: number) =>
    strengths[number - 1] ?? 0;

/** Two resonances of a mouth that says "ah". */
function formants(number: number, hertz: number): number {
  const peak = (at: number, width: number) => 1 / (1 + ((hertz - at) / width) ** 2);
  return (peak(700, 180) + 0.6 * peak(1_150, 200) + 0.25 * peak(2_700, 300) + 0.12) / number ** 0.6;
}

export const colours: Readonly<Record<Timbre, Colour>> = {
  keys: {
    ...plain,
    overtone: list(1, 0.55, 0.35, 0.22, 0.12, 0.08, 0.05, 0.04),
    attackSeconds: 0.004,
    decaySeconds: 0.9,
    sustain: 0,
    releaseSeconds: 0.12,
  },
  electric: {
    ...plain,
    overtone: list(1, 0.18, 0.05, 0.12, 0, 0, 0.05),
    attackSeconds: 0.005,
    decaySeconds: 1.2,
    sustain: 0.1,
    releaseSeconds: 0.15,
    detune: 0.0015,
  },
  bell: {
    ...plain,
    overtone: list(1, 0.05, 0.35, 0, 0.25, 0, 0, 0.15),
    attackSeconds: 0.003,
    decaySeconds: 1.1,
    sustain: 0,
    releaseSeconds: 0.5,
    gain: 0.8,
  },
  organ: {
    ...plain,
    overtone: list(1, 0.8, 0.5, 0.35, 0, 0.2, 0, 0.2),
    brightness: 1,
    attackSeconds: 0.012,
    decaySeconds: 1,
    sustain: 1,
    releaseSeconds: 0.06,
    detune: 0.001,
    gain: 0.6,
  },
  pluck: {
    ...plain,
    overtone: list(1, 0.7, 0.45, 0.35, 0.25, 0.18, 0.14, 0.1, 0.08, 0.06),
    brightness: 0.1,
    attackSeconds: 0.003,
    decaySeconds: 0.5,
    sustain: 0,
    releaseSeconds: 0.1,
    gain: 1.1,
  },
  distorted: {
    ...plain,
    overtone: (number) => number ** -0.7,
    brightness: 0.8,
    attackSeconds: 0.005,
    decaySeconds: 2.5,
    sustain: 0.5,
    releaseSeconds: 0.08,
    detune: 0.003,
    gain: 0.45,
  },
  bass: {
    ...plain,
    overtone: list(1, 0.6, 0.35, 0.2, 0.1, 0.06),
    brightness: 0.2,
    attackSeconds: 0.005,
    decaySeconds: 0.8,
    sustain: 0.25,
    releaseSeconds: 0.08,
    gain: 1.5,
  },
  strings: {
    ...plain,
    overtone: saw,
    brightness: 0.8,
    attackSeconds: 0.09,
    decaySeconds: 1,
    sustain: 0.85,
    releaseSeconds: 0.25,
    vibrato: 0.002,
    detune: 0.004,
    gain: 0.55,
  },
  brass: {
    ...plain,
    overtone: (number) => number ** -0.8,
    brightness: 0.6,
    attackSeconds: 0.04,
    decaySeconds: 0.4,
    sustain: 0.75,
    releaseSeconds: 0.1,
    vibrato: 0.001,
    gain: 0.6,
  },
  reed: {
    ...plain,
    overtone: list(1, 0.2, 0.65, 0.15, 0.4, 0.1, 0.22, 0.06, 0.1),
    brightness: 0.8,
    attackSeconds: 0.03,
    decaySeconds: 0.6,
    sustain: 0.85,
    releaseSeconds: 0.08,
    vibrato: 0.002,
    gain: 0.7,
  },
  flute: {
    ...plain,
    overtone: list(1, 0.3, 0.1, 0.04),
    brightness: 0.9,
    attackSeconds: 0.05,
    decaySeconds: 0.6,
    sustain: 0.9,
    releaseSeconds: 0.1,
    vibrato: 0.003,
    gain: 0.9,
  },
  voice: {
    ...plain,
    overtone: formants,
    brightness: 0.9,
    attackSeconds: 0.06,
    decaySeconds: 0.8,
    sustain: 0.85,
    releaseSeconds: 0.15,
    vibrato: 0.005,
    detune: 0.002,
    gain: 1.1,
  },
  square: {
    ...plain,
    overtone: (number) => (number % 2 === 1 ? 1 / number : 0),
    brightness: 1,
    attackSeconds: 0.003,
    decaySeconds: 0.5,
    sustain: 0.7,
    releaseSeconds: 0.03,
    gain: 0.55,
  },
  saw: {
    ...plain,
    overtone: saw,
    brightness: 0.5,
    attackSeconds: 0.006,
    decaySeconds: 0.6,
    sustain: 0.65,
    releaseSeconds: 0.12,
    detune: 0.004,
    gain: 0.55,
  },
  pad: {
    ...plain,
    overtone: (number) => number ** -1.5,
    brightness: 0.8,
    attackSeconds: 0.35,
    decaySeconds: 2,
    sustain: 0.9,
    releaseSeconds: 0.7,
    detune: 0.005,
    gain: 0.7,
  },
};
