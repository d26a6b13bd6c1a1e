import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computing } from '../../../test/support/computing.ts';
import { createValidator } from '../../lib/schema.ts';
import { type Hints, sampleJson } from './json-sample.ts';
import { createRandom } from './seed.ts';

const none: Hints = { words: [], numbers: [] };

/** Twenty values of a schema, each checked against it. */
function samples(schema: object, hints = none): unknown[] {
  const validator = createValidator(schema);
  return Array.from({ length: 20 }, (_, seed) => {
    const value = sampleJson(schema, createRandom(BigInt(seed)), hints);
    if (!validator.check(value)) {
      throw new Error(`${JSON.stringify(value)}: ${JSON.stringify(validator.problem(value))}`);
    }
    return value;
  });
}

describe('a value that fits its schema', () => {
  it('has the fields of an object in their order, optional ones too', () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' }, isMember: { type: 'boolean' } },
      required: ['isMember', 'name'],
      additionalProperties: false,
    };
    for (const value of samples(schema)) {
      expect(Object.keys(value as object)).toEqual(['name', 'age', 'isMember']);
    }
  });

  it.each([
    ['an enum', { enum: ['a', 1, null] }],
    ['a constant', { const: { a: [1] } }],
    ['bounds', { type: 'integer', minimum: 5, maximum: 7 }],
    ['open bounds', { type: 'integer', exclusiveMinimum: 5, exclusiveMaximum: 7 }],
    ['a lower bound alone', { type: 'number', minimum: 1_000_000 }],
    ['an upper bound alone', { type: 'integer', maximum: -4 }],
    ['narrow bounds', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 }],
    ['multiples', { type: 'integer', multipleOf: 7, minimum: 20, maximum: 30 }],
    ['fractional multiples', { type: 'number', multipleOf: 0.25, minimum: 1.1, maximum: 2 }],
    ['lengths', { type: 'string', minLength: 12, maxLength: 14 }],
    ['a length of nothing', { type: 'string', maxLength: 0 }],
    ['a list with bounds', { type: 'array', items: { type: 'number' }, minItems: 4, maxItems: 5 }],
    ['an empty list', { type: 'array', items: { type: 'number' }, maxItems: 0 }],
    [
      'a list of different things',
      { type: 'array', items: { enum: [1, 2, 3] }, uniqueItems: true, minItems: 3 },
    ],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false }],
    ['a list that contains', { type: 'array', contains: { const: 5 }, minItems: 2 }],
    ['a map', { type: 'object', additionalProperties: { type: 'number' }, minProperties: 3 }],
    [
      'few entries',
      { type: 'object', properties: { a: {}, b: {}, c: {} }, required: ['c'], maxProperties: 2 },
    ],
    ['required without declaration', { type: 'object', required: ['x'] }],
    ['any of', { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
    ['one of with a base', { type: 'object', required: ['k'], oneOf: [{ properties: { k: { const: 1 } } }] }],
    [
      'all of',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'integer', minimum: 3 } }, required: ['a'] },
          { properties: { a: { maximum: 4 }, b: { type: 'boolean' } }, required: ['b'] },
        ],
      },
    ],
    ['types', { type: ['null', 'integer'], minimum: 3 }],
    ['no type', { properties: { a: { minimum: 3 } }, required: ['a'] }],
    ['everything', {}],
  ])('%s', (_, schema) => {
    samples(schema);
  });

  it.each(['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'uri'])(
    'the format %s',
    (format) => {
      const values = samples({ type: 'string', format });
      expect(values.every((value) => typeof value === 'string' && value.length > 3)).toBe(true);
    },
  );

  it('references, also into itself, come to an end', () => {
    const schema = {
      $defs: {
        node: {
          type: 'object',
          properties: {
            label: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
            next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
          },
          required: ['label', 'children', 'next'],
          additionalProperties: false,
        },
      },
      $ref: '#/$defs/node',
    };
    for (const value of samples(schema)) expect(JSON.stringify(value).length).toBeLessThan(200_000);
    samples({ type: 'object', properties: { self: { $ref: '#' }, n: { type: 'integer' } }, required: ['n'] });
    samples({ definitions: { 'a/b': { type: 'integer' } }, $ref: '#/definitions/a~1b' });
  });

  it('a schema that cannot be met, or that demands too much, still gets an answer', () => {
    const random = createRandom(1n);
    const endless = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] };
    expect(sampleJson(endless, random, none)).toBeTypeOf('object');
    expect(sampleJson({ $ref: '#' }, random, none)).toBeTypeOf('string');
    const huge = { type: 'array', minItems: 1e9, items: { type: 'string', minLength: 10 } };
    expect((sampleJson(huge, random, none) as unknown[]).length).toBeLessThanOrEqual(5_000);
    expect((sampleJson({ type: 'string', minLength: 1e9 }, random, none) as string).length).toBe(50_000);
    const slow = { ...huge, items: { type: 'string', minLength: 20_000, pattern: '^(a{900}b*)+$' } };
    const computed = computing();
    expect(JSON.stringify(sampleJson(slow, random, none)).length).toBeLessThan(500_000);
    expect(computed()).toBeLessThan(500);
    const wide = { type: 'object', minProperties: 1e9, additionalProperties: { type: 'null' } };
    expect(Object.keys(sampleJson(wide, random, none) as object).length).toBeLessThanOrEqual(5_000);
  });

  it('speaks of what the conversation speaks of', () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', maximum: 10 }, unit: { enum: ['C'] } },
    };
    const hints = { words: ['Paris'], numbers: [500, 3.5, 3] };
    expect(sampleJson(schema, createRandom(1n), hints)).toEqual({ city: 'Paris', days: 3, unit: 'C' });
  });

  it('fits for schemas of any make-up', () => {
    const { schema } = fc.letrec<{ schema: object; leaf: object }>((tie) => ({
      leaf: fc.oneof(
        fc.record({ type: fc.constant('boolean') }),
        fc.record({ type: fc.constant('null') }),
        fc
          .tuple(fc.integer({ min: -50, max: 50 }), fc.nat(20))
          .map(([minimum, more]) => ({ type: 'integer', minimum, maximum: minimum + more })),
        fc
          .tuple(fc.nat(5), fc.nat(5))
          .map(([minLength, more]) => ({ type: 'string', minLength, maxLength: minLength + more })),
        fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 3 }) }),
      ),
      schema: fc.oneof(
        { maxDepth: 4 },
        tie('leaf'),
        fc
          .tuple(tie('schema'), fc.nat(2), fc.nat(2))
          .map(([items, minItems, more]) => ({ type: 'array', items, minItems, maxItems: minItems + more })),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), tie('schema'), { maxKeys: 3 }).map((properties) => ({
          type: 'object',
          properties,
          required: Object.keys(properties).slice(1),
          additionalProperties: false,
        })),
        fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      ),
    }));
    fc.assert(
      fc.property(schema, fc.bigInt(0n, 1000n), (given, seed) => {
        return createValidator(given).check(sampleJson(given, createRandom(seed), none));
      }),
      { numRuns: 300 },
    );
  });

  it('nothing that a client may send as a schema makes it fail', () => {
    const keywords = [
      'type properties required additionalProperties items prefixItems minItems maxItems uniqueItems contains',
      'minLength maxLength pattern format minimum maximum multipleOf enum const anyOf oneOf allOf $ref $defs',
      'minProperties maxProperties exclusiveMinimum exclusiveMaximum __proto__ a',
    ].flatMap((line) => line.split(' '));
    const words = ['object', 'array', 'string', 'integer', 'number', '#', '#/$defs/a', '#/%', '[', 'uuid'];
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        fc.oneof(fc.constantFrom(...words), fc.integer(), fc.boolean(), fc.constant(null), fc.double()),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...keywords), tie('value'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(value, (schema) => {
        return JSON.stringify(sampleJson(schema, createRandom(1n), none)) !== undefined;
      }),
      { numRuns: 3_000 },
    );
  });
});
