import Type from 'typebox';
import { describe, expect, it } from 'vitest';
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
  const startedAt = performance.now();
  const { path, message } = validator.problem(value);
  expect(performance.now() - startedAt, 'explaining is quick').toBeLessThan(1_500);
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
});
