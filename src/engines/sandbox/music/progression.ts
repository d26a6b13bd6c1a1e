/** Which chords a song has, bar by bar. */
import type { Random } from '../seed.ts';
import type { Brief } from './brief.ts';
import type { Form } from './form.ts';
import type { Bar } from './melody.ts';
import { harmonies } from './styles/harmonies.ts';
import { isMinor, parseChord } from './theory.ts';
import type { Metre, SectionKind } from './types.ts';

/** A bar each, the last chord's included. */
export function toBars({ style, key }: Brief, { sections, metre }: Form, random: Random): Bar[] {
  const progressions = harmonies[style.harmony][isMinor(key.mode) ? 'minor' : 'major'];
  const verse = random.pick(progressions.verse).split(' ');
  const chorus = random.pick(progressions.chorus).split(' ');
  const bridge = random.pick(progressions.bridge).split(' ');
  const chords: Readonly<Record<SectionKind, readonly string[]>> = {
    intro: verse,
    verse,
    chorus,
    bridge,
    solo: chorus,
    outro: chorus,
    end: [progressions.last],
  };
  const names = sections.flatMap(({ kind, bars }) =>
    Array.from({ length: bars }, (_, bar) => chords[kind][bar % chords[kind].length] ?? progressions.last),
  );
  // Whatever came before, the bar before the last leads home.
  if (names.length > 1) names[names.length - 2] = progressions.cadence;
  const known = new Map<string, Bar>();
  return names.map((name) => {
    const bar = known.get(name) ?? toBar(name, key.tonic, metre);
    known.set(name, bar);
    return bar;
  });
}

function toBar(name: string, tonic: number, { beats, division }: Metre): Bar {
  const [first = 'I', second] = name.split(',');
  const steps = beats * division;
  if (second === undefined) return [{ chord: parseChord(first, tonic), from: 0, steps }];
  const half = Math.ceil(beats / 2) * division;
  return [
    { chord: parseChord(first, tonic), from: 0, steps: half },
    { chord: parseChord(second, tonic), from: half, steps: steps - half },
  ];
}
