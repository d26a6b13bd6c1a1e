/** Numbers within bounds as grammars, digit by digit. */
import { GrammarError } from './grammar-error.ts';

type Bounds = Readonly<Record<string, unknown>>;

const noBound = Number.POSITIVE_INFINITY;
const fraction = '("." [0-9]{1,15})?';

/** Digits after the point that bounds may have; numbers have up to 15. */
const mostDecimals = 12;

export function integersBetween(bounds: Bounds): string {
  const least = Math.max(ceil(bounds['minimum'], -noBound), floor(bounds['exclusiveMinimum'], -noBound) + 1);
  const most = Math.min(floor(bounds['maximum'], noBound), ceil(bounds['exclusiveMaximum'], noBound) - 1);
  if (least === -noBound && most === noBound) return 'integer';
  if (least > most) throw empty(bounds);
  const parts: string[] = [];
  if (most >= 0) parts.push(digitsBetween(Math.max(0, least), most));
  if (least < 0) parts.push(`"-" (${digitsBetween(Math.max(1, -most), -least)})`);
  return parts.join(' | ');
}

export function numbersBetween(bounds: Bounds): string {
  const minimum = toBound(bounds['minimum'], -noBound);
  const maximum = toBound(bounds['maximum'], noBound);
  const exclusiveMinimum = toBound(bounds['exclusiveMinimum'], -noBound);
  const exclusiveMaximum = toBound(bounds['exclusiveMaximum'], noBound);
  const least = Math.max(minimum, exclusiveMinimum);
  const most = Math.min(maximum, exclusiveMaximum);
  if (least === -noBound && most === noBound) return 'number';
  const isLeastOut = exclusiveMinimum >= minimum && exclusiveMinimum !== -noBound;
  const isMostOut = exclusiveMaximum <= maximum && exclusiveMaximum !== noBound;
  if (least > most || (least === most && (isLeastOut || isMostOut))) throw empty(bounds);
  const between = Number.isInteger(finite(least)) && Number.isInteger(finite(most)) ? magnitudes : decimals;
  const parts: string[] = [];
  if (most > 0 || (most === 0 && !isMostOut)) {
    const isOut = isLeastOut && least >= 0;
    parts.push(between(Math.max(0, least), most, isOut, isMostOut));
  }
  if (least < 0) {
    const isOut = isMostOut && most <= 0;
    parts.push(`"-" (${between(Math.max(0, -most), -least, isOut, isLeastOut)})`);
  }
  return parts.join(' | ');
}

/** Numbers from 0 on between bounds with fractions: those whose whole part is a bound's have as many decimals. */
function decimals(least: number, most: number, isLeastOut: boolean, isMostOut: boolean): string {
  const places = Math.max(...[least, most].map((each) => (each === noBound ? 0 : toPlaces(each))), 1);
  const more = 15 - places;
  const [low, lowPart] = split(least, places);
  const [high, highPart] = most === noBound ? [noBound, 0] : split(most, places);
  const pad = (part: number) => String(part).padStart(places, '0');
  const parts: string[] = [];

  /** With this whole part, and a fraction from one to the other; without a `to`, up to the next whole number. */
  const fractions = (whole: number, from: number, isFromOut: boolean, to?: number) => {
    const options: string[] = [];
    const first = isFromOut ? from + 1 : from;
    const last = (to ?? 10 ** places) - 1;
    if (isFromOut && from <= last) options.push(`"${pad(from)}" [0-9]{0,${more - 1}} [1-9]`);
    if (first <= last) options.push(`(${digitsOf(pad(first), pad(last))}) [0-9]{0,${more}}`);
    if (to !== undefined && !isMostOut && to >= first) options.push(`"${pad(to)}" "0"{0,${more}}`);
    if (options.length > 0) parts.push(`"${whole}." (${options.join(' | ')})`);
  };

  if (lowPart === 0 && !isLeastOut) parts.push(`"${low}"`);
  if (low === high) fractions(low, lowPart, isLeastOut, highPart);
  else {
    fractions(low, lowPart, isLeastOut);
    if (low + 1 < high) {
      const last = high === noBound ? noBound : high - 1;
      parts.push(`(${digitsBetween(low + 1, last)}) ${fraction}`);
    }
    if (high !== noBound && (highPart > 0 || !isMostOut)) {
      parts.push(`"${high}"`);
      fractions(high, 0, false, highPart);
    }
  }
  return parts.join(' | ');
}

/** How many decimals a number is written with. */
function toPlaces(value: number): number {
  const text = String(value);
  const places = text.split('.')[1]?.length ?? 0;
  if (text.includes('e') || places > mostDecimals) {
    throw new GrammarError(`The bounds of a number in a JSON schema have at most ${mostDecimals} decimals`);
  }
  return places;
}

function split(value: number, places: number): [whole: number, part: number] {
  const [whole = '0', part = ''] = String(value).split('.');
  return [Number(whole), Number(part.padEnd(places, '0'))];
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

function toBound(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function empty(bounds: Bounds): GrammarError {
  const named = ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'].filter(
    (key) => bounds[key] !== undefined,
  );
  return new GrammarError(`The bounds ${named.join(' and ')} in a JSON schema leave no number between them`);
}
