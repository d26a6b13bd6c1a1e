/** Regular expressions of JSON schemas (`pattern`) as grammars of what stands between the quotes of a JSON string. */
import { GrammarError } from './grammar-error.ts';

const classes: Readonly<Record<string, string>> = { d: '0-9', w: '0-9A-Za-z_', s: ' ' };
/** What a JSON string cannot hold as it is. */
const unsafe = String.raw`"\\\x00-\x1F`;
const any = `[^${unsafe}]`;

export function toPatternGrammar(pattern: string): string {
  let at = 0;

  function alternatives(isTop: boolean): string {
    const parts = [sequence(isTop)];
    while (pattern[at] === '|') {
      at += 1;
      parts.push(sequence(isTop));
    }
    return parts.join(' | ');
  }

  /** A pattern may match anywhere in the text unless it is tied to an end of it. */
  function sequence(isTop: boolean): string {
    const parts: string[] = [];
    let isTied = false;
    if (isTop && pattern[at] === '^') at += 1;
    else if (isTop) parts.push(`${any}*`);
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
      if (isTop && pattern[at] === '$' && (at + 1 === pattern.length || pattern[at + 1] === '|')) {
        at += 1;
        isTied = true;
      } else parts.push(atom() + quantifier());
    }
    if (isTop && !isTied) parts.push(`${any}*`);
    return parts.length === 0 ? '""' : parts.join(' ');
  }

  function atom(): string {
    const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    at += character.length;
    switch (character) {
      case '.':
        return any;
      case '(': {
        if (pattern.startsWith('?:', at)) at += 2;
        else if (pattern[at] === '?') throw unsupported(pattern);
        const inside = alternatives(false);
        if (pattern[at] !== ')') throw unsupported(pattern);
        at += 1;
        return `(${inside})`;
      }
      case '[':
        return characterClass();
      case '\\':
        return escaped();
      case '^':
      case '$':
      case '*':
      case '+':
      case '?':
      case '{':
        throw unsupported(pattern);
      default:
        return toCharacter(character);
    }
  }

  function escaped(): string {
    const letter = pattern[at] ?? '';
    at += 1;
    const inside = classes[letter];
    if (inside !== undefined) return `[${inside}]`;
    const outside = classes[letter.toLowerCase()];
    if (outside !== undefined) return `[^${outside}${unsafe}]`;
    if (/[A-Za-z0-9]/.test(letter)) throw unsupported(pattern);
    return toCharacter(letter);
  }

  function characterClass(): string {
    const isNegated = pattern[at] === '^';
    if (isNegated) at += 1;
    let inside = '';
    while (pattern[at] !== ']') {
      if (at >= pattern.length) throw unsupported(pattern);
      if (pattern[at] === '\\') {
        const letter = pattern[at + 1] ?? '';
        const named = classes[letter];
        if (named === undefined && /[A-Za-z0-9]/.test(letter)) throw unsupported(pattern);
        inside += named ?? toMember(letter, isNegated);
        at += 2;
      } else {
        const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
        const isRange = character === '-' && inside !== '' && pattern[at + 1] !== ']';
        inside += isRange ? '-' : toMember(character, isNegated);
        at += character.length;
      }
    }
    at += 1;
    return isNegated ? `[^${inside}${unsafe}]` : `[${inside}]`;
  }

  function toMember(character: string, isNegated: boolean): string {
    // Inside a JSON string these two are two characters each.
    if (!isNegated && (character === '"' || character === '\\')) throw unsupported(pattern);
    return /[\]\\^"-]/.test(character) ? (character === '-' ? '\\x2D' : toHex(character)) : character;
  }

  function quantifier(): string {
    const found = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})/.exec(pattern.slice(at));
    if (found === null) return '';
    at += found[0].length;
    // Lazy or greedy makes no difference to what fits.
    if (pattern[at] === '?') at += 1;
    if (Number(found[1] ?? 0) > 1_000 || Number(found[2] ?? 0) > 1_000) throw unsupported(pattern);
    return found[0];
  }

  const grammar = alternatives(true);
  if (at < pattern.length) throw unsupported(pattern);
  return grammar;
}

/** As it stands in a JSON string, in a GBNF literal. */
function toCharacter(character: string): string {
  const inJson = JSON.stringify(character).slice(1, -1);
  return `"${inJson.replace(/["\\]/g, '\\$&')}"`;
}

function toHex(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`;
}

function unsupported(pattern: string): GrammarError {
  return new GrammarError(`This model cannot be held to the pattern ${pattern} in a JSON schema`);
}
