import type { Token } from 'node-llama-cpp';
import { describe, expect, it } from 'vitest';
import { createTokenReader } from './token-reader.ts';

/** A model whose tokens are bytes; like some, it writes no space at the very beginning. */
const model = {
  detokenize(tokens: readonly Token[], _marks?: boolean, before: readonly Token[] = []): string {
    const text = Buffer.from(tokens as readonly number[]).toString('utf8');
    return before.length === 0 ? text.replace(/^ /, '') : text;
  },
};

const bytes = (text: string) => [...Buffer.from(text)] as Token[];

function read(text: string, before: readonly Token[] = []) {
  const reader = createTokenReader({ model, hasMarks: false, topLogprobs: undefined, before });
  return [...bytes(text).map((token) => reader.read({ token }).text), reader.rest().text];
}

describe('tokens as text', () => {
  it('a character comes out once all of its tokens are there', () => {
    expect(read('aü€')).toEqual(['a', '', 'ü', '', '', '€', '']);
    expect(read('👍').at(3)).toBe('👍');
  });

  it('what never became a character comes out at the end', () => {
    const reader = createTokenReader({ model, hasMarks: false, topLogprobs: undefined, before: [] });
    expect(reader.read({ token: 0xe2 as Token }).text).toBe('');
    expect(reader.rest().text).toBe('\ufffd');
  });

  it('a text that goes on keeps its first space', () => {
    expect(read(' b').join('')).toBe('b');
    expect(read(' b', bytes('a')).join('')).toBe(' b');
  });

  it('log probabilities come with the text, likeliest first, with bytes where there are any', () => {
    const reader = createTokenReader({ model, hasMarks: false, topLogprobs: 2, before: [] });
    const [a, b, half] = [...bytes('ab'), 0xe2 as Token] as [Token, Token, Token];
    const probabilities = new Map([
      [b, 0.5],
      [half, 0.25],
      [a, 0.25],
    ]);
    const { logprobs } = reader.read({ token: a, probabilities });
    expect(logprobs).toEqual([
      {
        token: 'a',
        logprob: Math.log(0.25),
        bytes: [97],
        topLogprobs: [
          { token: 'b', logprob: Math.log(0.5), bytes: [98] },
          { token: '\ufffd', logprob: Math.log(0.25), bytes: null },
        ],
      },
    ]);
    const impossible = reader.read({ token: a, probabilities: new Map([[b, 1]]) });
    expect(impossible.logprobs?.[0]?.logprob).toBe(-9999);
  });
});
