import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMatcher } from '../../../../test/support/gbnf.ts';
import { GrammarError } from './grammar-error.ts';
import { toPatternGrammar } from './pattern-grammar.ts';

const matcherOf = (pattern: string) => createMatcher(`root ::= "\\"" (${toPatternGrammar(pattern)}) "\\""`);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe('a pattern as a grammar', () => {
  it.each([
    '^[ -~]+$',
    '^[A-z]+$',
    '^[!-~]{1,9}$',
    '^[\u0000-\u00ff]*$',
    '^.*$',
    '^[^a]+$',
    'a|b',
    '^\\W+$',
    '^\\D\\S$',
  ])('%s never allows a quote, a backslash or a control character on its own', (pattern) => {
    const matches = matcherOf(pattern);
    for (const text of [
      '"a"b"',
      '"a\\"',
      '"\\x"',
      '"\\q"',
      '"a\nb"',
      '"\u0000"',
      '"\u001f"',
      '"""',
      '"\\"',
    ]) {
      expect(matches(text), text).toBe(false);
    }
  });

  it('a class with a quote or a backslash in it allows them as JSON writes them', () => {
    const matches = matcherOf('^[ -~]+$');
    for (const text of ['say "hi"', 'a\\b', 'plain']) expect(matches(JSON.stringify(text))).toBe(true);
    expect(matcherOf('^["a]{2}$')('"\\"a"')).toBe(true);
    expect(matcherOf('^\\\\"$')(JSON.stringify('\\"'))).toBe(true);
  });

  it('what it allows is JSON, and fits the pattern', () => {
    const code = fc.oneof(
      fc.integer({ min: 0, max: 0x7f }),
      fc.constantFrom(0xa0, 0xe9, 0x2028, 0x3000, 0x1f600),
    );
    const toEscaped = (value: number) => {
      const character = String.fromCodePoint(value);
      return /[\^$.*+?()[\]{}|/\-\\]/.test(character) ? `\\${character}` : character;
    };
    const range = fc
      .tuple(code, code)
      .map(([a, b]) => `${toEscaped(Math.min(a, b))}-${toEscaped(Math.max(a, b))}`);
    const member = fc.oneof(range, code.map(toEscaped), fc.constantFrom('\\d', '\\w', '\\s'));
    const set = fc
      .tuple(fc.boolean(), fc.array(member, { minLength: 1, maxLength: 3 }))
      .map(([isNegated, members]) => `[${isNegated ? '^' : ''}${members.join('')}]`);
    const atom = fc.oneof(set, fc.constantFrom('.', '\\d', '\\W', '\\S', '\\D', 'a', '"', '(?:ab|c)'));
    const pattern = fc
      .array(
        fc.tuple(atom, fc.constantFrom('', '*', '+', '?', '{1,3}')).map((parts) => parts.join('')),
        {
          minLength: 1,
          maxLength: 3,
        },
      )
      .map((parts) => `^${parts.join('')}$`);
    const inside = fc.oneof(
      code.map((value) => String.fromCodePoint(value)),
      code.map((value) => JSON.stringify(String.fromCodePoint(value)).slice(1, -1)),
    );
    let allowed = 0;
    fc.assert(
      fc.property(pattern, fc.array(inside, { maxLength: 4 }), (given, pieces) => {
        let matches: (text: string) => boolean;
        try {
          matches = matcherOf(given);
        } catch (error) {
          expect(error).toBeInstanceOf(GrammarError);
          return;
        }
        const text = `"${pieces.join('')}"`;
        if (!matches(text)) return;
        allowed += 1;
        const value = parse(text);
        expect(typeof value, `${given} allows ${text}`).toBe('string');
        expect(value, `${given} allows ${text}`).toMatch(new RegExp(given, 'u'));
      }),
      { numRuns: 5_000 },
    );
    expect(allowed).toBeGreaterThan(100);
  });

  it.each([
    'a?'.repeat(1_300),
    '(a?|b?)'.repeat(580),
    '(a|)'.repeat(200),
    `(${'a|aa|aaa|aaaa'.repeat(20)}){1,900}`,
    '((a{1,40}b){1,40}c){1,40}',
  ])('%s can be met in too many ways', (pattern) => {
    expect(() => toPatternGrammar(`^${pattern}$`)).toThrow('too large');
  });

  it('patterns as people write them are not too large', () => {
    for (const pattern of [
      '^[a-z0-9]+(?:-[a-z0-9]+)*$',
      '^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$',
      '^.{0,1000}$',
      '^[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+){1,9}$',
    ]) {
      expect(() => toPatternGrammar(pattern)).not.toThrow();
    }
  });

  it('lone halves of characters are in no class', () => {
    expect(() => toPatternGrammar('^[\ud800]$')).toThrow(GrammarError);
    expect(toPatternGrammar('^[\ud7ff-\ue000]$')).toBe('[\ud7ff\ue000]');
  });
});
