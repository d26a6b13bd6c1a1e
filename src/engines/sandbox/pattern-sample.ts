/**
 * Makes up a text that matches a regular expression, for the expressions that schemas usually have: literals,
 * classes, groups, alternatives, quantifiers, anchors at the ends. Others (look-around, back references,
 * properties, anchors inside) are given up on. The text is never tried against the expression: a client's
 * expression can take exponential time to match, and to write it down takes linear time.
 */
import type { Random } from './seed.ts';

const attempts = 10;
const mostRepeats = 300;
/** How often `*` and `+` repeat at most beyond what they must. */
const usualRepeats = 4;

/** How many more characters may be written. `(a{999}){999}` is given up on, and so is the thousandth pattern. */
export interface Budget {
  atoms: number;
}

export function samplePattern(
  pattern: string,
  random: Random,
  { least, most }: { least: number; most: number },
  budget: Budget,
): string | undefined {
  const fits = (text: string) => text.length >= least && text.length <= most;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const text = new Walker(pattern, random, budget, (extra) => random.below(extra + 1)).run(usualRepeats);
    if (text === undefined || fits(text)) return text;
  }
  // Every open repetition a little longer each time, until the demanded length is met.
  for (let repeats = 0; repeats <= Math.min(least, mostRepeats); repeats++) {
    const text = new Walker(pattern, random, budget, (extra) => extra).run(repeats);
    if (text === undefined || fits(text)) return text;
  }
  return undefined;
}

const lower = 'abcdefghijklmnopqrstuvwxyz';
const digit = '0123456789';
const wordCharacters = `${lower}${lower.toUpperCase()}${digit}_`;
const printable = `${wordCharacters} -.,:;!?/+*()#@`;

/** Walks through the expression once and writes as it goes. Undefined parts end the walk. */
class Walker {
  readonly #pattern: string;
  readonly #random: Random;
  readonly #budget: Budget;
  readonly #chooseRepeats: (extra: number) => number;
  #mostExtra = 0;
  #at = 0;
  #depth = 0;
  #isLost = false;

  constructor(pattern: string, random: Random, budget: Budget, chooseRepeats: (extra: number) => number) {
    this.#budget = budget;
    this.#pattern = pattern;
    this.#random = random;
    this.#chooseRepeats = chooseRepeats;
  }

  /** No quantifier repeats more than `mostExtra` times beyond what it must. */
  run(mostExtra: number): string | undefined {
    this.#mostExtra = mostExtra;
    const text = this.#alternatives();
    return this.#isLost || this.#at < this.#pattern.length ? undefined : text;
  }

  #alternatives(): string {
    const choices = [this.#sequence()];
    while (this.#pattern[this.#at] === '|') {
      this.#at += 1;
      choices.push(this.#sequence());
    }
    return choices[this.#random.below(choices.length)] ?? '';
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.#pattern.length && !this.#isLost) {
      const next = this.#pattern[this.#at];
      if (next === '|' || next === ')') break;
      if (next === '^' || next === '$') this.#anchor(next, text === '');
      else text += this.#repeated();
    }
    return text;
  }

  /** Fits only where the whole text begins or ends. */
  #anchor(anchor: string, isAtStart: boolean): void {
    this.#at += 1;
    const after = this.#pattern[this.#at];
    const isAtEnd = after === undefined || after === '|';
    if (this.#depth > 0 || !(anchor === '^' ? isAtStart : isAtEnd)) this.#lose();
  }

  /** An atom as often as its quantifier says, made up anew each time. */
  #repeated(): string {
    const start = this.#at;
    const first = this.#atom();
    const [least, most] = this.#quantifier();
    const end = this.#at;
    const count = least + this.#chooseRepeats(Math.min(most - least, this.#mostExtra));
    if (count === 0) return '';
    let text = first;
    for (let round = 1; round < count && !this.#isLost; round++) {
      this.#at = start;
      text += this.#atom();
    }
    this.#at = end;
    return text;
  }

  #quantifier(): [number, number] {
    const match = /^(?:([*+?])|\{(\d+)(,)?(\d*)\})\??/.exec(this.#pattern.slice(this.#at));
    if (match === null) return [1, 1];
    const [whole, sign, least = '0', comma, most = ''] = match;
    this.#at += whole.length;
    if (sign === '*') return [0, Number.POSITIVE_INFINITY];
    if (sign === '+') return [1, Number.POSITIVE_INFINITY];
    if (sign === '?') return [0, 1];
    const from = Number(least);
    return [from, comma === undefined ? from : most === '' ? Number.POSITIVE_INFINITY : Number(most)];
  }

  #atom(): string {
    this.#budget.atoms -= 1;
    if (this.#budget.atoms < 0) return this.#lose();
    const next = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += next.length;
    if (next === '(') return this.#group();
    if (next === '[') return this.#pick(this.#class());
    if (next === '.') return this.#pick(lower);
    if (next === '\\') return this.#pick(this.#escape());
    return next;
  }

  #group(): string {
    const kind = /^\?(?::|<[A-Za-z]\w*>)/.exec(this.#pattern.slice(this.#at));
    if (kind !== null) this.#at += kind[0].length;
    else if (this.#pattern[this.#at] === '?') return this.#lose();
    this.#depth += 1;
    const text = this.#alternatives();
    this.#depth -= 1;
    if (this.#pattern[this.#at] !== ')') return this.#lose();
    this.#at += 1;
    return text;
  }

  #class(): string {
    const isNegated = this.#pattern[this.#at] === '^';
    if (isNegated) this.#at += 1;
    let characters = '';
    while (this.#pattern[this.#at] !== ']') {
      if (this.#at >= this.#pattern.length) return this.#lose();
      characters += this.#classMember();
    }
    this.#at += 1;
    if (!isNegated) return characters;
    return [...printable].filter((character) => !characters.includes(character)).join('');
  }

  #classMember(): string {
    const from = this.#classCharacter();
    if (this.#pattern[this.#at] !== '-' || this.#pattern[this.#at + 1] === ']') return from;
    this.#at += 1;
    const first = from.codePointAt(0) ?? 0;
    const last = this.#classCharacter().codePointAt(0) ?? 0;
    const count = Math.min(last - first + 1, 128);
    return Array.from({ length: count }, (_, step) => String.fromCodePoint(first + step)).join('');
  }

  #classCharacter(): string {
    const next = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += next.length;
    if (next !== '\\') return next;
    return /[DSW]/.test(this.#pattern[this.#at] ?? '') ? this.#lose() : this.#escape();
  }

  /** The characters that an escape stands for. */
  #escape(): string {
    const next = this.#pattern[this.#at] ?? '';
    this.#at += 1;
    switch (next) {
      case 'd':
        return digit;
      case 'w':
        return wordCharacters;
      case 's':
        return ' ';
      case 'D':
      case 'S':
        return lower;
      case 'W':
        return '-';
      case 't':
        return '\t';
      case 'n':
        return '\n';
      default:
        return /[A-Za-z0-9]/.test(next) ? this.#lose() : next;
    }
  }

  #pick(characters: string): string {
    const all = [...characters];
    return all[this.#random.below(all.length)] ?? this.#lose();
  }

  #lose(): string {
    this.#isLost = true;
    return '';
  }
}
