/** Numbers within bounds as grammars, digit by digit. */
import { GrammarError } from './grammar-error.ts';

type Bounds = Readonly<Record<string, unknown>>;

const noBound = Number.POSITIVE_INFINITY;
const fraction = '("." [0-9]{1,15})?';

export function integersBetween(bounds: Bounds): string {
  const least = Math.max(ceil(bounds['minimum'], -noBound), floor(bounds['exclusiveMinimum'], -noBound) + 1);
  const most = Math.min(floor(bounds['maximum'], noBound), ceil(bounds['exclusiveMaximum'], noBound) - 1);
  if (least === -noBound && most === noBound) return 'integer';
  if (least > most) throw empty();
  const parts: string[] = [];
  if (most >= 0) parts.push(digitsBetween(Math.max(0, least), most));
  if (least < 0) parts.push(`"-" (${digitsBetween(Math.max(1, -most), -least)})`);
  return parts.join(' | ');
}

/** Between bounds that are whole numbers; others are moved inwards to the next one. */
export function numbersBetween(bounds: Bounds): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = bounds;
  const least = Math.max(ceil(minimum, -noBound), ceil(exclusiveMinimum, -noBound));
  const most = Math.min(floor(maximum, noBound), floor(exclusiveMaximum, noBound));
  if (least === -noBound && most === noBound) return 'number';
  const isLeastOut = least === exclusiveMinimum;
  const isMostOut = most === exclusiveMaximum;
  if (least > most || (least === most && (isLeastOut || isMostOut))) throw empty();
  const parts: string[] = [];
  if (most > 0 || (most === 0 && !isMostOut)) {
    const isOut = isLeastOut && least >= 0;
    parts.push(magnitudes(Math.max(0, least), most, isOut, isMostOut));
  }
  if (least < 0) {
    const isOut = isMostOut && most <= 0;
    parts.push(`"-" (${magnitudes(Math.max(0, -most), -least, isOut, isLeastOut)})`);
  }
  return parts.join(' | ');
}

/** Numbers from 0 on, with or without a fraction. */
function magnitudes(least: number, most: number, isLeastOut: boolean, isMostOut: boolean): string {
  const parts: string[] = [];
  const from = isLeastOut ? least + 1 : least;
  // Strictly more than a whole number, and less than the next.
  if (isLeastOut && least < most) parts.push(`"${least}." [0-9]{0,14} [1-9]`);
  if (from < most) parts.push(`(${digitsBetween(from, most - 1)}) ${fraction}`);
  if (!isMostOut && most !== noBound) parts.push(`"${most}" ("." "0"{1,15})?`);
  return parts.join(' | ');
}

/** Whole numbers from 0 on, without leading zeros. */
export function digitsBetween(least: number, most: number): string {
  const low = String(least);
  if (most === noBound) {
    const longer = low.length >= 16 ? [] : [`[1-9] [0-9]{${low.length},16}`];
    const sameLength = digitsOf(low, '9'.repeat(low.length));
    return [sameLength, ...longer].join(' | ');
  }
  const parts: string[] = [];
  const high = String(most);
  for (let length = low.length; length <= high.length; length++) {
    const from = length === low.length ? low : `1${'0'.repeat(length - 1)}`;
    const to = length === high.length ? high : '9'.repeat(length);
    parts.push(digitsOf(from, to));
  }
  return parts.join(' | ');
}

/** Between two numbers of the same length. */
function digitsOf(from: string, to: string): string {
  if (from === to) return `"${from}"`;
  const [a = '0', b = '9'] = [from[0], to[0]];
  const [restA, restB] = [from.slice(1), to.slice(1)];
  if (a === b) return `"${a}" (${digitsOf(restA, restB)})`;
  const zeros = '0'.repeat(restA.length);
  const nines = '9'.repeat(restA.length);
  const any = restA === '' ? '' : ` [0-9]{${restA.length}}`;
  const isWholeA = restA === zeros;
  const isWholeB = restB === nines;
  const first = Number(a) + (isWholeA ? 0 : 1);
  const last = Number(b) - (isWholeB ? 0 : 1);
  const parts: string[] = [];
  if (!isWholeA) parts.push(`"${a}" (${digitsOf(restA, nines)})`);
  if (first <= last) parts.push(`[${first}-${last}]${any}`);
  if (!isWholeB) parts.push(`"${b}" (${digitsOf(zeros, restB)})`);
  return parts.join(' | ');
}

function ceil(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? Math.ceil(value) : otherwise;
}

function floor(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? Math.floor(value) : otherwise;
}

function empty(): GrammarError {
  return new GrammarError('The bounds of a number in a JSON schema leave no whole number between them');
}
