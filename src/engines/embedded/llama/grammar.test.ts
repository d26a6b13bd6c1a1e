import fc from 'fast-check';
import type { Llama } from 'node-llama-cpp';
import { describe, expect, it } from 'vitest';
import { computing } from '../../../../test/support/computing.ts';
import { createMatcher } from '../../../../test/support/gbnf.ts';
import { GatewayError } from '../../../lib/errors.ts';
import { createGrammar, toGrammarText } from './grammar.ts';
import { GrammarBudget, mostBytes, mostRules } from './grammar-budget.ts';
import { GrammarError } from './grammar-error.ts';
import { JsonGrammar, toGrammar } from './json-grammar.ts';
import { findToolFormat } from './tool-format.ts';
import type { ChatInput } from './types.ts';

const inputOf = (schema: unknown) =>
  ({ responseFormat: { type: 'json_schema', name: 'x', schema } }) as unknown as ChatInput;

function thrownBy(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    return error as GatewayError;
  }
  throw new Error('it was taken');
}

/** What a client reads about a schema that is refused. */
function refusal(schema: unknown): string {
  const error = thrownBy(() => toGrammarText(inputOf(schema), undefined));
  expect(error).toMatchObject({ kind: 'invalid_request', param: 'response_format.json_schema.schema' });
  return error.message;
}

const timesOf = (count: number, toEntry: (index: number) => [string, unknown]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => toEntry(index)));

describe('a schema that nothing fits', () => {
  it.each([
    [{ type: 'string', minLength: 5, maxLength: 2 }, 'minLength'],
    [{ allOf: [{ type: 'string', minLength: 5 }, { maxLength: 2 }] }, 'minLength'],
    [{ type: 'string', minLength: -1 }, 'minLength'],
    [{ type: 'string', maxLength: 1.5 }, 'maxLength'],
    [{ type: 'string', minLength: '2' }, 'minLength'],
    [{ type: 'array', minItems: 3, maxItems: 1 }, 'minItems'],
    [{ type: 'array', minItems: -1 }, 'minItems'],
    [{ type: 'array', minItems: 2, maxItems: 0 }, 'minItems'],
    [{ type: 'array', items: false, minItems: 1 }, 'minItems'],
    [{ type: 'object', minProperties: 3, maxProperties: 1 }, 'minProperties'],
    [{ type: 'object', maxProperties: -1 }, 'maxProperties'],
    [{ type: 'object', additionalProperties: false, minProperties: 1 }, 'minProperties'],
    [{ type: 'object', additionalProperties: false, required: ['a'] }, 'required'],
    [{ type: 'string', pattern: '^a{5,2}$' }, 'a{5,2}'],
    [{ type: 'string', pattern: '^[z-a]$' }, '[z-a]'],
    [{ type: 'integer', minimum: 5, maximum: 2 }, 'minimum and maximum'],
    [{ type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 2 }, 'exclusiveMinimum'],
    [{ type: 'number', minimum: 0.5, exclusiveMaximum: 0.5 }, 'exclusiveMaximum'],
    [{ type: 'integer', enum: ['a'] }, 'enum'],
  ])('%j is refused by name', (schema, keyword) => {
    expect(refusal(schema)).toContain(keyword);
    expect(refusal({ type: 'object', properties: { deep: schema } })).toContain('properties.deep');
  });
});

