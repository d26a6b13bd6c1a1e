import { expect, it } from 'vitest';
import type { ChatResult } from '../contract/chat.ts';
import { collectAnswer } from './collect.ts';

it('an answer is put together from its parts, log probabilities included, each answer by itself', () => {
  let result: ChatResult | undefined;
  const listener = collectAnswer(2, (_, all) => {
    result = all;
  });
  const token = (text: string) => ({
    token: text,
    logprob: -1,
    bytes: [...Buffer.from(text)],
    topLogprobs: [],
  });
  const given = ['a', 'b', 'c'].map(token);
  for (const each of given) {
    listener.part({ type: 'text', choice: 0, text: each.token, logprobs: [each] });
    listener.part({ type: 'text', choice: 1, text: each.token });
  }
  listener.end({ promptTokens: 1, completionTokens: 6, cachedTokens: 0, reasoningTokens: 0 });
  expect(result?.choices.map(({ text }) => text)).toEqual(['abc', 'abc']);
  expect(result?.choices.map(({ logprobs }) => logprobs)).toEqual([given, undefined]);
});
