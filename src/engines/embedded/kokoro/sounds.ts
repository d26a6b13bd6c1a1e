/**
 * ARPAbet, which the dictionary is written in, as the symbols that Kokoro was trained on (those of the misaki
 * phonemizer: diphthongs are one capital letter, stress stands before the vowel), in American and British. Pure.
 */
export type Accent = 'american' | 'british';

const consonants: Readonly<Record<string, string>> = {
  B: 'b',
  CH: 'ʧ',
  D: 'd',
  DH: 'ð',
  F: 'f',
  G: 'ɡ',
  HH: 'h',
  JH: 'ʤ',
  K: 'k',
  L: 'l',
  M: 'm',
  N: 'n',
  NG: 'ŋ',
  P: 'p',
  R: 'ɹ',
  S: 's',
  SH: 'ʃ',
  T: 't',
  TH: 'θ',
  V: 'v',
  W: 'w',
  Y: 'j',
  Z: 'z',
  ZH: 'ʒ',
};

const american: Readonly<Record<string, string>> = {
  AA: 'ɑ',
  AE: 'æ',
  AH: 'ʌ',
  AO: 'ɔ',
  AW: 'W',
  AY: 'I',
  EH: 'ɛ',
  ER: 'ɜɹ',
  EY: 'A',
  IH: 'ɪ',
  IY: 'i',
  OW: 'O',
  OY: 'Y',
  UH: 'ʊ',
  UW: 'u',
};

const british: Readonly<Record<string, string>> = {
  ...american,
  AA: 'ɒ',
  AE: 'a',
  AO: 'ɔː',
  ER: 'ɜː',
  IY: 'iː',
  OW: 'Q',
  UW: 'uː',
};

/** Vowels before an R that is not spoken. */
const beforeR: Readonly<Record<string, string>> = {
  AA: 'ɑː',
  AO: 'ɔː',
  EH: 'ɛː',
  IH: 'ɪə',
  IY: 'ɪə',
  UH: 'ʊə',
  UW: 'ʊə',
};

const marks = ['', 'ˈ', 'ˌ'];

/** One word, such as `HH AH0 L OW1`. */
export function toSounds(phones: readonly string[], accent: Accent = 'american'): string {
  let sounds = '';
  for (let at = 0; at < phones.length; at += 1) {
    const phone = phones[at] as string;
    const consonant = consonants[phone];
    if (consonant === undefined) {
      const isSilentR = accent === 'british' && phones[at + 1] === 'R' && !isVowel(phones[at + 2]);
      sounds += toVowel(phone, accent, isSilentR);
      // "Hurry" in British: the R of this vowel is spoken before another one.
      if (accent === 'british' && phone.startsWith('ER') && isVowel(phones[at + 1])) sounds += 'ɹ';
    } else if (phone === 'R' && accent === 'british' && isVowel(phones[at - 1]) && !isVowel(phones[at + 1]))
      sounds += '';
    else if (phone === 'T' && accent === 'american' && isFlapped(phones, at)) sounds += 'ɾ';
    else sounds += consonant;
  }
  return sounds;
}

function toVowel(phone: string, accent: Accent, isBeforeSilentR: boolean): string {
  const vowel = phone.replace(/\d$/, '');
  const stress = phone.slice(vowel.length);
  const table = accent === 'british' ? british : american;
  const mark = marks[Number(stress)] ?? '';
  if (isBeforeSilentR && beforeR[vowel] !== undefined) return mark + beforeR[vowel];
  if (stress !== '0') return mark + (table[vowel] ?? '');
  switch (vowel) {
    case 'AH':
      return 'ə';
    case 'ER':
      return accent === 'british' ? 'ə' : 'əɹ';
    case 'IY':
      return 'i';
    default:
      return table[vowel] ?? '';
  }
}

function isVowel(phone: string | undefined): boolean {
  return phone !== undefined && /\d$/.test(phone);
}

/** "Butter", "city": a T between a vowel and an unstressed one. */
function isFlapped(phones: readonly string[], at: number): boolean {
  const before = phones[at - 1];
  const after = phones[at + 1];
  // "Button" and "mountain" have no flap.
  if (after === 'AH0' && phones[at + 2] === 'N') return false;
  return (isVowel(before) || before === 'R') && after !== undefined && /0$/.test(after);
}

/** The symbols that Kokoro knows, by number. From the model's config.json; what is not used here is left out. */
const numbers: Readonly<Record<string, number>> = {
  ';': 1,
  ':': 2,
  ',': 3,
  '.': 4,
  '!': 5,
  '?': 6,
  '—': 9,
  '…': 10,
  '"': 11,
  '(': 12,
  ')': 13,
  '“': 14,
  '”': 15,
  ' ': 16,
  A: 24,
  I: 25,
  O: 31,
  Q: 33,
  W: 39,
  Y: 41,
  a: 43,
  b: 44,
  d: 46,
  f: 48,
  h: 50,
  i: 51,
  j: 52,
  k: 53,
  l: 54,
  m: 55,
  n: 56,
  p: 58,
  s: 61,
  t: 62,
  u: 63,
  v: 64,
  w: 65,
  z: 68,
  ɑ: 69,
  ɐ: 70,
  ɒ: 71,
  æ: 72,
  ɔ: 76,
  ð: 81,
  ʤ: 82,
  ə: 83,
  ɛ: 86,
  ɜ: 87,
  ɡ: 92,
  ɪ: 102,
  ŋ: 112,
  θ: 119,
  ɹ: 123,
  ɾ: 125,
  ʃ: 131,
  ʧ: 133,
  ʊ: 135,
  ʌ: 138,
  ʒ: 147,
  ˈ: 156,
  ˌ: 157,
  ː: 158,
};

/** What the model does not know is left out. */
export function toTokens(sounds: string): number[] {
  return [...sounds].flatMap((sound) => numbers[sound] ?? []);
}
