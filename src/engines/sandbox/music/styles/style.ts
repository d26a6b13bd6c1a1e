/** What a style says: everything in which a waltz and a techno track differ. */
import type { InstrumentName } from '../instruments.ts';
import type { Mode } from '../theory.ts';
import type { MetreName } from '../types.ts';
import type { HarmonyName } from './harmonies.ts';

export const drumNotes = {
  kick: 36,
  rim: 37,
  snare: 38,
  clap: 39,
  hat: 42,
  pedal: 44,
  lowTom: 45,
  openHat: 46,
  midTom: 47,
  crash: 49,
  highTom: 50,
  ride: 51,
  tambourine: 54,
  cowbell: 56,
  highConga: 63,
  lowConga: 64,
  maracas: 70,
  claves: 75,
  triangle: 81,
} as const;

export type DrumName = keyof typeof drumNotes;

/** A bar, one letter a step: `X` loud, `x` plain, `o` soft, `.` nothing. */
export type Groove = Readonly<Partial<Record<DrumName, string>>>;

/**
 * A bar of accompaniment, one letter a step: `x` the chord, `X` the chord loudly, `1` to `6` its tones from the lowest,
 * `b` its root below, `-` what sounds goes on, `.` nothing.
 */
export type Figure = string;

/** A bar of the bass: `r` root, `3`, `5`, `8` the tones above it, `a` a step before the next root, `-` and `.` as above. */
export type Bassline = string;

export interface Style {
  readonly name: string;
  readonly words: readonly string[];
  readonly bpm: readonly [slowest: number, fastest: number];
  readonly metre: MetreName;
  readonly modes: readonly [Mode, ...Mode[]];
  readonly harmony: HarmonyName;
  readonly lead: readonly [InstrumentName, ...InstrumentName[]];
  readonly chords: readonly [InstrumentName, ...InstrumentName[]];
  /** Empty: there is none. */
  readonly bass: readonly InstrumentName[];
  readonly pad: readonly InstrumentName[];
  readonly counter: readonly InstrumentName[];
  /** In quieter sections, and in fuller ones. */
  readonly figures: readonly [quiet: Figure, full: Figure];
  readonly basslines: readonly [quiet: Bassline, full: Bassline];
  readonly grooves?: readonly [quiet: Groove, full: Groove];
  /** The number of a drum kit in General MIDI. */
  readonly kit: number;
  /** How far the second half of a beat comes late, in beats. */
  readonly swing: number;
  /** Notes of the melody in a beat. */
  readonly density: number;
  /** The share of beats that the melody anticipates. */
  readonly syncopation: number;
  readonly melodyScale: 'mode' | 'pentatonic' | 'blues';
  /** How unlike a machine it is played, 0 to 1. */
  readonly looseness: number;
  readonly reverb: number;
  /** How many bars belong together. */
  readonly phraseBars: 4 | 12;
}

/** What most styles have in common. */
export const ordinary = {
  metre: '4/4',
  modes: ['major', 'minor'],
  harmony: 'pop',
  pad: [],
  counter: [],
  kit: 0,
  swing: 0,
  density: 1.2,
  syncopation: 0.15,
  melodyScale: 'mode',
  looseness: 0.6,
  reverb: 0.35,
  phraseBars: 4,
} as const satisfies Partial<Style>;
