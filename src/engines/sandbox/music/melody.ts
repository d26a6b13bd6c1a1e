/** Melodies: short motifs, which come back on other chords and a little changed, and phrases that come to rest. */
import type { Random } from '../seed.ts';
import type { Style } from './styles/style.ts';
import { type Chord, type Key, modulo, nearest, stepFrom, toMelodyScale, toneClasses } from './theory.ts';
import type { Metre, Note } from './types.ts';

/** A chord within a bar, in steps. */
export interface Segment {
  readonly chord: Chord;
  readonly from: number;
  readonly steps: number;
}

export type Bar = readonly Segment[];

export function chordAt(bar: Bar, step: number): Chord {
  const found = bar.findLast(({ from }) => from <= step) ?? bar[0];
  return found?.chord ?? { root: 0, intervals: [0, 4, 7] };
}

/** A note of a motif: when in the bar, how long, and how far from the one before, in steps of the scale. */
interface Cell {
  readonly at: number;
  readonly steps: number;
  readonly rise: number;
}

export interface Motif {
  readonly call: readonly Cell[];
  readonly answer: readonly Cell[];
}

export interface MelodyWish {
  readonly key: Key;
  readonly metre: Metre;
  readonly style: Pick<Style, 'density' | 'syncopation' | 'melodyScale'>;
  readonly random: Random;
}

export function createMotif(wish: MelodyWish, liveliness: number): Motif {
  return { call: createCells(wish, liveliness, 1), answer: createCells(wish, liveliness * 0.85, -1) };
}

function createCells({ metre, style, random }: MelodyWish, liveliness: number, way: 1 | -1): Cell[] {
  const { beats, division } = metre;
  const density = style.density * liveliness;
  const onsets = new Set<number>();
  for (let step = 0; step < beats * division; step++) {
    const chance = onsetChance(step, metre, density);
    if (random.next() >= chance) continue;
    const isAnticipated = step > 0 && step % division === 0 && random.next() < style.syncopation;
    onsets.add(isAnticipated ? step - (division === 4 ? 2 : 1) : step);
  }
  if (onsets.size === 0) onsets.add(0);
  const starts = [...onsets].sort((a, b) => a - b);
  return starts.map((at, index) => ({
    at,
    steps: (starts[index + 1] ?? beats * division) - at,
    rise: drawRise(random, index < starts.length / 2 ? way : -way),
  }));
}

function onsetChance(step: number, { beats, division }: Metre, density: number): number {
  if (step === 0) return 0.95;
  if (step % division === 0) {
    const isMiddle = beats === 4 && step === 2 * division;
    return Math.min(1, 0.3 + 0.5 * density + (isMiddle ? 0.2 : 0));
  }
  if (division === 3) return step % 3 === 2 ? within((density - 0.8) * 0.5) : within((density - 1.4) * 0.5);
  if (step % 4 === 2) return within((density - 0.65) * 0.65);
  return within((density - 1.6) * 0.25);
}

function within(chance: number): number {
  return Math.min(0.92, Math.max(0.02, chance));
}

/** Mostly steps, now and then a leap; rather in the direction in which the line goes. */
function drawRise(random: Random, way: number): number {
  const size = random.pick([1, 1, 1, 1, 1, 2, 2, 0, 3]);
  return random.next() < 0.75 ? size * way : -size * way;
}

export interface PhraseWish extends MelodyWish {
  readonly bars: readonly Bar[];
  readonly motif: Motif;
  readonly low: number;
  readonly high: number;
  /** Where the line comes from. */
  readonly from: number;
  /** `closed` ends on the tonic where the chord allows it, `open` on another tone of the chord. */
  readonly ending: 'open' | 'closed';
  /** The share of notes that are adorned. */
  readonly variation: number;
  /** What is sung: as many notes as syllables, one of them each. */
  readonly lines?: readonly (readonly string[])[];
}

/** Times are in steps from the phrase's first bar; velocities are about 1. */
export interface Tone {
  at: number;
  steps: number;
  pitch: number;
  weight: number;
  syllable?: string;
}

export function composePhrase(wish: PhraseWish): Tone[] {
  const cells = wish.lines === undefined ? toMotifCells(wish) : toSungCells(wish, wish.lines);
  const tones = toTones(wish, cells);
  return wish.lines === undefined ? adorn(wish, tones) : tones;
}

interface PlacedCell extends Cell {
  readonly syllable?: string;
}

/** Call, answer, call again, and the end: a long note and a breath. */
function toMotifCells({ bars, motif, metre }: PhraseWish): PlacedCell[] {
  const barSteps = metre.beats * metre.division;
  return bars.flatMap((_, index) => {
    const isLast = index === bars.length - 1;
    const cells = index % 2 === 0 && !isLast ? motif.call : motif.answer;
    const placed = cells.map((cell) => ({ ...cell, at: cell.at + index * barSteps }));
    return isLast ? toEnding(placed, index * barSteps, metre) : placed;
  });
}

/** The answer's first beat or two, then one note that lasts until the breath. */
function toEnding(cells: readonly Cell[], barStart: number, { beats, division }: Metre): Cell[] {
  const stop = barStart + (beats > 2 ? 2 : 1) * division;
  const before = cells
    .filter(({ at }) => at < stop)
    .map((cell) => ({ ...cell, steps: Math.min(cell.steps, stop - cell.at) }));
  const length = Math.max(1, (beats - (beats > 2 ? 2 : 1)) * division - Math.floor(division / 2));
  return [...before, { at: stop, steps: length, rise: -1 }];
}

