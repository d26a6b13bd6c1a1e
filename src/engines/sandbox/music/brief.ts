/** Reads a prompt for what a musician would take from it: style, key, tempo, metre, mood and who plays. */
import type { Random } from '../seed.ts';
import { type InstrumentName, instrumentOf, listInstrumentWords } from './instruments.ts';
import { type Mood, moods, tempoNames, tempoWords } from './moods.ts';
import type { Role } from './roles.ts';
import { inMetre, styles, unnamedStyles } from './styles/index.ts';
import type { Style } from './styles/style.ts';
import { type Key, type Mode, scales } from './theory.ts';
import { type MetreName, metres } from './types.ts';

export interface Wish {
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  /** There are words to be sung. */
  readonly isSung: boolean;
  /** Nobody may sing. */
  readonly isInstrumental: boolean;
}

export interface Brief {
  readonly style: Style;
  readonly key: Key;
  readonly bpm: number;
  /** The prompt says how many beats there are in a minute. */
  readonly isTempoGiven: boolean;
  /** How much is going on, 0 to 1. */
  readonly intensity: number;
  readonly reverb: number;
  readonly players: Readonly<Partial<Record<Role, InstrumentName>>>;
}

const slowest = 40;
const fastest = 220;

export function readBrief(
  { prompt, negativePrompt = '', isSung, isInstrumental }: Wish,
  random: Random,
): Brief {
  const { asked, refused } = partText(prompt);
  const unwanted = `${refused} ; ${negativePrompt.toLowerCase()}`;
  const named = findStyles(asked).filter((style) => !findStyles(unwanted).includes(style));
  const style = inMetre(chooseStyle(named, random), chooseMetre(asked, named));
  const mood = moods.filter(({ words }) => words.some((word) => has(asked, word)));
  const sum = (of: (each: Mood) => number) => mood.reduce((all, each) => all + of(each), 0);
  const given = readBpm(asked);
  const usual = style.bpm[0] + random.next() * (style.bpm[1] - style.bpm[0]);
  const factor = mood.reduce((all, each) => all * each.factor, readTempoFactor(asked));
  const players = choosePlayers({ style, asked, unwanted, isSung, isInstrumental, random });
  return {
    style,
    key: chooseKey(prompt, asked, style, mood, random),
    bpm: clamp(given ?? Math.round(usual * factor), slowest, fastest),
    isTempoGiven: given !== undefined,
    intensity: clamp(0.6 + sum(({ intensity }) => intensity), 0.15, 1),
    reverb: clamp(style.reverb + sum(({ reverb }) => reverb), 0, 1),
    players,
  };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** Whether a word stands there, not as a part of another. */
export function has(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isLetter(text[at - 1]) && !isLetter(text[at + word.length])) return true;
  }
  return false;
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}

const refusal = /\b(?:no|without|minus|excluding|except|not)\s+((?:(?!\b(?:but|with|in)\b)[^.,;:\n])+)/g;

/** What a prompt asks for, and what it does not want: `no drums`, `without guitars`. */
function partText(prompt: string): { asked: string; refused: string } {
  const text = prompt.toLowerCase().replaceAll(/\s+/g, ' ');
  const refused = [...text.matchAll(refusal)].map(([, what]) => what).join(' ; ');
  return { asked: text.replaceAll(refusal, ' '), refused };
}

/** Those with the most of their words first. */
function findStyles(text: string): Style[] {
  // By its own name a style is meant; `epic` and `anthem` are said of many.
  const score = ({ name, words }: Style) =>
    words.filter((word) => has(text, word)).length + (has(text, name) ? 1 : 0);
  return styles
    .map((style) => ({ style, score: score(style) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ style }) => style);
}

/** A jazz waltz is jazz in three. */
function chooseStyle(named: readonly Style[], random: Random): Style {
  const chosen = named.find(({ name }) => name !== 'waltz') ?? named[0];
  return chosen ?? random.pick(unnamedStyles);
}

function chooseMetre(asked: string, named: readonly Style[]): MetreName {
  const [, signature] = /(?<![\d/])((?:2|3|4)\/4|6\/8|12\/8)(?!\d)/.exec(asked) ?? [];
  if (signature !== undefined && signature in metres) return signature as MetreName;
  if (named.some(({ name }) => name === 'waltz')) return '3/4';
  return chosenMetre(named);
}

function chosenMetre([first]: readonly Style[]): MetreName {
  return first?.metre ?? '4/4';
}

function readBpm(asked: string): number | undefined {
  const [, before, after] =
    /(?<!\d)(\d{2,3})\s*-?\s*(?:bpm|beats per minute)|(?:bpm|tempo)\s*(?:of|:|=|at)?\s*(\d{2,3})(?!\d)/.exec(
      asked,
    ) ?? [];
  const told = before ?? after;
  if (told !== undefined) return Number(told);
  return tempoNames.find(([word]) => has(asked, word))?.[1];
}

function readTempoFactor(asked: string): number {
  return tempoWords.find(([word]) => has(asked, word))?.[1] ?? 1;
}

