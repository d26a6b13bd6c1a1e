/**
 * From written-out words to sounds: the dictionary, what is not in it by its parts, the rest guessed. Keeps the
 * punctuation, which the model makes its pauses and its tune from.
 */
import type { GuessPhones } from './guess.ts';
import { type Accent, toSounds } from './sounds.ts';

export interface PronounceParts {
  /** ARPAbet by the word in capital letters. */
  readonly dictionary: Readonly<Record<string, readonly string[]>>;
  readonly guess: GuessPhones;
}

export type Pronounce = (text: string, accent: Accent) => string;

/** Where the dictionary has the rarer of two readings, or a word in isolation. */
const readings: Readonly<Record<string, string>> = {
  LIVE: 'L IH1 V',
  READ: 'R IY1 D',
  LEAD: 'L IY1 D',
  WIND: 'W IH1 N D',
  TEAR: 'T IH1 R',
  CLOSE: 'K L OW1 Z',
  USE: 'Y UW1 Z',
  EMAIL: 'IY1 M EY2 L',
  PRESENT: 'P R EH1 Z AH0 N T',
  RECORD: 'R EH1 K ER0 D',
  OBJECT: 'AA1 B JH EH0 K T',
  CONTENT: 'K AA1 N T EH0 N T',
  MINUTE: 'M IH1 N AH0 T',
  AN: 'AE0 N',
  MIZ: 'M IH1 Z',
  OUR: 'AW1 ER0',
};

const letterNames: Readonly<Record<string, string>> = {
  A: 'EY1',
  B: 'B IY1',
  C: 'S IY1',
  D: 'D IY1',
  E: 'IY1',
  F: 'EH1 F',
  G: 'JH IY1',
  H: 'EY1 CH',
  I: 'AY1',
  J: 'JH EY1',
  K: 'K EY1',
  L: 'EH1 L',
  M: 'EH1 M',
  N: 'EH1 N',
  O: 'OW1',
  P: 'P IY1',
  Q: 'K Y UW1',
  R: 'AA1 R',
  S: 'EH1 S',
  T: 'T IY1',
  U: 'Y UW1',
  V: 'V IY1',
  W: 'D AH1 B AH0 L Y UW2',
  X: 'EH1 K S',
  Y: 'W AY1',
  Z: 'Z IY1',
};

/** Without stress: a sentence in which they are stressed sounds like a list. */
const weak = new Set(
  (
    'an and as at but by for from if in into of on or than that the to with is are was were be been am has have ' +
    'had do does did will would can could shall should may might must he she it we they you me him her us them ' +
    'my your his its their a'
  ).split(' '),
);

/** In a text with small letters these are no words but letters. */
const spelled = new Set([
  'US',
  'IT',
  'AM',
  'PM',
  'OR',
  'ID',
  'AI',
  'PI',
  'PC',
  'TV',
  'IP',
  'OS',
  'UN',
  'EU',
  'DC',
  'AD',
  'MS',
  'ER',
]);

export function createPronounce({ dictionary, guess }: PronounceParts): Pronounce {
  const guessed = new Map<string, readonly string[]>();

  function lookUp(word: string): readonly string[] | undefined {
    const reading = readings[word];
    if (reading !== undefined) return reading.split(' ');
    return Object.hasOwn(dictionary, word) ? dictionary[word] : undefined;
  }

  /** By what it is made of, before it is guessed: "Roundhouse's", "rebuilding". */
  function derive(word: string): readonly string[] | undefined {
    const owner = /^(.+)'S?$/.exec(word)?.[1];
    if (owner !== undefined) {
      const phones = phonesOf(owner);
      return word.endsWith("'") && /S$/.test(owner) ? phones : [...phones, ...plural(phones)];
    }
    const stem = /^(.{3,})S$/.exec(word)?.[1];
    const single = stem === undefined || /[SXZ]$/.test(stem) ? undefined : lookUp(stem);
    if (single !== undefined) return [...single, ...plural(single)];
    return undefined;
  }

  function phonesOf(word: string): readonly string[] {
    const known = lookUp(word) ?? guessed.get(word) ?? derive(word);
    if (known !== undefined) return known;
    const phones = guess(word.toLowerCase().replace(/[^a-z']/g, ''));
    // A memo that a stream of invented words cannot fill.
    if (guessed.size > 5_000) guessed.clear();
    guessed.set(word, phones);
    return phones;
  }

  /** The last letter has the stress: "the F B I". */
  function spell(letters: string): string[] {
    return [...letters].flatMap((letter, index) => {
      const name = letterNames[letter] ?? '';
      return (index < letters.length - 1 ? name.replace('1', '2') : name).split(' ');
    });
  }

  function startsWithVowel(word: string, isShouted: boolean): boolean {
    const phones = isSpelled(word, isShouted) ? spell(word) : lookUp(word.toUpperCase());
    return phones === undefined ? /^[aeiou]/i.test(word) : /\d$/.test(phones[0] ?? '');
  }

  function isSpelled(word: string, isShouted: boolean): boolean {
    if (!/^[A-Z]{1,6}$/.test(word) || word === 'I') return false;
    if (word.length === 1) return word !== 'A' || isShouted;
    if (isShouted) return false;
    return spelled.has(word) || lookUp(word) === undefined;
  }

  return (text, accent) => {
    const words = text.normalize('NFD').replace(/\p{M}/gu, '');
    const isShouted = !/\p{Ll}/u.test(words);
    const parts = words.match(/[A-Za-z]+(?:'[A-Za-z]+)*'?|[;:,.!?—…"()“”]|\s+|[^A-Za-z\s]/gu) ?? [];
    let sounds = '';
    for (const [index, part] of parts.entries()) {
      if (!/^[A-Za-z]/.test(part)) {
        sounds += /^[;:,.!?—…"()“”]$/.test(part) ? part : ' ';
        continue;
      }
      if (isSpelled(part, isShouted)) {
        sounds += toSounds(spell(part), accent);
        continue;
      }
      const plain = part.replace(/'$/, (end) => (/s'$/i.test(part) ? end : ''));
      const next = nextWord(parts, index);
      sounds += toWord(plain, next === undefined ? undefined : startsWithVowel(next, isShouted), accent);
    }
    return sounds.replace(/ +/g, ' ').trim();
  };

  /** `isBeforeVowel` is undefined where no word follows. */
  function toWord(word: string, isBeforeVowel: boolean | undefined, accent: Accent): string {
    const lower = word.toLowerCase();
    if (lower === 'a') return 'ɐ';
    if (lower === 'the') return isBeforeVowel === true ? 'ði' : 'ðə';
    if (lower === 'to' && isBeforeVowel !== undefined) return isBeforeVowel ? 'tu' : 'tə';
    if (lower === 'i') return 'ˌI';
    const sounds = toSounds(phonesOf(word.toUpperCase()), accent);
    return weak.has(lower) ? sounds.replace(/[ˈˌ]/g, '') : sounds;
  }
}

function nextWord(parts: readonly string[], index: number): string | undefined {
  const next = parts[index + 2];
  return parts[index + 1]?.trim() === '' && next !== undefined && /^[A-Za-z]/.test(next) ? next : undefined;
}

function plural(phones: readonly string[]): readonly string[] {
  const last = phones.at(-1) ?? '';
  if (/^(?:S|Z|SH|ZH|CH|JH)$/.test(last)) return ['AH0', 'Z'];
  return /^(?:P|T|K|F|TH)$/.test(last) ? ['S'] : ['Z'];
}
