import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { createValidator, toPath } from './schema.ts';

const Part = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({
    type: Type.Literal('image_url'),
    image_url: Type.Union([Type.String(), Type.Object({ url: Type.String() })]),
  }),
]);
const validator = createValidator(
  Type.Object({
    content: Type.Optional(Type.Union([Type.String(), Type.Array(Part)])),
    n: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 9 }), Type.Null()])),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 3, pattern: '^[a-z]*$' })),
    options: Type.Optional(
      Type.Object({ steps: Type.Optional(Type.Integer()) }, { additionalProperties: false }),
    ),
    tags: Type.Optional(Type.Record(Type.String(), Type.Number(), { maxProperties: 1 })),
    stop: Type.Optional(Type.Array(Type.String(), { maxItems: 1 })),
    share: Type.Optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })),
    mode: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
  }),
);
const said = (value: unknown) => {
  expect(validator.check(value)).toBe(false);
  const { path, message } = validator.problem(value);
  return `${path} ${message}`;
};

describe('a problem in words', () => {
  it('names the path as a person writes it', () => {
    expect(toPath(['messages', 2, 'content'])).toBe('messages[2].content');
    expect(toPath([])).toBe('');
    expect(toPath(['a/b', 'c\nd', 0, 1])).toBe('a/b.c\\u{a}d[0][1]');
  });

  it('speaks of the branch of a union that was meant', () => {
    expect(said({ content: [{ type: 'text', text: 1 }] })).toBe('content[0].text must be a string');
    expect(said({ content: [{ type: 'text' }] })).toBe('content[0].text is required');
    expect(said({ content: [{ type: 'image_url', image_url: {} }] })).toBe(
      'content[0].image_url.url is required',
    );
    expect(said({ content: [{ type: 'image_url' }] })).toBe('content[0].image_url is required');
    expect(said({ content: [{ type: 'sound' }] })).toBe(
      'content[0].type must be one of "text", "image_url", not "sound"',
    );
    expect(said({ content: ['x'] })).toBe('content[0] must be an object');
    expect(said({ content: 5 })).toBe('content must be a string or an array');
    expect(said({ mode: 'c' })).toBe('mode must be one of "a", "b"');
  });

  it('finds the field inside of an object that may be null', () => {
    const level = Type.Union([Type.Enum(['low', 'high']), Type.Null()]);
    const Thinking = Type.Object({ effort: Type.Optional(level) });
    const nullable = createValidator(Type.Object({ thinking: Type.Union([Thinking, Type.Null()]) }));
    expect(nullable.problem({ thinking: { effort: 'x' } })).toEqual({
      path: 'thinking.effort',
      message: 'must be one of "low", "high"',
    });
    expect(nullable.problem({ thinking: 5 })).toEqual({ path: 'thinking', message: 'must be an object' });
  });

  it('speaks of the branch that was meant, also when it is the last of many', () => {
    const branches = Array.from({ length: 12 }, (_, index) =>
      Type.Object({ type: Type.Literal(`t${index}`), [`field${index}`]: Type.String() }),
    );
    const many = createValidator(Type.Object({ part: Type.Union(branches) }));
    expect(many.problem({ part: { type: 't11' } })).toEqual({ path: 'part.field11', message: 'is required' });
    expect(many.problem({ part: { type: 'x' } }).path).toBe('part.type');
  });

  it('names the types that a union knows, also beside a branch without one', () => {
    const Item = Type.Union([
      Type.Object({
        type: Type.Optional(Type.Union([Type.Literal('message'), Type.Null()])),
        role: Type.String(),
      }),
      Type.Object({ type: Type.Literal('call'), mode: Type.Enum(['a', 'b']) }),
      Type.Object({ type: Type.Optional(Type.Null()), id: Type.String() }, { additionalProperties: false }),
    ]);
    const items = createValidator(Type.Object({ input: Type.Array(Item) }));
    const told = (item: unknown) => {
      const { path, message } = items.problem({ input: [item] });
      return `${path} ${message}`;
    };
    for (const item of [{ type: 'search' }, { type: 'search', id: 'x', status: 'done' }])
      expect(told(item)).toBe('input[0].type must be one of "message", "call", not "search"');
    expect(told({ type: 5 })).toBe('input[0].type must be one of "message", "call"');
    expect(told({ type: 'x'.repeat(5_000) })).toContain(`not "${'x'.repeat(100)}…"`);
    // What only one branch has does not tell them apart.
    expect(told({ type: 'call', mode: 'c' })).toBe('input[0].mode must be one of "a", "b"');
    expect(told({})).toBe('input[0].role is required');
  });

  it('cuts the names that a client made up', () => {
    const long = 'k'.repeat(1_000_000);
    expect(said({ options: { [long]: 1 } })).toBe(`options.${'k'.repeat(100)}… is not a known field`);
    expect(said({ options: { 'a\n\u001b': 1 } })).toBe('options.a\\u{a}\\u{1b} is not a known field');
  });

  it('gives the limit', () => {
    expect(said({ n: 0 })).toBe('n must be at least 1');
    expect(said({ n: 10 })).toBe('n must be at most 9');
    expect(said({ n: 'x' })).toBe('n must be an integer');
    expect(said({ name: '' })).toBe('name must not be empty');
    expect(said({ name: 'abcd' })).toBe('name must have at most 3 characters');
    expect(said({ name: 'A' })).toBe('name must match ^[a-z]*$');
    expect(said({ stop: ['a', 'b'] })).toBe('stop must have at most 1 item');
    expect(said({ tags: { a: 1, b: 2 } })).toBe('tags must have at most 1 entries');
    expect(said({ share: 0 })).toBe('share must be greater than 0');
    expect(said({ share: 1 })).toBe('share must be less than 1');
    expect(said({ options: { step: 1 } })).toBe('options.step is not a known field');
  });

  it('of a value that is no object at all has an empty path', () => {
    expect(said(5)).toBe(' must be an object');
    expect(said(null)).toBe(' must be an object');
  });
});

it('what a schema says of a misfit is told instead of its parts', () => {
  const whole = Type.Union([Type.Integer(), Type.String({ pattern: '^\\d+$' })], {
    told: 'must be a whole number',
  });
  const validator = createValidator(
    Type.Object({ seconds: Type.Optional(Type.Union([whole, Type.Null()])) }),
  );
  expect(validator.check({ seconds: '6' })).toBe(true);
  for (const seconds of [6.5, '6.5', 'abc', {}, []])
    expect(validator.problem({ seconds })).toEqual({ path: 'seconds', message: 'must be a whole number' });
});
