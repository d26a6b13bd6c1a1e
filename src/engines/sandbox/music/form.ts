/** Fits a form to a length: sections of whole phrases, a last chord, and time for it to die away. */
import { type Metre, metres, type Section, type SectionKind } from './types.ts';

export interface FormWish {
  readonly seconds: number;
  readonly bpm: number;
  readonly isTempoGiven: boolean;
  readonly metre: Metre;
  /** How many bars belong together. */
  readonly phraseBars: number;
}

export interface Form {
  readonly bpm: number;
  readonly metre: Metre;
  readonly sections: readonly Section[];
  /** Of the last chord, in beats. */
  readonly lastBeats: number;
  readonly fadeFrom: number;
}

/** More than this and it is another piece. */
const mostHurry = 1.35;
const shortPhrase = 4;
const longestIntro = 4;

const energies: Readonly<Record<SectionKind, number>> = {
  intro: 0.3,
  verse: 0.5,
  chorus: 0.85,
  bridge: 0.45,
  solo: 0.7,
  outro: 0.35,
  end: 0.6,
};

export function fitForm({ seconds, bpm, isTempoGiven, metre, phraseBars }: FormWish): Form {
  const fadeSeconds = Math.min(2.5, Math.max(0.7, seconds * 0.06));
  const room = seconds - fadeSeconds;
  const hurry = isTempoGiven ? 1 : toHurry(room, bpm, metre);
  const tempo = Math.round(bpm * hurry);
  const beats = (room * tempo) / 60;
  // A bar that fills the whole piece is felt as two.
  const bar = beats < 2 * metre.beats && metre.beats === 4 && metre.division === 4 ? metres['2/4'] : metre;
  const bodyBars = Math.max(0, Math.floor((beats - bar.beats) / bar.beats));
  const sections = place(toSections(bodyBars, phraseBars));
  const lastBeats = beats - bodyBars * bar.beats;
  return { bpm: tempo, metre: bar, sections, lastBeats, fadeFrom: room };
}

/** A very short piece is played a little faster, so that there is something before the last chord. */
function toHurry(room: number, bpm: number, { beats }: Metre): number {
  for (const bars of [3, 2]) {
    const needed = (bars * beats * 60) / room / bpm;
    if (needed <= 1) return 1;
    if (needed <= mostHurry) return needed;
  }
  return 1;
}

type Stretch = readonly [kind: SectionKind, bars: number];

function place(stretches: readonly Stretch[]): Section[] {
  const seen = new Map<SectionKind, number>();
  const lastChorus = stretches.findLastIndex(([kind]) => kind === 'chorus');
  let bar = 0;
  return [...stretches, ['end', 1] as const].map(([kind, bars], index) => {
    const times = seen.get(kind) ?? 0;
    seen.set(kind, times + 1);
    const energy = index === lastChorus ? 1 : Math.min(1, energies[kind] + times * 0.08);
    const section = { kind, bar, bars, energy };
    bar += bars;
    return section;
  });
}

function toSections(bars: number, phraseBars: number): Stretch[] {
  const phrase = bars >= phraseBars ? phraseBars : shortPhrase;
  const units = Math.floor(bars / phrase);
  const rest = bars % phrase;
  if (units === 0) return rest === 0 ? [] : [['verse', rest]];
  if (phrase > shortPhrase) return toLongSections(units, rest, phrase);
  // A rest of some bars is introduction enough.
  const hasOwnIntro = rest < 2 && units > 2;
  const intro = rest + (hasOwnIntro ? phrase : 0);
  const core = toCore(hasOwnIntro ? units - 1 : units).map(
    ([kind, count]) => [kind, count * phrase] as const,
  );
  return intro === 0 ? core : [['intro', intro], ...core];
}

/** Choruses of twelve bars: who begins lets the others have their turn. */
function toLongSections(units: number, rest: number, phrase: number): Stretch[] {
  const intro = Math.min(rest, longestIntro);
  const turn = ['verse', 'solo', 'verse', 'bridge', 'solo'] as const;
  const middle = Array.from({ length: units }, (_, index): Stretch => {
    if (units > 1 && index === units - 1) return ['chorus', phrase];
    return [turn[index % turn.length] ?? 'verse', phrase];
  });
  const stretches: Stretch[] = [['intro', intro], ...middle, ['outro', rest - intro]];
  return stretches.filter(([, bars]) => bars > 0);
}

const shortCores: readonly (readonly Stretch[])[] = [
  [],
  [['verse', 1]],
  [
    ['verse', 1],
    ['chorus', 1],
  ],
  [
    ['verse', 2],
    ['chorus', 1],
  ],
  [
    ['verse', 2],
    ['chorus', 2],
  ],
  [
    ['verse', 2],
    ['chorus', 2],
    ['outro', 1],
  ],
  [
    ['verse', 2],
    ['chorus', 2],
    ['bridge', 1],
    ['chorus', 1],
  ],
  [
    ['verse', 2],
    ['chorus', 2],
    ['bridge', 1],
    ['chorus', 2],
  ],
  [
    ['verse', 2],
    ['chorus', 2],
    ['bridge', 1],
    ['chorus', 2],
    ['outro', 1],
  ],
];

const cycle = ['verse', 'chorus', 'verse', 'chorus', 'bridge', 'chorus', 'solo', 'chorus'] as const;

/** What stands between the introduction and the last chord, in phrases. */
function toCore(units: number): readonly Stretch[] {
  const short = shortCores[units];
  if (short !== undefined) return short;
  const middle: Stretch[] = [];
  for (let left = units - 1; left > 0; left -= 2) {
    middle.push([cycle[middle.length % cycle.length] ?? 'verse', Math.min(2, left)]);
  }
  const [last, before] = [middle.at(-1), middle.at(-2)];
  // What comes last is what everybody waited for.
  if (last !== undefined && before !== undefined && last[0] !== 'chorus') {
    middle.splice(-2, 2, ['chorus', before[1] + last[1]]);
  }
  return [...middle, ['outro', 1]];
}