const modeWords = Object.keys(scales) as Mode[];
const tonics: Readonly<Record<string, number>> = { c: 0, d: 2, e: 4, f: 5, g: 7, a: 9, b: 11 };
const keyPattern = new RegExp(
  `(?<![\\p{L}\\p{N}])([a-g])\\s?(sharp|flat|#|♯|♭|b)?[\\s-]*(maj|min|${modeWords.join('|')})(?![\\p{L}])`,
  'iu',
);
/** Only capitals: `in a hurry` names no key. */
const barePattern = /\b(?:in|key of|key:)\s+([A-G])(#|♯|♭|b)?(m)?(?![\p{L}\p{N}])/u;

function chooseKey(prompt: string, asked: string, style: Style, mood: readonly Mood[], random: Random): Key {
  const [, letter, sign, word] = keyPattern.exec(prompt) ?? barePattern.exec(prompt) ?? [];
  const moody = mood.find(({ modes }) => modes !== undefined)?.modes;
  const spoken = modeWords.find((mode) => has(asked, mode));
  // Drawn in any case, so that a key that is given changes nothing else.
  const drawnTonic = random.below(12);
  const drawnMode = random.pick(moody ?? style.modes);
  const tonic = letter === undefined ? drawnTonic : toTonic(letter, sign);
  return { tonic, mode: toMode(word) ?? (letter === undefined ? spoken : undefined) ?? drawnMode };
}

function toTonic(letter: string, sign: string | undefined): number {
  const shift = sign === undefined ? 0 : /^(?:sharp|#|♯)$/i.test(sign) ? 1 : -1;
  return ((tonics[letter.toLowerCase()] ?? 0) + shift + 12) % 12;
}

function toMode(word: string | undefined): Mode | undefined {
  const text = word?.toLowerCase();
  if (text === 'm' || text === 'min') return 'minor';
  if (text === 'maj') return 'major';
  return modeWords.find((mode) => mode === text);
}

/** In the order in which the text names them. */
export function findInstruments(text: string): InstrumentName[] {
  let rest = text;
  const found: { name: InstrumentName; at: number }[] = [];
  for (const [word, name] of listInstrumentWords()) {
    if (!has(rest, word)) continue;
    const at = rest.indexOf(word);
    found.push({ name, at });
    // What was understood is not understood again as something shorter.
    rest = rest.slice(0, at) + '_'.repeat(word.length) + rest.slice(at + word.length);
  }
  return [...new Set(found.sort((a, b) => a.at - b.at).map(({ name }) => name))];
}

interface Casting {
  readonly style: Style;
  readonly asked: string;
  readonly unwanted: string;
  readonly isSung: boolean;
  readonly isInstrumental: boolean;
  readonly random: Random;
}

type Players = Partial<Record<Role, InstrumentName>>;

function choosePlayers(casting: Casting): Players {
  const { style, asked, unwanted, isSung, isInstrumental, random } = casting;
  const banned = new Set<InstrumentName>(findInstruments(unwanted));
  if (isInstrumental) for (const name of ['voice', 'choir'] as const) banned.add(name);
  const named = findInstruments(asked).filter((name) => !banned.has(name) && !isFamilyBanned(name, unwanted));
  const may = (name: InstrumentName) => !banned.has(name) && !isFamilyBanned(name, unwanted);
  const players: Players = {};
  for (const name of named) {
    const role = instrumentOf(name).roles.find((each) => players[each] === undefined);
    if (role !== undefined) players[role] = name;
  }
  const solo = findSoloist(asked, named);
  if (solo !== undefined) return isSung && may('voice') ? { lead: 'voice', chords: solo } : playAlone(solo);

  const draw = (names: readonly InstrumentName[], spare?: InstrumentName) => {
    const [first, ...others] = names.filter(may);
    return first === undefined ? spare : random.pick([first, ...others]);
  };
  // What can be a melody and its chords at once, and is asked for alone, is both.
  const [only] = named.filter((name) => name !== 'drums');
  if (named.length === 1 && only !== undefined && canLeadAndAccompany(only)) players.lead ??= only;
  const drawn: Players = {};
  const spare = spares.find(may);
  for (const role of ['lead', 'chords', 'bass', 'pad', 'counter'] as const) {
    const instrument = draw(style[role], role === 'lead' || role === 'chords' ? spare : undefined);
    if (instrument !== undefined) drawn[role] = instrument;
  }
  const all: Players = { ...drawn, ...players };
  if (isSung && may('voice')) {
    if (all.lead !== 'voice' && all.lead !== undefined) all.counter = players.lead ?? all.counter ?? all.lead;
    all.lead = 'voice';
  }
  const wantsDrums = style.grooves !== undefined || named.includes('drums');
  if (wantsDrums && may('drums')) all.drums = 'drums';
  else delete all.drums;
  return all;
}

const spares = ['piano', 'acoustic guitar', 'strings', 'organ', 'harp', 'music box'] as const;

/** `no guitars` is meant for all of them. */
function isFamilyBanned(name: InstrumentName, unwanted: string): boolean {
  const families = ['guitar', 'sax', 'piano', 'organ', 'flute', 'strings', 'bass', 'pad', 'trumpet'];
  if (has(unwanted, 'synth') || has(unwanted, 'synths') || has(unwanted, 'synthesizer'))
    if (/synth|lead|pad/.test(name)) return true;
  return families.some(
    (family) => name.endsWith(family) && (has(unwanted, family) || has(unwanted, `${family}s`)),
  );
}

function findSoloist(asked: string, named: readonly InstrumentName[]): InstrumentName | undefined {
  const [first, second] = named;
  const isAlone = ['solo', 'only', 'alone', 'unaccompanied'].some((word) => has(asked, word));
  return isAlone && second === undefined && first !== 'drums' ? first : undefined;
}

function canLeadAndAccompany(name: InstrumentName): boolean {
  const { roles } = instrumentOf(name);
  return roles.includes('lead') && roles.includes('chords');
}

function playAlone(name: InstrumentName): Players {
  return canLeadAndAccompany(name) ? { lead: name, chords: name } : { lead: name };
}
