/** What is played under a melody: chords in figures, the bass, the drums. One bar at a time. */
import type { Random } from '../seed.ts';
import { type Bar, chordAt } from './melody.ts';
import { type Bassline, type DrumName, drumNotes, type Figure, type Groove } from './styles/style.ts';
import { type Chord, modulo, nearest, voice } from './theory.ts';
import type { Metre, Note } from './types.ts';

/** Where in the music, and how loudly. */
export interface Place {
  readonly bar: Bar;
  readonly next: Bar | undefined;
  readonly startBeat: number;
  readonly metre: Metre;
  readonly velocity: number;
}

/** Letters that start something, each with how many steps it lasts. */
function* readPattern(
  pattern: string,
  barSteps: number,
): Generator<{ letter: string; step: number; steps: number }> {
  for (let step = 0; step < barSteps; step++) {
    const letter = pattern[step % pattern.length] ?? '.';
    if (letter === '.' || letter === '-') continue;
    let end = step + 1;
    while (end < barSteps && pattern[end % pattern.length] === '-') end += 1;
    yield { letter, step, steps: end - step };
  }
}

/** Keeps the last voicing, so that chords move as hands do. */
export function createAccompanist(centre: number): (figure: Figure, place: Place) => Note[] {
  let held: { chord: Chord; pitches: number[] } | undefined;
  const voicing = (chord: Chord) => {
    if (held?.chord !== chord) held = { chord, pitches: voice(chord, held?.pitches, centre) };
    return held.pitches;
  };
  return (figure, { bar, startBeat, metre, velocity }) => {
    const notes: Note[] = [];
    for (const { letter, step, steps } of readPattern(figure, metre.beats * metre.division)) {
      const chord = chordAt(bar, step);
      const pitches = voicing(chord);
      const accent = letter === 'X' ? 1.12 : step % metre.division === 0 ? 1 : 0.9;
      const note = {
        at: startBeat + step / metre.division,
        beats: (steps / metre.division) * 0.95,
        velocity: velocity * accent,
      };
      for (const pitch of toPitches(letter, pitches, chord, centre)) notes.push({ ...note, pitch });
    }
    return notes;
  };
}

function toPitches(
  letter: string,
  pitches: readonly number[],
  chord: Chord,
  centre: number,
): readonly number[] {
  if (letter === 'x' || letter === 'X') return pitches;
  if (letter === 'b') return [nearest(centre - 14, [chord.root], centre - 24, centre - 5)];
  const index = Number(letter) - 1;
  const pitch = pitches[index % pitches.length] ?? centre;
  return [pitch + 12 * Math.floor(index / pitches.length)];
}

export function playBass(
  line: Bassline,
  { bar, next, startBeat, metre, velocity }: Place,
  low: number,
): Note[] {
  const notes: Note[] = [];
  for (const { letter, step, steps } of readPattern(line, metre.beats * metre.division)) {
    const chord = chordAt(bar, step);
    const root = nearest(low + 7, [chord.root], low, low + 14);
    const target = next === undefined ? root : nearest(root, [chordAt(next, 0).root], low, low + 14);
    notes.push({
      at: startBeat + step / metre.division,
      beats: (steps / metre.division) * 0.92,
      pitch: toBassPitch(letter, root, chord, target),
      velocity: velocity * (step === 0 ? 1.05 : 0.95),
    });
  }
  return notes;
}

function toBassPitch(letter: string, root: number, { intervals }: Chord, target: number): number {
  switch (letter) {
    case '3':
      return root + (intervals.length > 2 ? (intervals[1] ?? 0) : 7);
    case '5':
      return root + (intervals.find((interval) => interval >= 6 && interval <= 8) ?? 7);
    case '8':
      return root + 12;
    case 'a':
      // From the side on which the next root does not lie.
      return target === root ? root + 7 : target > root ? target - 2 : target + 2;
    default:
      return root;
  }
}

const strokes: Readonly<Record<string, number>> = { X: 1.15, x: 0.95, o: 0.6 };

export function playDrums(groove: Groove, { startBeat, metre, velocity }: Place, random: Random): Note[] {
  const notes: Note[] = [];
  for (const [name, pattern] of Object.entries(groove) as [DrumName, string][]) {
    for (let step = 0; step < metre.beats * metre.division; step++) {
      const stroke = strokes[pattern[step % pattern.length] ?? '.'];
      if (stroke === undefined) continue;
      const weight = stroke * (0.94 + random.next() * 0.12);
      notes.push(toStroke(name, startBeat + step / metre.division, velocity * weight));
    }
  }
  return notes;
}

export function toStroke(name: DrumName, at: number, velocity: number): Note {
  return {
    at,
    beats: name === 'crash' || name === 'ride' || name === 'openHat' ? 0.5 : 0.2,
    pitch: drumNotes[name],
    velocity,
  };
}

/** The last beats before something new. */
export function playFill({ startBeat, metre, velocity }: Place, random: Random): Note[] {
  const beats = metre.beats > 2 ? 2 : 1;
  const from = startBeat + metre.beats - beats;
  const drums = ['snare', 'highTom', 'midTom', 'lowTom'] as const;
  const steps = beats * metre.division;
  const notes: Note[] = [];
  for (let step = 0; step < steps; step++) {
    if (random.next() < 0.25 && step > 0) continue;
    const drum = drums[Math.floor((step / steps) * drums.length)] ?? 'snare';
    notes.push(toStroke(drum, from + step / metre.division, velocity * (0.7 + (0.3 * step) / steps)));
  }
  return notes;
}

/** Long tones, one voice of the chord each, tied over where a tone stays. */
export function playPad(
  bars: readonly Bar[],
  startBeat: number,
  metre: Metre,
  centre: number,
  velocity: number,
): Note[] {
  const notes: Note[] = [];
  let before: number[] | undefined;
  let sounding = new Map<number, Note>();
  bars.forEach((bar, index) => {
    for (const { chord, from, steps } of bar) {
      const pitches = voice(chord, before, centre);
      before = pitches;
      const at = startBeat + index * metre.beats + from / metre.division;
      const beats = steps / metre.division;
      const now = new Map<number, Note>();
      for (const pitch of pitches) {
        const tied = sounding.get(pitch);
        if (tied !== undefined) tied.beats += beats;
        const note = tied ?? { at, beats, pitch, velocity };
        if (tied === undefined) notes.push(note);
        now.set(pitch, note);
      }
      sounding = now;
    }
  });
  // Two chords overlap a little.
  for (const note of notes) note.beats += 0.1;
  return notes;
}

/** Moves a pitch by octaves into a range. */
export function fold(pitch: number, low: number, high: number): number {
  if (pitch >= low && pitch <= high) return pitch;
  const octave = pitch < low ? low + modulo(pitch - low, 12) : high - modulo(high - pitch, 12);
  return Math.min(high, Math.max(low, octave));
}