describe('a schema that is none', () => {
  it.each([
    [{ allOf: [null] }, 'allOf[0]'],
    [{ anyOf: [] }, 'anyOf'],
    [{ anyOf: 'string' }, 'anyOf'],
    [{ oneOf: [[]] }, 'oneOf[0]'],
    [{ enum: [] }, 'enum'],
    [{ enum: 'abc' }, 'enum'],
    [{ type: [] }, 'type'],
    [{ type: null }, 'type'],
    [{ type: 'array', prefixItems: 'abc' }, 'prefixItems'],
    [{ type: 'array', items: 5 }, 'items'],
    [{ type: 'object', properties: ['a'] }, 'properties'],
    [{ type: 'object', properties: { a: { items: { type: 7 } } } }, 'properties.a.items.type'],
    [{ type: 'object', properties: { a: null } }, 'properties.a'],
    [{ type: 'object', required: 'a' }, 'required'],
    [{ type: 'string', pattern: 5 }, 'pattern'],
    [{ type: 'string', pattern: '^(a' }, 'pattern'],
    [{ type: 'string', pattern: '^(a|)*$' }, '(a|)*'],
    [{ type: 'string', pattern: `${'('.repeat(3_000)}a${')'.repeat(3_000)}` }, 'pattern'],
    [{ type: 'string', pattern: `${'('.repeat(1_000)}a${')'.repeat(1_000)}` }, 'deep'],
    [{ $ref: '#/%' }, '#/%'],
    [{ $ref: '#' }, '#'],
    [{ $ref: '#/constructor' }, '#/constructor'],
    [{ $ref: 5 }, '$ref'],
    [{ $ref: '#', minLength: 1 }, 'itself'],
    [{ allOf: [{ $ref: '#' }], type: 'object' }, 'deep'],
    [{ anyOf: [{ $ref: '#' }, { type: 'string' }] }, 'itself'],
    [{ $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, 'itself'],
    [{ properties: { a: { $ref: '#/required' } }, required: ['a'] }, '#/required'],
    [{ type: 'integer', minimum: 1e21 }, 'minimum'],
    [{ type: 'integer', maximum: 1e300 }, 'maximum'],
    [{ type: 'number', exclusiveMinimum: Number.POSITIVE_INFINITY }, 'exclusiveMinimum'],
    [{ type: 'number', minimum: 1e-9, maximum: 1 }, 'decimals'],
    [null, 'JSON schema'],
    ['string', 'JSON schema'],
    [false, 'false'],
  ])('%j is refused by its place', (schema, place) => {
    expect(refusal(schema)).toContain(place);
  });

  it('keywords beside fixed values are refused, and so are lengths beside a pattern or a format', () => {
    expect(refusal({ enum: ['a', 'bb'], minLength: 2 })).toContain('minLength beside enum');
    expect(refusal({ const: 'a', pattern: 'b' })).toContain('pattern beside const');
    expect(refusal({ const: 'a', enum: ['b'] })).toContain('const beside enum');
    expect(refusal({ type: 'string', format: 'date', minLength: 11 })).toContain('format');
    expect(refusal({ type: 'string', format: 'date', pattern: '^a' })).toContain('format');
    expect(refusal({ type: 'object', patternProperties: { '^b': {} } })).toContain('patternProperties');
    expect(createMatcher(toGrammar({ type: 'string', format: 'constructor' }))('"x"')).toBe(true);
  });

  it('whatever is sent, it is a grammar that can be read or a refusal', () => {
    const keyword = fc.constantFrom(
      ...['type', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf', 'properties', 'required', 'items'],
      ...['prefixItems', 'minItems', 'maxItems', 'minLength', 'maxLength', 'pattern', 'format', 'minimum'],
      ...['maximum', 'exclusiveMinimum', 'additionalProperties', 'minProperties', '$defs', '__proto__'],
    );
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof({ maxDepth: 4 }, tie('leaf'), tie('list'), fc.dictionary(keyword, tie('schema'))),
      list: fc.array(tie('schema'), { maxLength: 3 }),
      leaf: fc.oneof(
        fc.constantFrom('object', 'array', 'string', 'integer', 'number', '#', '^a+$', 'date', null, true),
        fc.integer({ min: -3, max: 5 }),
        fc.string({ maxLength: 4 }),
      ),
    }));
    fc.assert(
      fc.property(schema, (given) => {
        try {
          createMatcher(toGrammar(given));
        } catch (error) {
          expect(error).toBeInstanceOf(GrammarError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('of a tool is refused with the name of the tool', () => {
    const format = findToolFormat('tools <tool_call>');
    const parameters = { type: 'object', properties: { a: { type: 'string', minLength: 2, maxLength: 1 } } };
    const input = { tools: [{ name: 'lookup', parameters }], toolChoice: 'required' };
    const error = thrownBy(() => toGrammarText(input as unknown as ChatInput, format));
    expect(error).toMatchObject({ kind: 'invalid_request', param: 'tools' });
    expect(error.message).toContain('lookup.parameters.properties.a');
  });

  it('that llama.cpp does not read is the fault of the request', async () => {
    const llama = { createGrammar: () => Promise.reject(new Error('Failed to parse grammar')) };
    const failing = createGrammar(llama as unknown as Llama, inputOf({ type: 'string' }), undefined);
    await expect(failing).rejects.toMatchObject({ kind: 'invalid_request' });
  });
});

describe('a schema that is too large', () => {
  it.each([
    [
      'properties',
      { type: 'object', properties: timesOf(30_000, (index) => [`p${index}`, { type: 'null' }]) },
    ],
    ['names', { type: 'object', properties: timesOf(300, (index) => [`${index}${'x'.repeat(999)}`, {}]) }],
    ['values', { enum: Array.from({ length: 50_000 }, (_, index) => `value ${index}`) }],
    [
      'lengths',
      {
        type: 'object',
        properties: timesOf(20, (index) => [`p${index}`, { type: 'string', maxLength: 980 + index }]),
      },
    ],
    ['alternatives', { anyOf: Array.from({ length: 5_000 }, (_, index) => ({ const: index })) }],
    ['all of many', { allOf: Array.from({ length: 150_000 }, () => ({ type: 'object', minProperties: 0 })) }],
    [
      'ways that meet',
      {
        $defs: {
          l0: { type: 'null' },
          ...timesOf(40, (index) => [
            `l${index + 1}`,
            { anyOf: [{ $ref: `#/$defs/l${index}` }, { anyOf: [{ $ref: `#/$defs/l${index}` }] }] },
          ]),
        },
        $ref: '#/$defs/l24',
      },
    ],
    [
      'alternatives of alternatives',
      {
        $defs: timesOf(30, (index) => [
          `l${index}`,
          index === 0
            ? { type: 'object' }
            : {
                type: 'object',
                properties: { [`p${index}`]: {} },
                anyOf: [
                  { $ref: `#/$defs/l${index - 1}`, required: ['a'] },
                  { $ref: `#/$defs/l${index - 1}`, required: ['b'] },
                ],
              },
        ]),
        $ref: '#/$defs/l29',
      },
    ],
  ])('(%s) is refused in less than a second, and says so', (_, schema) => {
    const computed = computing();
    expect(refusal(schema)).toMatch(/too large|said twice|deep/);
    expect(computed()).toBeLessThan(1_000);
  });

  it('is refused also when only the clock says so', () => {
    let time = 0;
    const grammar = new JsonGrammar(new GrammarBudget(() => (time += 1_000)));
    const schema = { type: 'object', properties: timesOf(900, (index) => [`p${index}`, {}]) };
    expect(() => grammar.schema(schema)).toThrow('too long');
  });

  it('schemas as large as real ones become grammars within the bounds', () => {
    const text = { type: 'string', maxLength: 900 };
    const grammar = toGrammar({ type: 'object', properties: timesOf(1_000, (index) => [`p${index}`, text]) });
    expect(grammar.length).toBeLessThan(mostBytes);
    expect(grammar.split('\n').length).toBeLessThan(mostRules);
    expect(createMatcher(toGrammar({ enum: Array.from({ length: 1_000 }, (_, each) => each) }))('999')).toBe(
      true,
    );
  });
});
