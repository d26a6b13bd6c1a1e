import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMatcher } from '../../../../test/support/gbnf.ts';
import { GrammarError } from './grammar-error.ts';
import { toGrammar } from './json-grammar.ts';
import { digitsBetween } from './number-grammar.ts';

/** Which of the values the grammar of a schema allows, written as models write JSON. */
function allows(schema: unknown, ...values: unknown[]): boolean[] {
  const matches = createMatcher(toGrammar(schema));
  return values.map((value) => matches(typeof value === 'string' ? value : JSON.stringify(value)));
}
const yes = (schema: unknown, ...values: unknown[]) =>
  expect(allows(schema, ...values)).toEqual(values.map(() => true));
const no = (schema: unknown, ...values: unknown[]) =>
  expect(allows(schema, ...values)).toEqual(values.map(() => false));

describe('a JSON schema as a grammar', () => {
  it('takes any JSON where the schema says nothing, and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        // JSON.stringify writes numbers with more digits than a model may.
        const text = JSON.stringify(value, (_, each) =>
          typeof each === 'number' ? Math.trunc(each % 1e9) : each,
        );
        expect(allows({}, text)).toEqual([true]);
      }),
      { numRuns: 30 },
    );
    no({}, 'nonsense', '{"a":}', '[1,]', '01', '"\n"', '');
  });

  it('types, and several of them', () => {
    yes({ type: 'string' }, '"a \\"quoted\\" \\u00e9 ü"');
    no({ type: 'string' }, '"a', '1', '"a"b"');
    yes({ type: ['integer', 'null'] }, '-12', 'null');
    no({ type: ['integer', 'null'] }, '1.5', '"1"');
    yes({ type: 'number' }, '0', '-1.25', '3e10');
    yes({ type: 'boolean' }, 'true', 'false');
  });

  it('objects: what is required, what may be absent, and no others', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'string' }, c: { type: 'boolean' } },
      required: ['b'],
    };
    yes(
      schema,
      { b: 'x' },
      { a: 1, b: 'x' },
      { b: 'x', c: true },
      { a: 1, b: 'x', c: false },
      '{"a": 1, "b": "x"}',
    );
    no(schema, {}, { a: 1 }, { b: 1 }, { b: 'x', d: 1 }, '{"b":"x",}', '{,"b":"x"}');
    const optional = { ...schema, required: [] };
    yes(optional, {}, { a: 1 }, { c: true }, { a: 1, c: true });
    no(optional, '{"a":1,}', '{,"c":true}');
  });

  it('objects with other properties, where they are asked for', () => {
    const named = {
      type: 'object',
      properties: { a: { type: 'integer' } },
      additionalProperties: { type: 'string' },
    };
    yes(named, {}, { a: 1 }, { a: 1, x: 'y' }, { x: 'y', z: 'w' });
    no(named, { x: 1 });
    yes(
      { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1 },
      { x: 1 },
      { x: 1, y: 2 },
    );
    no({ type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1 }, {});
    yes({ type: 'object' }, {}, { any: ['thing'] });
    yes({ type: 'object', additionalProperties: false }, {});
    no({ type: 'object', additionalProperties: false }, { a: 1 });
    yes({ type: 'object', required: ['a'] }, { a: [] });
  });

  it('arrays: their items, and how many', () => {
    yes({ type: 'array', items: { type: 'integer' } }, [], [1], [1, 2], '[1, 2]');
    no({ type: 'array', items: { type: 'integer' } }, ['1'], '[1,]', '[,1]');
    const few = { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 2 };
    yes(few, [1], [1, 2]);
    no(few, [], [1, 2, 3]);
    yes({ type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] }, [1, 'a']);
    yes({ type: 'array', maxItems: 0 }, []);
  });

  it('fixed values, and one of several', () => {
    yes({ enum: ['a', 1, null, { b: [true] }] }, '"a"', '1', 'null', '{"b":[true]}');
    no({ enum: ['a', 1] }, '"b"', '2');
    yes({ type: ['string', 'integer'], enum: ['a', 1, 1.5] }, '"a"', '1');
    no({ type: ['string', 'integer'], enum: ['a', 1, 1.5] }, '1.5');
    no({ type: 'string', enum: ['a', 1] }, '1');
    yes({ const: 'it "is"\n' }, JSON.stringify('it "is"\n'));
    yes({ anyOf: [{ type: 'string' }, { type: 'null' }] }, '"x"', 'null');
    no({ oneOf: [{ type: 'string' }, { type: 'null' }] }, '1');
  });

  it('several schemas at once', () => {
    const schema = {
      allOf: [
        { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
        { properties: { b: { type: 'string' } }, required: ['b'] },
      ],
    };
    yes(schema, { a: 1, b: 'x' });
    no(schema, { a: 1 }, { b: 'x' });
    const alternatives = {
      type: 'object',
      properties: { kind: { const: 'x' } },
      required: ['kind'],
      anyOf: [{ required: ['kind'] }],
    };
    yes(alternatives, { kind: 'x' });
  });

  it('two chains of definitions said at once take as many rules as they are long', () => {
    const chain = (name: string, depth: number) =>
      Object.fromEntries(
        Array.from({ length: depth + 1 }, (_, level) => {
          const next = { $ref: `#/$defs/${name}${level - 1}` };
          return [
            `${name}${level}`,
            level === 0 ? { type: 'object' } : { type: 'object', properties: { x: next, y: { ...next } } },
          ];
        }),
      );
    const toRules = (depth: number) =>
      toGrammar({
        allOf: [{ $ref: `#/$defs/l${depth}` }, { $ref: `#/$defs/m${depth}` }],
        $defs: { ...chain('l', depth), ...chain('m', depth) },
      }).split('\n').length;
    expect(toRules(20) - toRules(19)).toBe(toRules(4) - toRules(3));
  });

  it('references, also to itself', () => {
    const tree = {
      $defs: {
        node: {
          type: 'object',
          properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
          required: ['next'],
        },
      },
      $ref: '#/$defs/node',
    };
    yes(tree, { next: null }, { next: { next: { next: null } } });
    no(tree, {}, { next: 1 });
    const described = {
      $defs: { n: { type: 'integer' } },
      properties: { a: { $ref: '#/$defs/n', description: 'A.' } },
    };
    yes(described, { a: 1 });
    no(described, { a: 'x' });
  });

  it('lengths, formats and patterns of strings', () => {
    yes({ type: 'string', minLength: 2, maxLength: 3 }, '"ab"', '"äöü"');
    no({ type: 'string', minLength: 2, maxLength: 3 }, '"a"', '"abcd"');
    yes({ type: 'string', format: 'date' }, '"2026-11-15"');
    no({ type: 'string', format: 'date' }, '"2026-13-01"', '"15.11.2026"');
    yes({ type: 'string', format: 'date-time' }, '"2026-11-15T06:00:00Z"');
    yes({ type: 'string', format: 'uuid' }, '"123e4567-e89b-12d3-a456-426614174000"');
    yes({ type: 'string', format: 'email' }, '"whatever"');
    const code = { type: 'string', pattern: '^[A-Z]{2}-\\d+(?:\\.x)?$' };
    yes(code, '"AB-1"', '"AB-123.x"');
    no(code, '"A-1"', '"AB-"', '"AB-1y"', '"xAB-1"');
    yes({ type: 'string', pattern: 'b|^a' }, '"xbx"', '"axx"');
    no({ type: 'string', pattern: 'b|^a' }, '"xax"');
    yes({ type: 'string', pattern: '^[^a-c"]\\.\\w$' }, '"d._"');
    no({ type: 'string', pattern: '^[^a-c"]\\.\\w$' }, '"a._"', '"dx_"', '""._"');
  });

  it('bounds of numbers', () => {
    const small = { type: 'integer', minimum: -12, maximum: 105 };
    for (let value = -130; value <= 1_100; value++) {
      expect(allows(small, String(value)), String(value)).toEqual([value >= -12 && value <= 105]);
    }
    yes({ type: 'number', minimum: 0, maximum: 1 }, '0', '0.5', '1', '1.0');
    no({ type: 'number', minimum: 0, maximum: 1 }, '1.1', '-0.1', '2');
    yes({ type: 'number', exclusiveMinimum: 0, maximum: 1 }, '0.5', '0.01', '1');
    no({ type: 'number', exclusiveMinimum: 0, maximum: 1 }, '0', '0.0', '1.5');
    yes({ type: 'number', minimum: -2 }, '-2', '-1.5', '0', '1e3'.replace('e3', '000.25'));
    no({ type: 'number', minimum: -2 }, '-2.5', '-3');
    yes({ type: 'number', maximum: -2 }, '-2', '-2.5', '-30');
    no({ type: 'number', maximum: -2 }, '-1.5', '0');
    yes({ type: 'integer', exclusiveMinimum: 4, exclusiveMaximum: 6 }, '5');
    no({ type: 'integer', exclusiveMinimum: 4, exclusiveMaximum: 6 }, '4', '6');
  });

  it('digits between any two numbers', () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.nat(3_000), fc.nat(4_000), (a, b, value) => {
        const [least, most] = a < b ? [a, b] : [b, a];
        const matches = createMatcher(`root ::= ${digitsBetween(least, most)}`);
        expect(matches(String(value))).toBe(value >= least && value <= most);
        expect(matches(`0${value}`)).toBe(false);
        const endless = createMatcher(`root ::= ${digitsBetween(least, Number.POSITIVE_INFINITY)}`);
        expect(endless(String(value))).toBe(value >= least);
      }),
    );
  });

  it('bounds of numbers with fractions', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -350, max: 350 }),
        fc.integer({ min: -350, max: 350 }),
        fc.boolean(),
        fc.boolean(),
        (a, b, isLeastOut, isMostOut) => {
          const [least, most] = [Math.min(a, b) / 100, Math.max(a, b) / 100];
          fc.pre(least < most);
          const schema = {
            type: 'number',
            [isLeastOut ? 'exclusiveMinimum' : 'minimum']: least,
            [isMostOut ? 'exclusiveMaximum' : 'maximum']: most,
          };
          const matches = createMatcher(toGrammar(schema));
          for (let value = -4_000; value <= 4_000; value += 5) {
            const text = (value / 1_000).toFixed(3);
            const isAbove = isLeastOut ? Number(text) > least : Number(text) >= least;
            const isBelow = isMostOut ? Number(text) < most : Number(text) <= most;
            expect(matches(text), `${text} ${JSON.stringify(schema)}`).toBe(isAbove && isBelow);
          }
        },
      ),
      { numRuns: 20 },
    );
    yes({ type: 'number', minimum: 0.5, maximum: 0.9 }, '0.5', '0.7', '0.9', '0.90');
    no({ type: 'number', minimum: 0.5, maximum: 0.9 }, '0.4', '0.91', '1', '0', '0.901');
    yes({ type: 'number', minimum: 0.5 }, '0.5', '1', '27.25');
    no({ type: 'number', minimum: 0.5 }, '0.49', '0', '-1');
  });

  it('refuses what it could hold to only in part, and names it', () => {
    const refused = (schema: unknown) => {
      try {
        toGrammar(schema);
      } catch (error) {
        expect(error).toBeInstanceOf(GrammarError);
        return (error as Error).message;
      }
      throw new Error('it was taken');
    };
    expect(refused({ type: 'array', uniqueItems: true })).toContain('uniqueItems');
    expect(refused({ type: 'integer', multipleOf: 5 })).toContain('multipleOf');
    expect(refused({ not: { type: 'string' } })).toContain('not');
    expect(refused({ type: 'string', pattern: '^(?=a)b' })).toContain('(?=a)');
    expect(refused({ type: 'string', pattern: '(a' })).toContain('(a');
    expect(refused({ $ref: '#/$defs/none' })).toContain('#/$defs/none');
    expect(refused({ type: 'text' })).toContain('text');
    expect(refused({ type: 'string', maxLength: 100_000 })).toContain('1000');
    const deep = Array.from({ length: 100 }).reduce<object>((inner) => ({ type: 'array', items: inner }), {});
    expect(refused(deep)).toContain('deep');
  });
});
