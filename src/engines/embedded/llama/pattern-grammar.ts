/** Regular expressions of JSON schemas (`pattern`) as grammars of what stands between the quotes of a JSON string. */
import { tooLarge } from './grammar-budget.ts';
import { GrammarError, shorten } from './grammar-error.ts';

type Range = readonly [from: number, to: number];

interface Part {
  readonly text: string;
  /** It may be nothing at all. */
  readonly isNullable: boolean;
  /** Places in a text where it can be at once, at most. */
  readonly places: number;
}

const classes: ReadonlyMap<string, readonly Range[]> = new Map([
  ['d', [[0x30, 0x39]]],
  ['w', [[0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a], [0x5f, 0x5f]]], // biome-ignore format: a table
  // The white space that needs no escape in a JSON string and that models write.
  ['s', [[0x20, 0x20]]],
]);
const otherSpaces: readonly Range[] = [
  [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f],
  [0x3000, 0x3000], [0xfeff, 0xfeff],
]; // biome-ignore format: a table
const quote = 0x22;
const backslash = 0x5c;
/** What a JSON string cannot hold as it is, and halves of characters, which are no text. */
const unsafe: readonly Range[] = [[0, 0x1f], [quote, quote], [backslash, backslash], [0xd800, 0xdfff]]; // biome-ignore format: a table
const any = outside([]);
/** The dot stands for all but the ends of lines. */
const dot = outside([[0x2028, 0x2029]]);

const longest = 4_096;
const deepest = 32;
const mostRepetitions = 1_000;
/** For every character llama.cpp goes from each place to all that can follow; 1,300 optional ones took 2 s. */
const mostPlaces = 2_000;
const mostOptional = 64;

