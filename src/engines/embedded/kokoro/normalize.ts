/**
 * Writes out what a text leaves to the reader: numbers, dates, times, money, units, abbreviations, signs. What
 * comes out has words and punctuation only. English as it is read in America. Pure.
 */
import { abbreviations, onlyBeforeNames, onlyBeforeNumbers } from '../speech/abbreviations.ts';
import { toCardinal, toDecimal, toDigits, toOrdinal, toPlural, toYear } from './number-words.ts';

type Rule = readonly [RegExp, string | ((...groups: string[]) => string)];

const months = 'January February March April May June July August September October November December'.split(
  ' ',
);
const monthNames = months.join('|');

const currencies: Readonly<
  Record<string, readonly [one: string, many: string, cent: string, cents: string]>
> = {
  $: ['dollar', 'dollars', 'cent', 'cents'],
  '£': ['pound', 'pounds', 'penny', 'pence'],
  '€': ['euro', 'euros', 'cent', 'cents'],
  '¥': ['yen', 'yen', 'sen', 'sen'],
};

const units: Readonly<Record<string, string>> = {
  km: 'kilometer',
  m: 'meter',
  cm: 'centimeter',
  mm: 'millimeter',
  mi: 'mile',
  ft: 'foot',
  kg: 'kilogram',
  g: 'gram',
  mg: 'milligram',
  lb: 'pound',
  lbs: 'pound',
  oz: 'ounce',
  l: 'liter',
  L: 'liter',
  ml: 'milliliter',
  mL: 'milliliter',
  kHz: 'kilohertz',
  Hz: 'hertz',
  MHz: 'megahertz',
  GHz: 'gigahertz',
  KB: 'kilobyte',
  kB: 'kilobyte',
  MB: 'megabyte',
  GB: 'gigabyte',
  TB: 'terabyte',
  ms: 'millisecond',
  kW: 'kilowatt',
  W: 'watt',
  V: 'volt',
  'km/h': 'kilometer per hour',
  mph: 'mile per hour',
};
const unitNames = Object.keys(units)
  .sort((a, b) => b.length - a.length)
  .join('|');

/** A number as it is written: thousands apart, decimals. */
const number = String.raw`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+`;

function say(text: string): string {
  const plain = text.replaceAll(',', '');
  return plain.includes('.') ? toDecimal(plain) : toCardinal(plain);
}

function isOne(text: string): boolean {
  return text === '1';
}

function toUnit(value: string, unit: string): string {
  const name = units[unit] as string;
  if (isOne(value) || name.endsWith('hertz')) return name;
  if (name === 'foot') return 'feet';
  const [head = '', ...rest] = name.split(' ');
  return [`${head}s`, ...rest].join(' ');
}

function toMoney(sign: string, value: string, scale = ''): string {
  const names = currencies[sign];
  if (names === undefined) return value;
  const [one, many, cent, cents] = names;
  const plain = value.replaceAll(',', '');
  if (scale !== '') return `${say(plain)} ${scale} ${many}`;
  const [whole = '0', small = ''] = plain.split('.');
  if (small === '') return `${toCardinal(whole)} ${isOne(whole) ? one : many}`;
  if (small.length > 2) return `${toDecimal(plain)} ${many}`;
  const hundredths = Number(small.padEnd(2, '0'));
  const smallWords = `${toCardinal(String(hundredths))} ${hundredths === 1 ? cent : cents}`;
  if (Number(whole) === 0) return hundredths === 0 ? `zero ${many}` : smallWords;
  const wholeWords = `${toCardinal(whole)} ${isOne(whole) ? one : many}`;
  return hundredths === 0 ? wholeWords : `${wholeWords} and ${smallWords}`;
}

function toTime(hours: string, minutes: string, half = ''): string {
  const letters = half === '' ? '' : ` ${half[0]?.toUpperCase()} M`;
  const hour = toCardinal(String(Number(hours)));
  if (minutes === '00') return letters === '' ? `${hour} o'clock` : `${hour}${letters}`;
  const minute = minutes.startsWith('0') ? `oh ${toCardinal(minutes.slice(1))}` : toCardinal(minutes);
  return `${hour} ${minute}${letters}`;
}

