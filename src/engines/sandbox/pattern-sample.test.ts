import { describe, expect, it } from 'vitest';
import { computing } from '../../../test/support/computing.ts';
import { samplePattern } from './pattern-sample.ts';
import { createRandom } from './seed.ts';

const any = { least: 0, most: Number.POSITIVE_INFINITY };
const sample = (pattern: string, seed = 1, bounds = any) =>
  samplePattern(pattern, createRandom(BigInt(seed)), bounds, { atoms: 10_000 });
const tries = (pattern: string, bounds = any) =>
  Array.from({ length: 30 }, (_, seed) => sample(pattern, seed, bounds));

describe('a text that matches an expression', () => {
  it.each([
    '^[A-Z]{2}\\d{4}$',
    '^\\+?[1-9]\\d{1,14}$',
    '^(red|green|blue)-\\w+$',
    '^#(?:[0-9a-fA-F]{3}){1,2}$',
    '^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$',
    '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2})?$',
    'a.c',
    '^a|b$',
    '^[a-z][a-z0-9_-]*[a-z0-9]$',
    '^$',
    '^(?<year>\\d{4})\\/x*?$',
    '^[-+.]\\.\\s\\W$',
    '^ü{2}[ä-ö]$',
  ])('%s', (pattern) => {
    for (const text of tries(pattern)) expect(text).toMatch(new RegExp(pattern));
  });

  it('keeps to the lengths, when it can', () => {
    for (const text of tries('^[a-z]+$', { least: 9, most: 10 })) {
      expect(text).toMatch(/^[a-z]{9,10}$/);
    }
    expect(sample('^a{5}$', 1, { least: 0, most: 4 })).toBeUndefined();
  });

  it.each([
    '(?=a)b',
    '(a)\\1',
    '\\bword\\b',
    '\\p{L}+',
    'a^b',
    'a$b',
    '(^a)',
    '[',
    '(',
    'a)',
    '(?!x)',
    '(((a{999}){999}){999}){999}',
    '[^\\S]',
  ])('gives up on %s', (pattern) => {
    expect(sample(pattern)).toBeUndefined();
  });

  it('takes no time for an expression that is slow to match', () => {
    const computed = computing();
    sample('^(?:(?:a{1,2}){40}c|a{60})$');
    expect(computed()).toBeLessThan(500);
  });
});
