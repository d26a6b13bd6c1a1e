/** Words to be sung, as lines of syllables, and which section they belong to. */
import type { SectionKind } from './types.ts';

export interface Verse {
  /** From a tag such as `[Chorus]`; undefined where there is none. */
  readonly kind: SectionKind | undefined;
  readonly lines: readonly (readonly string[])[];
}

const tag = /^\s*[[(]\s*([\p{L} -]+?)\s*\d*\s*[\])]\s*:?\s*$/u;

const kindWords: Readonly<Record<string, SectionKind>> = {
  verse: 'verse',
  strophe: 'verse',
  chorus: 'chorus',
  refrain: 'chorus',
  hook: 'chorus',
  bridge: 'bridge',
  'pre-chorus': 'verse',
};

/** Tags that nobody sings, such as `[Solo]`, begin a verse without a kind. */
export function parseLyrics(text: string): Verse[] {
  const verses: { kind: SectionKind | undefined; lines: string[][] }[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, name] = tag.exec(line) ?? [];
    if (name !== undefined) {
      verses.push({ kind: kindWords[name.toLowerCase()], lines: [] });
      continue;
    }
    const syllables = toSyllables(line);
    if (syllables.length === 0) continue;
    if (verses.length === 0) verses.push({ kind: undefined, lines: [] });
    for (const part of splitLong(syllables)) verses.at(-1)?.lines.push(part);
  }
  return verses.filter(({ lines }) => lines.length > 0);
}

/** What is sung in one breath. */
const longestLine = 20;

function splitLong(syllables: readonly string[]): string[][] {
  const parts = Math.ceil(syllables.length / longestLine);
  const size = Math.ceil(syllables.length / parts);
  return Array.from({ length: parts }, (_, part) => syllables.slice(part * size, (part + 1) * size));
}

const vowels = /[aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýÿ]+/giu;
/** Each of them is a syllable by itself. */
const wholeScripts = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u;

export function toSyllables(line: string): string[] {
  return (line.match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? []).flatMap(splitWord);
}

/** By its groups of vowels: near enough to sing it. */
function splitWord(word: string): string[] {
  if (wholeScripts.test(word)) return [...word];
  const groups = [...word.matchAll(vowels)];
  // An `e` at the end is not heard in most words.
  const last = groups.at(-1);
  const isSilent =
    groups.length > 1 &&
    last?.[0].toLowerCase() === 'e' &&
    last.index === word.length - 1 &&
    !/le$/i.test(word);
  const sounding = isSilent ? groups.slice(0, -1) : groups;
  if (sounding.length < 2) return [word];
  const cuts = sounding.slice(1).map((group, index) => {
    const end = (sounding[index]?.index ?? 0) + (sounding[index]?.[0].length ?? 0);
    const between = group.index - end;
    return end + Math.floor(between / 2);
  });
  return [0, ...cuts].map((from, index) => word.slice(from, cuts[index] ?? word.length));
}

/** Hands out lines to sections as they come: a chorus comes back with the same words. */
export function createSongbook(
  verses: readonly Verse[],
): (kind: SectionKind, count: number) => readonly (readonly string[])[] {
  const hasTags = verses.some(({ kind }) => kind !== undefined);
  const queues = new Map<SectionKind | undefined, { lines: (readonly string[])[]; at: number }>();
  for (const { kind, lines } of verses) {
    const name = hasTags ? (kind ?? 'verse') : undefined;
    const queue = queues.get(name) ?? { lines: [], at: 0 };
    // A chorus that is written out again is the same chorus.
    if (name !== 'chorus' || queue.lines.length === 0) queue.lines.push(...lines);
    queues.set(name, queue);
  }
  return (kind, count) => {
    const queue = hasTags
      ? (queues.get(kind) ?? queues.get('verse') ?? queues.get('chorus'))
      : queues.get(undefined);
    if (queue === undefined) return [];
    if (kind === 'chorus' && hasTags) queue.at = 0;
    return Array.from({ length: count }, () => queue.lines[queue.at++ % queue.lines.length] ?? []);
  };
}