function toDate(year: string, month: string, day: string): string | undefined {
  const name = months[Number(month) - 1];
  if (name === undefined || Number(day) < 1 || Number(day) > 31) return undefined;
  return `${name} ${toOrdinal(String(Number(day)))}, ${toYear(year)}`;
}

const fractions: Readonly<Record<string, string>> = {
  '½': 'one half',
  '¼': 'one quarter',
  '¾': 'three quarters',
  '⅓': 'one third',
  '⅔': 'two thirds',
};

function toFraction(above: string, below: string): string {
  const isOneAbove = isOne(above);
  const part =
    below === '2' ? (isOneAbove ? 'half' : 'halves') : below === '4' ? 'quarter' : toOrdinal(below);
  return `${toCardinal(above)} ${isOneAbove || below === '2' ? part : `${part}s`}`;
}

function toAddressWords(address: string): string {
  return address
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '')
    .replace(/@/g, ' at ')
    .replace(/\./g, ' dot ')
    .replace(/\//g, ' slash ')
    .replace(/[-_]/g, ' ')
    .replace(/[^\p{L}\p{N} ]+/gu, ' ');
}

/** In this order: what has a fixed form before the plain numbers in it. */
const rules: readonly Rule[] = [
  [/[‘’ʼ]/g, "'"],
  [/[«»„]/g, '"'],
  [/\p{Extended_Pictographic}|\u200d|\ufe0f/gu, ' '],
  [/[*_`~^|\\]+/g, ' '],
  [
    /https?:\/\/\S+[\p{L}\p{N}/]|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b|\b(?:www\.)?[\w-]+(?:\.[a-z][\w-]*)*\.(?:com|org|net|io|dev|ai|edu|gov|co|uk|de)\b(?:\/[\w/-]*)?/giu,
    toAddressWords,
  ],
  [/[½¼¾⅓⅔]/g, (sign) => ` ${fractions[sign]} `],
  // Money, with its scale.
  [
    new RegExp(`([$£€¥])\\s?(${number})(?:\\s?(thousand|million|billion|trillion)\\b|([kKMB])\\b)?`, 'g'),
    (_, sign = '', value = '', scale = '', letter = '') =>
      toMoney(
        sign,
        value,
        scale || ({ k: 'thousand', K: 'thousand', M: 'million', B: 'billion' }[letter] ?? ''),
      ),
  ],
  // Times and dates.
  [
    /\b(\d{1,2}):([0-5]\d)(?::[0-5]\d)?\s?([ap])\.?m\b\.?/gi,
    (_, hours = '', minutes = '', half) => toTime(hours, minutes, half),
  ],
  [/\b([01]?\d|2[0-3]):([0-5]\d)\b(?!:)/g, (_, hours = '', minutes = '') => toTime(hours, minutes)],
  [/\b(\d{1,2})\s?([ap])\.?m\b\.?/gi, (_, hours = '', half) => toTime(hours, '00', half)],
  [/\b(\d{4})-(\d{2})-(\d{2})\b/g, (all, year = '', month = '', day = '') => toDate(year, month, day) ?? all],
  [
    /\b(\d{1,2})\/(\d{1,2})\/(\d{4})\b/g,
    (all, month = '', day = '', year = '') => toDate(year, month, day) ?? all,
  ],
  [
    new RegExp(`\\b(${monthNames})\\s+(\\d{1,2})(?:st|nd|rd|th)?(?:(,)?\\s+(\\d{4}))?\\b(?![:.]\\d)`, 'g'),
    (_, month = '', day = '', _comma, year) =>
      `${month} ${toOrdinal(day)}${year === undefined ? '' : `, ${toYear(year)}`}`,
  ],
  [
    /\b(\d{4}|\d{2})s\b/g,
    (_, digits = '') => toPlural(digits.length === 4 ? toYear(digits) : toCardinal(digits)),
  ],
  [/'(\d0)s\b/g, (_, digits = '') => toPlural(toCardinal(digits))],
  // Phone numbers, versions, ranges, fractions.
  [
    /(?:\+?\b\d{1,3}[-. ])?\(?\b\d{3}\)?[-. ]\d{3}[-. ]\d{4}\b/g,
    (all) => all.split(/\D+/).filter(Boolean).map(toDigits).join(', '),
  ],
  [/\bv?(\d+(?:\.\d+){2,})\b/g, (_, version = '') => version.split('.').map(toCardinal).join(' point ')],
  [/(\d)\s?[-–]\s?(?=\d)/g, '$1 to '],
  [/\b(\d{1,2})\/(\d{1,3})\b/g, (_, above = '', below = '') => toFraction(above, below)],
  // Units and signs beside a number.
  [
    new RegExp(`(${number})\\s?°\\s?([CF])?\\b`, 'g'),
    (_, value = '', scale = '') =>
      `${say(value)} degree${isOne(value) ? '' : 's'}${{ C: ' Celsius', F: ' Fahrenheit' }[scale] ?? ''}`,
  ],
  [new RegExp(`(${number})\\s?°`, 'g'), (_, value = '') => `${say(value)} degrees`],
  [new RegExp(`(${number})\\s?%`, 'g'), (_, value = '') => `${say(value)} percent`],
  [
    new RegExp(`(?<![\\w.])(${number})\\s?(${unitNames})(?![\\p{L}\\p{N}/])`, 'gu'),
    (_, value = '', unit = '') => `${say(value)} ${toUnit(value, unit)}`,
  ],
  [/#(?=\d)/g, 'number '],
  [/(?<=^|[\s(])[-−](?=\d)/g, 'minus '],
  [/\b(\d+)(?:st|nd|rd|th)\b/gi, (_, digits = '') => toOrdinal(digits)],
  // A number of four digits alone is a year.
  [/(?<![\d.,])\b(1[1-9]\d\d|20\d\d)\b(?![\d,]*\d|\.\d)/g, (_, digits = '') => toYear(digits)],
  [/(?<=\p{L})(?=\d)|(?<=\d)(?=\p{L})/gu, ' '],
  [new RegExp(number, 'g'), (value) => ` ${say(value)} `],
  // Signs.
  [/&/g, ' and '],
  [/\+/g, ' plus '],
  [/=/g, ' equals '],
  [/@/g, ' at '],
  [/%/g, ' percent '],
  [/#/g, ' number '],
  [/°/g, ' degrees '],
  [/[$£€¥]/g, (sign) => ` ${currencies[sign]?.[0]} `],
  [/\be\.g\.,?/gi, 'for example,'],
  [/\bi\.e\.,?/gi, 'that is,'],
  [/\bw\/o\b/g, 'without'],
  [/(?<=\p{L})\/(?=\p{L})/gu, ' or '],
  // "U.S.A." as letters.
  [/\b(?:\p{L}\.){2,}/gu, (letters) => ` ${letters.replaceAll('.', ' ').trim().toUpperCase()} `],
  // Punctuation that makes a pause.
  [/\.{2,}/g, '…'],
  [/\s+[-–—]+\s+|—|--+/g, ' — '],
  [/[–−]/g, ' '],
  [/[{[]/g, '('],
  [/[}\]]/g, ')'],
  [/[<>]/g, ' '],
  [/[。]/g, '. '],
  [/[，、]/g, ', '],
];

export function normalizeText(text: string): string {
  let result = expandAbbreviations(text.normalize('NFC'));
  for (const [pattern, replacement] of rules) {
    result =
      typeof replacement === 'string'
        ? result.replace(pattern, replacement)
        : result.replace(pattern, (...found) => replacement(...(found as string[])));
  }
  return result
    .replace(/\s+/g, ' ')
    .replace(/\s+(?=[,.;:!?…)])/g, '')
    .trim();
}

function expandAbbreviations(text: string): string {
  // "Main St." is a street, "St. Paul" is a saint.
  const streets = text.replace(/(?<=\p{Lu}\p{Ll}+ )St\.(?!\s+\p{Lu}\p{Ll})/gu, 'street');
  return streets.replace(
    /\b(\p{L}+)\.(?=(\s+)(\S?)|$|[,;:])/gu,
    (all: string, word: string, _, next = '') => {
      const lower = word.toLowerCase();
      const reading = abbreviations[lower];
      if (reading === undefined) return all;
      if (onlyBeforeNumbers.has(lower)) return /\d/.test(next) ? reading : all;
      if (onlyBeforeNames.has(lower)) return word !== lower && /\p{Lu}/u.test(next) ? reading : all;
      // At the end of a sentence its full stop is that of the sentence too.
      return next === '' ? `${reading}.` : reading;
    },
  );
}
