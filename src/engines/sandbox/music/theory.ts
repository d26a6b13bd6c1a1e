/** Scales and chords. A pitch class is a number from 0 (C) to 11 (B). */
import assert from 'node:assert/strict';

export const scales = {
  major: [0, 2, 4, 5, 7, 9, 11],
  minor: [0, 2, 3, 5, 7, 8, 10],
  dorian: [0, 2, 3, 5, 7, 9, 10],
  phrygian: [0, 1, 3, 5, 7, 8, 10],
  lydian: [0, 2, 4, 6, 7, 9, 11],
  mixolydian: [0, 2, 4, 5, 7, 9, 10],
} as const;

export type Mode = keyof typeof scales;

export interface Key {
  readonly tonic: number;
  readonly mode: Mode;
}

export interface Chord {
  /** A pitch class. */
  readonly root: number;
  /** Above the root, from 0. */
  readonly intervals: readonly number[];
}

const tonicNames = ['C', 'C♯', 'D', 'E♭', 'E', 'F', 'F♯', 'G', 'A♭', 'A', 'B♭', 'B'] as const;

export function toKeyName({ tonic, mode }: Key): string {
  return `${tonicNames[tonic]} ${mode}`;
}

export function isMinor(mode: Mode): boolean {
  return scales[mode][2] === 3;
}

export function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

const numerals = ['I', 'II', 'III', 'IV', 'V', 'VI', 'VII'];
const numeralPattern =
  /^([b#]?)(VII|VI|IV|V|III|II|I|vii|vi|iv|v|iii|ii|i)(maj7|maj9|dim|sus4|sus2|add9|7|9|6|5)?$/;

/** A chord by its Roman numeral, counted from the major scale in every mode: `bVII`, `ii7`, `Vsus4`. */
export function parseChord(numeral: string, tonic: number): Chord {
  const match = numeralPattern.exec(numeral);
  assert(match, `${numeral} is no chord`);
  const [, accidental, name = '', suffix] = match;
  const isLow = name === name.toLowerCase();
  const step = scales.major[numerals.indexOf(name.toUpperCase())] ?? 0;
  const shift = accidental === 'b' ? -1 : accidental === '#' ? 1 : 0;
  return { root: modulo(tonic + step + shift, 12), intervals: toIntervals(isLow, suffix) };
}

function toIntervals(isMinorChord: boolean, suffix: string | undefined): readonly number[] {
  const third = isMinorChord ? 3 : 4;
  switch (suffix) {
    case '7':
      return [0, third, 7, 10];
    case 'maj7':
      return [0, third, 7, 11];
    case '9':
      return [0, third, 7, 10, 14];
    case 'maj9':
      return [0, third, 7, 11, 14];
    case 'add9':
      return [0, third, 7, 14];
    case '6':
      return [0, third, 7, 9];
    case '5':
      return [0, 7];
    case 'sus4':
      return [0, 5, 7];
    case 'sus2':
      return [0, 2, 7];
    case 'dim':
      return [0, 3, 6];
    default:
      return [0, third, 7];
  }
}

export function toneClasses({ root, intervals }: Chord): number[] {
  return intervals.map((interval) => modulo(root + interval, 12));
}

/** What a melody moves in while a chord sounds: the scale, bent to the chord where the chord leaves it. */
export function toMelodyScale(key: Key, kind: 'mode' | 'pentatonic' | 'blues', chord: Chord): number[] {
  const steps: readonly number[] =
    kind === 'mode'
      ? scales[key.mode]
      : kind === 'blues'
        ? [0, 3, 5, 6, 7, 10]
        : isMinor(key.mode)
          ? [0, 3, 5, 7, 10]
          : [0, 2, 4, 7, 9];
  const scale = new Set(steps.map((step) => modulo(key.tonic + step, 12)));
  const tones = toneClasses(chord).slice(0, 4);
  for (const tone of tones) {
    if (scale.has(tone)) continue;
    // Two neighbours a half tone apart, one of them in the chord, would rub.
    for (const neighbour of [modulo(tone - 1, 12), modulo(tone + 1, 12)]) {
      if (!tones.includes(neighbour)) scale.delete(neighbour);
    }
    scale.add(tone);
  }
  return [...scale].sort((a, b) => a - b);
}

/** The pitch of one of the classes that is nearest to where we are, within the range; the lower of two. */
export function nearest(pitch: number, classes: readonly number[], low: number, high: number): number {
  let best = -1;
  for (let candidate = low; candidate <= high; candidate++) {
    if (!classes.includes(modulo(candidate, 12))) continue;
    if (best < 0 || Math.abs(candidate - pitch) < Math.abs(best - pitch)) best = candidate;
  }
  return best < 0 ? Math.min(high, Math.max(low, pitch)) : best;
}

/** So many steps along a scale. */
export function stepFrom(pitch: number, steps: number, classes: readonly number[]): number {
  let at = pitch;
  let left = Math.abs(steps);
  const way = Math.sign(steps);
  while (left > 0) {
    at += way;
    if (classes.includes(modulo(at, 12))) left -= 1;
  }
  return at;
}

/** The chord's tones in close position, turned so that they move as little as possible from the last ones. */
export function voice(chord: Chord, before: readonly number[] | undefined, centre: number): number[] {
  const wanted =
    before === undefined ? centre : before.reduce((sum, pitch) => sum + pitch, 0) / before.length;
  // The middle of what moves is drawn back slowly: a song would wander off otherwise.
  const middle = wanted * 0.7 + centre * 0.3;
  let best: number[] = [];
  let bestDistance = Number.POSITIVE_INFINITY;
  const classes = chord.intervals.slice(0, 4).map((interval) => modulo(chord.root + interval, 12));
  for (let turn = 0; turn < classes.length; turn++) {
    const [first = 0, ...others] = [...classes.slice(turn), ...classes.slice(0, turn)];
    for (let octave = 2; octave <= 6; octave++) {
      const pitches = [first + octave * 12];
      for (const tone of others) pitches.push(above(pitches.at(-1) ?? 0, tone));
      const mean = pitches.reduce((sum, pitch) => sum + pitch, 0) / pitches.length;
      const distance = Math.abs(mean - middle);
      if (distance < bestDistance) [best, bestDistance] = [pitches, distance];
    }
  }
  return best;
}

function above(pitch: number, tone: number): number {
  return pitch + modulo(tone - pitch - 1, 12) + 1;
}
