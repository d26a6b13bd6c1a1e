import { describe, expect, test } from 'vitest';
import { computing } from '../../../test/support/computing.ts';
import { pickTerms, toTerms, toWords } from './index-words.ts';

describe('the words of a text', () => {
  test('are letters and digits in lower case, whatever stands between them', () => {
    expect(toWords(`The "Flying-Scotsman" (No. 4472) ran to ÉDINBURGH_Waverley!`)).toEqual(
      'the flying scotsman no 4472 ran to édinburgh waverley'.split(' '),
    );
    expect(toWords('& | ! * : ^ ( ) " \' \\ -- ;')).toEqual([]);
    expect(toWords('x'.repeat(500))[0]).toHaveLength(64);
  });

  test('of a question are those that tell something, once each, and not without end', () => {
    expect(toTerms('What is the boiler pressure of a boiler?')).toEqual(['boiler', 'pressure']);
    expect(toTerms('to be or not to be')).toEqual(['to', 'be', 'or', 'not']);
    expect(toTerms(Array.from({ length: 200 }, (_, place) => `word${place}`).join(' '))).toHaveLength(32);
  });
});

test('a question of characters that are eighteen each once written out is not read to its end', () => {
  const computed = computing();
  expect(toTerms('ﷺ '.repeat(500_000)).length).toBeGreaterThan(0);
  expect(computed()).toBeLessThan(200);
});

describe('the terms that are looked for', () => {
  const terms = [
    { term: 'common', count: 900 },
    { term: 'rare', count: 3 },
    { term: 'absent', count: 0 },
    { term: 'usual', count: 90 },
  ];

  test('are the rarest, as many as may be ranked', () => {
    expect(pickTerms(terms, 1_000)).toEqual(['rare', 'usual', 'common']);
    expect(pickTerms(terms, 100)).toEqual(['rare', 'usual']);
  });

  test('are one at least, unless no item has any', () => {
    expect(pickTerms(terms, 1)).toEqual(['rare']);
    expect(pickTerms([{ term: 'common', count: 900 }], 10)).toEqual(['common']);
    expect(pickTerms([{ term: 'absent', count: 0 }], 10)).toEqual([]);
  });
});