export function toPatternGrammar(pattern: string): string {
  let at = 0;
  let depth = 0;
  let optional = 0;
  if (pattern.length > longest) throw new GrammarError(`pattern has more than ${longest} characters`);
  if (!isExpression(pattern)) throw new GrammarError(`pattern is no regular expression: ${shorten(pattern)}`);

  function alternatives(isTop: boolean): Part {
    const parts = [sequence(isTop)];
    while (pattern[at] === '|') {
      at += 1;
      parts.push(sequence(isTop));
    }
    return {
      text: [...new Set(parts.map(({ text }) => text))].join(' | '),
      isNullable: parts.some(({ isNullable }) => isNullable),
      places: parts.reduce((sum, { places }) => sum + places, 0),
    };
  }

  /** A pattern may match anywhere in the text unless it is tied to an end of it. */
  function sequence(isTop: boolean): Part {
    const parts: string[] = [];
    let isNullable = true;
    let isTied = false;
    let places = 1;
    if (isTop && pattern[at] === '^') at += 1;
    else if (isTop) parts.push(`${any}*`);
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
      if (isTop && pattern[at] === '$' && (at + 1 === pattern.length || pattern[at + 1] === '|')) {
        at += 1;
        isTied = true;
      } else {
        const part = repeated(atom());
        parts.push(part.text);
        isNullable &&= part.isNullable;
        places += part.places;
      }
    }
    if (isTop && !isTied) parts.push(`${any}*`);
    if (isNullable || isTop) optional += 1;
    return { text: parts.length === 0 ? '""' : parts.join(' '), isNullable, places };
  }

  function atom(): Part {
    const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    at += character.length;
    switch (character) {
      case '.':
        return one(dot);
      case '(': {
        depth += 1;
        if (depth > deepest) throw new GrammarError(`pattern is nested more than ${deepest} deep`);
        if (pattern.startsWith('?:', at)) at += 2;
        else if (pattern[at] === '?') throw unsupported(pattern);
        const inside = alternatives(false);
        if (pattern[at] !== ')') throw unsupported(pattern);
        at += 1;
        depth -= 1;
        return { ...inside, text: `(${inside.text})` };
      }
      case '[':
        return one(characterClass());
      case '\\':
        return one(escaped());
      case '^':
      case '$':
      case '*':
      case '+':
      case '?':
      case '{':
        throw unsupported(pattern);
      default:
        return one(toCharacter(character));
    }
  }

  function escaped(): string {
    const letter = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    at += letter.length;
    const named = classes.get(letter);
    if (named !== undefined) return inside(named);
    const excluded = classes.get(letter.toLowerCase());
    if (excluded !== undefined) return outside(letter === 'S' ? [...excluded, ...otherSpaces] : excluded);
    if (/[A-Za-z0-9]/.test(letter)) throw unsupported(pattern);
    return toCharacter(letter);
  }

  function characterClass(): string {
    const isNegated = pattern[at] === '^';
    if (isNegated) at += 1;
    const ranges: Range[] = [];
    while (pattern[at] !== ']') {
      const from = member();
      const isRange = pattern[at] === '-' && pattern[at + 1] !== ']';
      if (typeof from !== 'number') {
        if (isRange) throw unsupported(pattern);
        // A negated class shuts out all that the name stands for.
        ranges.push(...from.ranges, ...(isNegated && from.isSpace ? otherSpaces : []));
        continue;
      }
      if (isRange) at += 1;
      const to = isRange ? member() : from;
      if (typeof to !== 'number' || to < from) throw unsupported(pattern);
      ranges.push([from, to]);
    }
    at += 1;
    return isNegated ? outside(ranges) : inside(ranges);
  }

  function member(): number | { ranges: readonly Range[]; isSpace: boolean } {
    if (at >= pattern.length) throw unsupported(pattern);
    if (pattern[at] === '\\') {
      at += 1;
      const ranges = classes.get(pattern[at] ?? '');
      if (ranges !== undefined) {
        at += 1;
        return { ranges, isSpace: pattern[at - 1] === 's' };
      }
      if (/[A-Za-z0-9]/.test(pattern[at] ?? '0')) throw unsupported(pattern);
    }
    const code = pattern.codePointAt(at) ?? 0;
    at += String.fromCodePoint(code).length;
    return code;
  }

  function repeated(part: Part): Part {
    const found = /^(?:[*+?]|\{(\d{1,9})(?:,(\d{0,9}))?\})/.exec(pattern.slice(at, at + 24));
    if (found === null) return part;
    const [mark, low, high] = found;
    at += mark.length;
    // Lazy or greedy makes no difference to what fits.
    if (pattern[at] === '?') at += 1;
    const least = low === undefined ? (mark === '+' ? 1 : 0) : Number(low);
    const most = mark === '?' ? 1 : low !== undefined && high !== '' ? Number(high ?? low) : undefined;
    if (least > mostRepetitions || (most ?? 0) > mostRepetitions) {
      throw new GrammarError(`pattern repeats more than ${mostRepetitions} times: ${shorten(pattern)}`);
    }
    if (most !== undefined && least > most) throw unsupported(pattern);
    if (most === 0) return { text: '""', isNullable: true, places: 0 };
    if (least !== most) optional += 1;
    if (least === 1 && most === 1) return part;
    if (part.isNullable) {
      if (most === 1) return part;
      // Nothing, any number of times: a grammar would never get on from there.
      throw new GrammarError(`pattern repeats what may be empty: ${shorten(pattern)}`);
    }
    const places = part.places * Math.max(1, least, most ?? 0);
    if (places > mostPlaces) throw tooLarge(`its pattern ${shorten(pattern)} repeats too much`);
    const isSimple = mark.length === 1 || part.text.startsWith('(');
    // Braces copy what they repeat, a long class as often as they say: of a group they copy the name.
    return { text: `${isSimple ? part.text : `(${part.text})`}${mark}`, isNullable: least === 0, places };
  }

  /** Characters, as they stand in a JSON string. */
  function inside(ranges: readonly Range[]): string {
    const has = (code: number) => ranges.some(([from, to]) => from <= code && code <= to);
    const plain = ranges.flatMap(withoutUnsafe);
    const choices = [
      ...(plain.length === 0 ? [] : [`[${plain.map(toRange).join('')}]`]),
      ...(has(quote) ? [toCharacter('"')] : []),
      ...(has(backslash) ? [toCharacter('\\')] : []),
    ];
    if (choices.length === 0) throw unsupported(pattern);
    return choices.length === 1 ? choices.join('') : `(${choices.join(' | ')})`;
  }

  const grammar = alternatives(true);
  if (at < pattern.length) throw unsupported(pattern);
  if (grammar.places > mostPlaces || optional > mostOptional) {
    throw tooLarge(`its pattern ${shorten(pattern)} can be met in too many ways`);
  }
  return grammar.text;
}

function one(text: string): Part {
  return { text, isNullable: false, places: 1 };
}

/** All that a JSON string can hold as it is, but these. */
function outside(ranges: readonly Range[]): string {
  const all = [...ranges.flatMap(withoutUnsafe), ...unsafe.filter(([from]) => from < 0xd800)];
  return `[^${all.map(toRange).join('')}]`;
}

function withoutUnsafe(range: Range): Range[] {
  let left: Range[] = [range];
  for (const [low, high] of unsafe) {
    left = left.flatMap(([from, to]) => {
      if (to < low || from > high) return [[from, to] as const];
      return [[from, low - 1] as const, [high + 1, to] as const].filter(([a, b]) => a <= b);
    });
  }
  return left;
}

function toRange([from, to]: Range): string {
  return from === to ? toMember(from) : `${toMember(from)}-${toMember(to)}`;
}

function toMember(code: number): string {
  const character = String.fromCodePoint(code);
  if (code >= 0x80 || /[A-Za-z0-9]/.test(character)) return character;
  return `\\x${code.toString(16).padStart(2, '0').toUpperCase()}`;
}

/** As it stands in a JSON string, in a GBNF literal. */
function toCharacter(character: string): string {
  const inJson = JSON.stringify(character).slice(1, -1);
  return `"${inJson.replace(/["\\]/g, '\\$&')}"`;
}

function isExpression(pattern: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      return new RegExp(pattern, flags) !== undefined;
    } catch {
      return false;
    }
  });
}

function unsupported(pattern: string): GrammarError {
  return new GrammarError(`This model cannot be held to the pattern ${shorten(pattern)} in a JSON schema`);
}
