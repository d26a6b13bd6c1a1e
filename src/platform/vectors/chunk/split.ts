/**
 * Cuts a text that is too long: prose between sentences, code and rows between lines, and where one of these is too
 * long itself, between words, at last inside of a word. The parts put together are the text. Pure.
 */
import { weightOf, weightOfUnit } from './weigh.ts';

export type Form = 'prose' | 'code' | 'rows';

/** A sentence with the white space behind it. A stop ends one only before white space: `3.14`, `node.js`. */
const sentences = /.*?(?:[.!?…]["'”’)\]]*\s+|[。！？]\s*|\n+|$)/gsy;
const lines = /[^\n]*(?:\n+|$)/gy;
const words = /\S*\s*/gy;

/** Parts of at most `room`, the first one of at most `firstRoom`. */
export function splitText(text: string, form: Form, room: number, firstRoom = room): string[] {
  const parts: string[] = [];
  let part = '';
  let weight = 0;
  let limit = firstRoom;
  for (const unit of unitsOf(text, form, Math.min(room, firstRoom))) {
    const unitWeight = weightOf(unit);
    if (part !== '' && weight + unitWeight > limit) {
      parts.push(part);
      limit = room;
      part = '';
      weight = 0;
    }
    part += unit;
    weight += unitWeight;
  }
  if (part !== '') parts.push(part);
  return parts;
}

/** The last sentences of a text, at most `room` of them; none when even the last is longer. */
export function lastSentences(text: string, room: number): string {
  // What is further from the end than this cannot weigh so little.
  const near = text.slice(-(room + 1));
  const isWhole = near.length === text.length;
  const found = near.match(sentences) ?? [];
  let tail = '';
  let weight = 0;
  for (let index = found.length - 1; index >= (isWhole ? 0 : 1); index--) {
    const sentence = found[index] as string;
    weight += weightOf(sentence);
    if (weight > room) break;
    tail = sentence + tail;
  }
  return tail.trim();
}

function* unitsOf(text: string, form: Form, room: number): Generator<string> {
  for (const unit of matches(text, form === 'prose' ? sentences : lines)) {
    if (weightOf(unit) <= room) yield unit;
    else for (const word of matches(unit, words)) yield* cutWord(word, room);
  }
}

function* matches(text: string, pattern: RegExp): Generator<string> {
  for (const [unit] of text.matchAll(pattern)) {
    // Only the end matches nothing.
    if (unit === '') return;
    yield unit;
  }
}

function* cutWord(word: string, room: number): Generator<string> {
  let start = 0;
  let weight = 0;
  for (let at = 0; at < word.length; at++) {
    const unit = word.charCodeAt(at);
    weight += weightOfUnit(unit);
    // Not between the two halves of a character.
    const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff;
    if (weight <= room || at === start || isSecondHalf) continue;
    yield word.slice(start, at);
    start = at;
    weight = weightOfUnit(unit);
  }
  yield word.slice(start);
}