/** Every line gets an equal stretch; its syllables spread over the grid, the last one held. */
function toSungCells(
  { bars, metre, motif }: PhraseWish,
  lines: readonly (readonly string[])[],
): PlacedCell[] {
  const steps = (bars.length * metre.beats * metre.division) / Math.max(1, lines.length);
  const rises = [...motif.call, ...motif.answer].map(({ rise }) => rise);
  return lines.flatMap((syllables, line) => {
    const start = Math.round(line * steps);
    const starts = spread(syllables.length, Math.round(steps), metre.division);
    return starts.map((at, index) => ({
      at: start + at,
      steps: Math.max(0.3, (starts[index + 1] ?? Math.round(steps) - Math.ceil(metre.division / 2)) - at),
      rise: index === syllables.length - 1 ? -1 : (rises[index % Math.max(1, rises.length)] ?? 1),
      syllable: syllables[index] ?? '',
    }));
  });
}

/** The coarsest grid that holds them, with about a quarter of the stretch left for the last one. */
function spread(count: number, steps: number, division: number): number[] {
  if (count === 0) return [];
  const grids = division === 4 ? [4, 2, 1] : [3, 1];
  const room = Math.max(1, Math.floor(steps * 0.75));
  // More than there are steps: they are sung faster than the grid.
  if (count > room) return Array.from({ length: count }, (_, index) => (index * room) / count);
  const grid = grids.find((each) => Math.floor(room / each) >= count) ?? 1;
  const slots = Math.floor(room / grid);
  return Array.from({ length: count }, (_, index) => Math.floor((index * slots) / count) * grid);
}

function toTones(wish: PhraseWish, cells: readonly PlacedCell[]): Tone[] {
  const { bars, metre, key, style, low, high, ending } = wish;
  const barSteps = metre.beats * metre.division;
  let pitch = wish.from;
  return cells.map((cell, index) => {
    const bar = bars[Math.min(bars.length - 1, Math.floor(cell.at / barSteps))] ?? [];
    const step = modulo(cell.at, barSteps);
    const chord = chordAt(bar, step);
    const scale = toMelodyScale(key, style.melodyScale, chord);
    const rise =
      pitch + cell.rise * 2 > high
        ? -Math.abs(cell.rise)
        : pitch + cell.rise * 2 < low
          ? Math.abs(cell.rise)
          : cell.rise;
    const wanted = stepFrom(nearest(pitch, scale, low - 12, high + 12), rise, scale);
    const isStrong = step % metre.division === 0 && (step === 0 || cell.steps >= metre.division);
    const isLast = index === cells.length - 1;
    pitch = isLast
      ? toRest(wanted, chord, key, ending, low, high)
      : nearest(wanted, isStrong ? toneClasses(chord).slice(0, 4) : scale, low, high);
    const weight = step === 0 ? 1.08 : step % metre.division === 0 ? 1 : 0.9;
    const tone = { at: cell.at, steps: cell.steps, pitch, weight };
    return cell.syllable === undefined ? tone : { ...tone, syllable: cell.syllable };
  });
}

function toRest(
  pitch: number,
  chord: Chord,
  key: Key,
  ending: 'open' | 'closed',
  low: number,
  high: number,
): number {
  const tones = toneClasses(chord).slice(0, 3);
  const isHome = ending === 'closed' && tones.includes(key.tonic);
  return nearest(pitch, isHome ? [key.tonic] : tones, low, high);
}

/** Here and there a long note becomes a turn around its neighbour. */
function adorn(
  { variation, random, key, style, bars, metre, low, high }: PhraseWish,
  tones: readonly Tone[],
): Tone[] {
  const barSteps = metre.beats * metre.division;
  return tones.flatMap((tone, index) => {
    const isLast = index === tones.length - 1;
    if (random.next() >= variation || isLast || tone.steps < metre.division || tone.steps % 2 === 1)
      return [tone];
    const bar = bars[Math.min(bars.length - 1, Math.floor(tone.at / barSteps))] ?? [];
    const scale = toMelodyScale(key, style.melodyScale, chordAt(bar, modulo(tone.at, barSteps)));
    const neighbour = nearest(stepFrom(tone.pitch, random.next() < 0.6 ? 1 : -1, scale), scale, low, high);
    const half = tone.steps / 2;
    return [
      { ...tone, steps: half },
      { ...tone, at: tone.at + half, steps: half, pitch: neighbour, weight: tone.weight * 0.92 },
    ];
  });
}

/** To the same beats as the tones: a second voice in thirds or sixths below. */
export function harmonize(
  tones: readonly Tone[],
  low: number,
  high: number,
  bars: readonly Bar[],
  metre: Metre,
): Tone[] {
  const barSteps = metre.beats * metre.division;
  return tones.flatMap((tone) => {
    if (tone.steps < metre.division / 2) return [];
    const bar = bars[Math.min(bars.length - 1, Math.floor(tone.at / barSteps))] ?? [];
    const classes = toneClasses(chordAt(bar, modulo(tone.at, barSteps))).slice(0, 4);
    const below = nearest(tone.pitch - 4, classes, low, high);
    return below >= tone.pitch || modulo(below, 12) === modulo(tone.pitch, 12)
      ? []
      : [{ at: tone.at, steps: tone.steps, pitch: below, weight: tone.weight * 0.8 }];
  });
}

export function toNote(tone: Tone, startBeat: number, { division }: Metre, velocity: number): Note {
  const note = {
    at: startBeat + tone.at / division,
    // A breath between two notes.
    beats: (tone.steps / division) * 0.94,
    pitch: tone.pitch,
    velocity: velocity * tone.weight,
  };
  return tone.syllable === undefined ? note : { ...note, syllable: tone.syllable };
}
