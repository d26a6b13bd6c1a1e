import { describe, expect, it } from 'vitest';
import { computing } from '../../../../test/support/computing.ts';
import { normalizeText } from './normalize.ts';

describe('a text is written out', () => {
  it.each([
    // Numbers
    ['0, 7, 12, 20, 21, 99', 'zero, seven, twelve, twenty, twenty one, ninety nine'],
    ['100 and 105 and 999', 'one hundred and one hundred five and nine hundred ninety nine'],
    ['1,234,567', 'one million two hundred thirty four thousand five hundred sixty seven'],
    ['1000000000000', 'one trillion'],
    ['3.14 and 0.5 and .25', 'three point one four and zero point five and zero point two five'],
    ['It is -5 here', 'It is minus five here'],
    ['007', 'zero zero seven'],
    [
      '12345678901234567890',
      'one two three four five six seven eight nine zero one two three four five six seven eight nine zero',
    ],
    [
      '1st, 2nd, 3rd, 4th, 12th, 20th, 21st, 100th',
      'first, second, third, fourth, twelfth, twentieth, twenty first, one hundredth',
    ],
    ['½ cup or 3/4 cup or 1/3', 'one half cup or three quarters cup or one third'],
    ['pages 5-10', 'pages five to ten'],
    ['version 1.2.3', 'version one point two point three'],
    ['A4 and H2O', 'A four and H two O'],
    // Years
    ['in 1999', 'in nineteen ninety nine'],
    ['in 1905', 'in nineteen oh five'],
    ['in 2005', 'in two thousand five'],
    ['in 2024', 'in twenty twenty four'],
    ['in 1900', 'in nineteen hundred'],
    ['the 1990s and the 90s', 'the nineteen nineties and the nineties'],
    ['3000 men', 'three thousand men'],
    // Dates and times
    ['on 2024-03-05', 'on March fifth, twenty twenty four'],
    ['on 3/5/2024', 'on March fifth, twenty twenty four'],
    ['March 5, 2024', 'March fifth, twenty twenty four'],
    ['on July 4', 'on July fourth'],
    ['on Jan. 2', 'on January second'],
    ['at 3:45 pm', 'at three forty five P M'],
    ['at 3:05 a.m. today', 'at three oh five A M today'],
    ['at 10:00', "at ten o'clock"],
    ['at 7am', 'at seven A M'],
    // Money
    ['$5', 'five dollars'],
    ['$1', 'one dollar'],
    ['$3.50', 'three dollars and fifty cents'],
    ['$0.99', 'ninety nine cents'],
    ['£1.01', 'one pound and one penny'],
    ['€20', 'twenty euros'],
    ['$5 million', 'five million dollars'],
    ['$2.5B', 'two point five billion dollars'],
    ['$1,000', 'one thousand dollars'],
    // Units and signs
    ['50%', 'fifty percent'],
    ['20°C', 'twenty degrees Celsius'],
    ['5 km and 1 kg', 'five kilometers and one kilogram'],
    ['60 km/h', 'sixty kilometers per hour'],
    ['6 ft', 'six feet'],
    ['2 GB', 'two gigabytes'],
    ['salt & pepper', 'salt and pepper'],
    ['2 + 2 = 4', 'two plus two equals four'],
    ['#1', 'number one'],
    ['and/or', 'and or or'],
    // Abbreviations
    ['Dr. Smith and Mrs. Lee', 'doctor Smith and missus Lee'],
    ['St. Paul on Main St.', 'saint Paul on Main street'],
    ['e.g. this, i.e. that', 'for example, this, that is, that'],
    ['apples, pears, etc.', 'apples, pears, et cetera.'],
    ['No. 5', 'number five'],
    ['He said no.', 'He said no.'],
    ['the U.S.A. today', 'the U S A today'],
    // Addresses
    ['see https://example.com/docs', 'see example dot com slash docs'],
    ['write to me@example.org', 'write to me at example dot org'],
    ['call 555-123-4567', 'call five five five, one two three, four five six seven'],
    // Punctuation
    ['Wait... what', 'Wait… what'],
    ['one - two', 'one — two'],
    ['[a] {b}', '(a) (b)'],
    ['“It’s here”', "“It's here”"],
    ['*bold* and `code`', 'bold and code'],
    ['hi 😀 there', 'hi there'],
  ])('%s: %s', (text, words) => {
    expect(normalizeText(text)).toBe(words);
  });

  it('and has no digit and no sign left, whatever it was', () => {
    const odd = [
      '12:99:77',
      '1/0/1',
      '99/99/9999',
      '2024-13-45',
      '$',
      '%',
      '1e10',
      '0x1F',
      '+-*/=',
      '3:5',
      '10,00,0',
      '½½',
      '192.168.0.1',
    ];
    for (const text of odd) expect(normalizeText(text)).not.toMatch(/[\d$%+=@#&*]/);
  });

  it('takes time in proportion to its length', () => {
    const computed = computing();
    for (const text of [
      '1'.repeat(4096),
      'a.'.repeat(2048),
      '1-'.repeat(2048),
      'x@'.repeat(2048),
      ' '.repeat(4096),
      "'".repeat(4096),
    ])
      normalizeText(text);
    expect(computed()).toBeLessThan(1_000);
  });
});
