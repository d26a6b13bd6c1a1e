import { describe, expect, it } from 'vitest';
import { createPronounce } from './pronounce.ts';
import { toSounds, toTokens } from './sounds.ts';

const dictionary: Record<string, string[]> = Object.fromEntries(
  Object.entries({
    HELLO: 'HH AH0 L OW1',
    WORLD: 'W ER1 L D',
    THE: 'DH AH0',
    TO: 'T UW1',
    OF: 'AH1 V',
    APPLE: 'AE1 P AH0 L',
    HOUR: 'AW1 ER0',
    DOG: 'D AO1 G',
    BUS: 'B AH1 S',
    CAT: 'K AE1 T',
    BUTTER: 'B AH1 T ER0',
    NASA: 'N AE1 S AH0',
    IT: 'IH1 T',
    "DON'T": 'D OW1 N T',
    CAFE: 'K AH0 F EY1',
  }).map(([word, phones]) => [word, phones.split(' ')]),
);
const guessed: string[] = [];
const pronounce = createPronounce({
  dictionary,
  guess(word) {
    guessed.push(word);
    return ['Z', 'UW1'];
  },
});
const say = (text: string) => pronounce(text, 'american');

describe('sounds', () => {
  it('have the stress before the vowel, and diphthongs as one letter', () => {
    expect(toSounds('HH AH0 L OW1'.split(' '))).toBe('həlˈO');
    expect(toSounds('R AW1 N D HH AW2 S'.split(' '))).toBe('ɹˈWndhˌWs');
    expect(toSounds('CH OY1 S'.split(' '))).toBe('ʧˈYs');
  });

  it('have a flap in American butter, and none in button', () => {
    expect(toSounds('B AH1 T ER0'.split(' '))).toBe('bˈʌɾəɹ');
    expect(toSounds('B AH1 T AH0 N'.split(' '))).toBe('bˈʌtən');
    expect(toSounds('AH0 T AE1 K'.split(' '))).toBe('ətˈæk');
  });

  it('have no R in British cars, but in hurry', () => {
    const british = (phones: string) => toSounds(phones.split(' '), 'british');
    expect(british('K AA1 R')).toBe('kˈɑː');
    expect(british('HH ER1 IY0')).toBe('hˈɜːɹi');
    expect(british('B AH1 T ER0')).toBe('bˈʌtə');
    expect(british('G OW1')).toBe('ɡˈQ');
    expect(british('B EH1 R IY0')).toBe('bˈɛɹi');
  });

  it('are all known to the model', () => {
    const all = 'AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW'
      .split(' ')
      .flatMap((v) => [`${v}0`, `${v}1`, `${v}2`]);
    const consonants = 'B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH'.split(' ');
    for (const accent of ['american', 'british'] as const) {
      for (const phone of [...all, ...consonants]) {
        const sounds = toSounds([phone], accent);
        expect(sounds).not.toBe('');
        expect(toTokens(sounds)).toHaveLength([...sounds].length);
      }
    }
    expect(toTokens('həlˈO, ☃')).toEqual([50, 83, 54, 156, 31, 3, 16]);
  });
});

describe('words', () => {
  it('come from the dictionary, with their punctuation', () => {
    expect(say('Hello, world!')).toBe('həlˈO, wˈɜɹld!');
    expect(say("Don't")).toBe('dˈOnt');
    expect(say('café')).toBe('kəfˈA');
  });

  it('lose their stress where nobody stresses them', () => {
    expect(say('the dog of it')).toBe('ðə dˈɔɡ ʌv ɪt');
    expect(say('a cat')).toBe('ɐ kˈæt');
  });

  it('sound otherwise before a vowel, by ear and not by spelling', () => {
    expect(say('the apple')).toBe('ði ˈæpəl');
    expect(say('the hour')).toBe('ði ˈWəɹ');
    expect(say('to apple, to dog, dog to')).toBe('tu ˈæpəl, tə dˈɔɡ, dˈɔɡ tu');
  });

  it('have plurals and owners by how they end', () => {
    expect(say("dog's")).toBe('dˈɔɡz');
    expect(say("cat's")).toBe('kˈæts');
    expect(say("bus's")).toBe('bˈʌsəz');
    expect(say('dogs')).toBe('dˈɔɡz');
    expect(say("dogs'")).toBe('dˈɔɡz');
  });

  it('are spelled where they are letters', () => {
    expect(say('the FBI')).toBe('ði ˌɛfbˌiˈI');
    expect(say('NASA')).toBe('nˈæsə');
    expect(say('an IT dog')).toContain('ˌItˈi');
    expect(say('IT')).toBe('ɪt');
    expect(say('B')).toBe('bˈi');
  });

  it('are guessed once where no dictionary has them', () => {
    guessed.length = 0;
    expect(say('Blorb, blorb')).toBe('zˈu, zˈu');
    expect(say('constructor hasOwnProperty __proto__')).not.toContain('undefined');
    expect(guessed.filter((word) => word === 'blorb')).toHaveLength(1);
  });

  it('of other scripts are left out', () => {
    expect(say('你好 мир')).toBe('');
    expect(say('你好, dog!')).toBe(', dˈɔɡ!');
  });
});
