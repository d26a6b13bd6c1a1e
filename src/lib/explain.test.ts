import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { computing } from '../../test/support/computing.ts';
import { createValidator } from './schema.ts';

const Part = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({ type: Type.Literal('image'), url: Type.String() }),
]);
const validator = createValidator(
  Type.Object({
    messages: Type.Array(
      Type.Object({
        role: Type.Enum(['user', 'tool']),
        content: Type.Union([Type.String(), Type.Array(Part)]),
      }),
      { minItems: 1 },
    ),
    stop: Type.Optional(Type.Array(Type.String(), { maxItems: 4 })),
    n: Type.Optional(Type.Integer()),
  }),
);
const good = { role: 'user', content: 'x' };
const part = { type: 'text', text: 'x' };
const said = (value: unknown) => {
  expect(validator.check(value)).toBe(false);
  const computed = computing();
  const { path, message } = validator.problem(value);
  expect(computed(), 'explaining is quick').toBeLessThan(500);
  return `${path} ${message}`;
};

describe('what is wrong with one of very many', () => {
  it('is found at its own place', () => {
    const messages = Array.from({ length: 300_000 }, () => good);
    expect(said({ messages: messages.with(271_828, { role: 5, content: 'x' } as never) })).toBe(
      'messages[271828].role must be one of "user", "tool"',
    );
    expect(said({ messages: messages.with(0, { role: 'user' } as never) })).toBe(
      'messages[0].content is required',
    );
    const content = Array.from({ length: 300_000 }, () => part).with(299_999, {
      type: 'text',
      text: 1,
    } as never);
    expect(said({ messages: [...messages.slice(0, 40), { role: 'user', content }] })).toBe(
      'messages[40].content[299999].text must be a string',
    );
  });

  it('is told when there are simply too many, or the mistake stands beside them', () => {
    const messages = Array.from({ length: 300_000 }, () => good);
    expect(said({ messages, n: 'x' })).toBe('n must be an integer');
    expect(said({ messages: [good], stop: Array.from({ length: 300_000 }, () => 'x') })).toBe(
      'stop must have at most 4 items',
    );
    expect(said(messages)).toBe(' must be an object');
  });

  it('is told without trying what can be left out: unknown fields and long lists beside it cost nothing', () => {
    // 3,000 lists in fields that nobody knows, beside 60,000 messages: it took 28 s.
    const lists = Object.fromEntries(Array.from({ length: 190 }, (_, i) => [`f${i}`, Array(17).fill(1)]));
    const unknown = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`o${i}`, lists]));
    const messages = Array.from({ length: 60_000 }, () => ({ ...good, unknown }));
    expect(said({ unknown, messages, n: 'x' })).toBe('n must be an integer');
    expect(said({ unknown, messages: [...messages, 5] })).toBe('messages[60000] must be an object');
  });

  it('is told when no branch of a union fits all of a long list', () => {
    const lists = createValidator(
      Type.Union([Type.String(), Type.Array(Type.Integer()), Type.Array(Type.String())]),
    );
    const mixed = [...Array(150_000).fill(1), ...Array(150_000).fill('x')];
    const computed = computing();
    // The branch that fits the longest was meant.
    expect(lists.problem(mixed)).toEqual({ path: '[150000]', message: 'must be an integer' });
    expect(lists.problem([true])).toEqual({ path: '[0]', message: 'must be an integer or a string' });
    expect(computed()).toBeLessThan(500);
  });

  it('is told of an object with very many entries', () => {
    const entries = (count: number, last: unknown) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i === count - 1 ? last : 1]));
    const record = createValidator(Type.Record(Type.String(), Type.Integer()));
    const few = createValidator(Type.Record(Type.String(), Type.Integer(), { maxProperties: 9 }));
    const computed = computing();
    expect(record.problem(entries(100_000, 'x'))).toEqual({ path: 'k99999', message: 'must be an integer' });
    expect(few.problem(entries(100_000, 'x'))).toEqual({ path: '', message: 'must have at most 9 entries' });
    expect(computed()).toBeLessThan(1_000);
  });
});
