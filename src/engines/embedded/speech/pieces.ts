/**
 * Cuts a text into what is spoken in one go: a sentence, or a part of a long one. Sound leaves after each piece,
 * so the first one decides when something is heard. Pure.
 */
import { abbreviations, onlyBeforeNames, onlyBeforeNumbers } from './abbreviations.ts';

/** What comes after a piece, and so how long the silence is. */
export type Ending = 'paragraph' | 'sentence' | 'clause' | 'none';

export interface Piece {
  readonly text: string;
  readonly ending: Ending;
}

/** Longer sentences are cut: a model speaks some 500 sounds at a time, and one of numbers has many. */
const longestPiece = 220;
/**
 * The first piece where somebody listens already. A model that takes a second for a second of speech, and makes
 * half a second of silence before every piece, has so much ready after about a second.
 */
const longestFirstPiece = 15;
const shortestFirstPiece = 4;

export function toPieces(text: string, { isEarly = false } = {}): Piece[] {
  const pieces: Piece[] = [];
  for (const paragraph of text.split(/\n\s*\n|\r\n\s*\r\n/)) {
    const sentences = toSentences(paragraph);
    for (const [index, sentence] of sentences.entries()) {
      const ending = index === sentences.length - 1 ? 'paragraph' : 'sentence';
      pieces.push(...cutLong(sentence, ending));
    }
  }
  const [first, ...rest] = pieces;
  if (first === undefined || !isEarly) return pieces;
  return [...cutEarly(first), ...rest];
}

/** Something that can be spoken: a letter, a digit, or a sign that has a name. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}&@%$€£¥+=°#]/u.test(text);
}

/** A line is a sentence too: lists and verses have no full stops. */
function toSentences(paragraph: string): string[] {
  return paragraph
    .split(/\r?\n/)
    .flatMap(toLineSentences)
    .map((sentence) => sentence.trim())
    .filter(isSpeakable);
}

function toLineSentences(line: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  // A mark, what closes around it, and then a space: "3.5", "a.m." and "example.com" have none.
  for (const match of line.matchAll(/[.!?…]+["'”’)\]]*(?=\s)|[。！？]["”』」]*/g)) {
    const end = match.index + match[0].length;
    const after = line.slice(end).trimStart();
    // `"Really?" she asked`: the sentence goes on behind the quotation.
    if (match[0].length > 1 && /["'”’)\]]$/.test(match[0]) && /^\p{Ll}/u.test(after)) continue;
    if (/^(?:\.\.|…)/.test(match[0]) && /^\p{Ll}/u.test(after)) continue;
    if (match[0] === '.' && isAbbreviation(line.slice(start, match.index), after)) continue;
    sentences.push(line.slice(start, end));
    start = end;
  }
  sentences.push(line.slice(start));
  return sentences;
}

function isAbbreviation(before: string, after: string): boolean {
  const [word = ''] = /[\p{L}\p{N}.]*$/u.exec(before) ?? [];
  const lower = word.toLowerCase();
  // "J. Smith", and "e.g. this": a sentence that goes on in lower case has not ended.
  if (/^\p{L}$/u.test(word)) return word !== 'I';
  if (/^\p{Ll}/u.test(after)) return true;
  // "The U.S. Army", but "at 5 p.m. Then".
  if (/^(?:\p{L}\.)+\p{L}$/u.test(word)) return !/^[ap]\.m$/i.test(word);
  if (abbreviations[lower] === undefined || lower === 'etc' || lower === 'inc' || lower === 'co')
    return false;
  if (onlyBeforeNumbers.has(lower)) return /^\d/.test(after);
  return onlyBeforeNames.has(lower) ? word !== lower && /^\p{Lu}/u.test(after) : true;
}

function cutLong(sentence: string, ending: Ending): Piece[] {
  const pieces: Piece[] = [];
  let rest = sentence;
  while (rest.length > longestPiece) {
    const cut = lastCut(rest, longestPiece);
    pieces.push({ text: rest.slice(0, cut.at).trim(), ending: cut.isClause ? 'clause' : 'none' });
    rest = rest.slice(cut.at).trim();
  }
  if (isSpeakable(rest)) pieces.push({ text: rest, ending });
  return pieces.filter(({ text }) => isSpeakable(text));
}

/** After a comma if there is one in the second half, otherwise between two words, otherwise anywhere. */
function lastCut(text: string, most: number): { at: number; isClause: boolean } {
  const head = text.slice(0, most + 1);
  let comma = -1;
  for (const match of head.matchAll(/[,;:—–](?=\s)/g)) comma = match.index + 1;
  if (comma > most / 3) return { at: comma, isClause: true };
  const space = head.lastIndexOf(' ');
  if (space > most / 3) return { at: space, isClause: false };
  // Not between the two halves of a character.
  const code = text.charCodeAt(most - 1);
  return { at: code >= 0xd800 && code < 0xdc00 ? most - 1 : most, isClause: false };
}

/** Words that lean on the next one: nobody pauses after them. */
const leaning =
  /(?:^|\s)(?:an?|the|and|or|but|of|to|in|on|at|by|for|from|with|as|is|are|was|were|be|my|your|his|her|its|our|their|this|that|these|those|not|no|very|will|would|can|could|i|you|he|she|it|we|they|mr|mrs|ms|dr)[.']?$/i;

function cutEarly(piece: Piece): Piece[] {
  const { text, ending } = piece;
  if (text.length <= longestFirstPiece + 6) return [piece];
  const isWhole = (at: number) => isSpeakable(text.slice(0, at)) && isSpeakable(text.slice(at));
  const comma = /[,;:—–](?=\s)/.exec(text);
  if (
    comma !== null &&
    comma.index >= shortestFirstPiece &&
    comma.index <= longestFirstPiece &&
    isWhole(comma.index + 1)
  )
    return [
      { text: text.slice(0, comma.index + 1), ending: 'clause' },
      { text: text.slice(comma.index + 1).trim(), ending },
    ];
  let at = -1;
  for (const { index } of text.matchAll(/(?<=\p{L}{2})\s+(?=[\p{L}\d])/gu)) {
    if (index > longestFirstPiece) break;
    if (index >= shortestFirstPiece && !leaning.test(text.slice(0, index))) at = index;
  }
  if (at < 0 || !isWhole(at)) return [piece];
  return [
    { text: text.slice(0, at), ending: 'none' },
    { text: text.slice(at).trim(), ending },
  ];
}
