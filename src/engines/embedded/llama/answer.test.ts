import { describe, expect, it } from 'vitest';
import type { TokenLogprob } from '../../contract/chat.ts';
import { createAnswer } from './answer.ts';
import { findToolFormat } from './tool-format.ts';
import type { AnswerPart } from './types.ts';

interface Given {
  stops?: string[];
  template?: string;
  isThinking?: boolean;
  isContinued?: boolean;
  limit?: number;
  logprobs?: boolean;
}

const describedToken = (token: string): TokenLogprob => ({
  token,
  logprob: -1,
  bytes: null,
  topLogprobs: [],
});

/** What comes of tokens with these texts. */
function answer(tokens: readonly string[], given: Given = {}) {
  const parts: AnswerPart[] = [];
  const { limit = 1_000, template = '' } = given;
  const made = createAnswer({
    choice: 0,
    emit: (part) => parts.push(part),
    stops: given.stops,
    toolFormat: findToolFormat(template),
    isThinking: given.isThinking ?? false,
    isContinued: given.isContinued ?? false,
  });
  for (const text of tokens) {
    made.add(given.logprobs === true ? { text, logprobs: [describedToken(text)] } : { text });
    if (made.isStopped || made.tokens >= limit) break;
  }
  made.end({ text: '' }, limit);
  const joined = (type: 'text' | 'reasoning') =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  return {
    text: joined('text'),
    reasoning: joined('reasoning'),
    calls: parts.flatMap((part) => (part.type === 'tool' ? [[part.call?.name, part.text]] : [])),
    ids: parts.flatMap((part) => (part.type === 'tool' ? [part.call?.id] : [])),
    described: parts
      .flatMap((part) => (part.type === 'text' ? (part.logprobs ?? []) : []))
      .map(({ token }) => token),
    finish: parts.flatMap((part) => (part.type === 'finish' ? [part.finish] : [])),
    pieces: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    tokens: made.tokens,
    reasoningTokens: made.reasoningTokens,
  };
}

/** Every way to cut a text in two, and character by character. */
function cuts(text: string): string[][] {
  return [[...text], ...Array.from({ length: text.length }, (_, at) => [text.slice(0, at), text.slice(at)])];
}

const hermes = 'tools <tool_call>';
const mistral = 'tools [TOOL_CALLS]';
const llama3 = 'tools <|python_tag|>';

describe('an answer', () => {
  it('goes out as it comes, and ends with the model', () => {
    const made = answer(['Paris', ' is', ' it.']);
    expect(made.pieces).toEqual(['Paris', ' is', ' it.']);
    expect(made.finish).toEqual([{ reason: 'stop', native: 'eog' }]);
    expect(made.tokens).toBe(3);
  });

  it('is cut by its limit', () => {
    const made = answer(['a', 'b', 'c'], { limit: 2 });
    expect([made.text, made.finish[0]?.reason]).toEqual(['ab', 'length']);
  });

  it('begins without the line break that a template left to the model, unless it goes on with something', () => {
    expect(answer(['\n', 'Hi']).text).toBe('Hi');
    expect(answer(['\n\n', 'Hi']).text).toBe('Hi');
    expect(answer(['  ', 'code']).text).toBe('  code');
    expect(answer(['\n', 'Hi'], { isContinued: true }).text).toBe('\nHi');
    expect(answer(['\n']).text).toBe('');
  });

  it('ends before a stop sequence, wherever that lies between tokens, and says which', () => {
    for (const tokens of cuts('one END two')) {
      const made = answer(tokens, { stops: ['STOP', 'END', 'ND'] });
      expect(made.text).toBe('one ');
      expect(made.finish).toEqual([{ reason: 'stop', native: 'stop', stopSequence: 'END' }]);
    }
  });

  it('lets out what looked like a stop sequence and was none', () => {
    for (const tokens of cuts('one EN two E')) {
      const made = answer(tokens, { stops: ['END'] });
      expect([made.text, made.finish[0]?.stopSequence]).toEqual(['one EN two E', undefined]);
    }
  });

  it('keeps the log probabilities of its tokens with their text, and none of those after a stop', () => {
    expect(answer(['\n', '<', 'b', ' c'], { logprobs: true }).described).toEqual(['\n', '<', 'b', ' c']);
    expect(answer(['a', ' b', ' EN', 'D'], { logprobs: true, stops: [' END'] }).described).toEqual([
      'a',
      ' b',
    ]);
  });

  it('has its thoughts apart, and counts them', () => {
    for (const tokens of cuts('<think>\nWell.</think>\n\nParis')) {
      const made = answer(tokens);
      expect([made.reasoning.trim(), made.text, made.calls]).toEqual(['Well.', 'Paris', []]);
    }
    const begun = answer(['Well', '.', '</think>', 'Paris'], { isThinking: true });
    expect([begun.reasoning, begun.text, begun.reasoningTokens]).toEqual(['Well.', 'Paris', 3]);
    expect(answer(['<think>', 'Hm'], { limit: 2 })).toMatchObject({ reasoning: 'Hm', text: '' });
    expect(answer(['a ', '<think>', 'b']).text).toBe('a <think>b');
  });

  it('has calls in the way that the template teaches', () => {
    const call = '{"name": "get_weather", "arguments": {"city": "Paris"}}';
    for (const tokens of cuts(
      `Let me see. <tool_call>\n${call}\n</tool_call>\n<tool_call>${call}</tool_call>`,
    )) {
      const made = answer(tokens, { template: hermes });
      expect(made.calls).toEqual([
        ['get_weather', '{"city":"Paris"}'],
        ['get_weather', '{"city":"Paris"}'],
      ]);
      expect([made.text, made.finish[0]?.reason]).toEqual(['Let me see. ', 'tool_calls']);
      expect(new Set(made.ids).size).toBe(2);
    }
    for (const tokens of cuts(`[TOOL_CALLS][${call}]`)) {
      expect(answer(tokens, { template: mistral }).calls).toEqual([['get_weather', '{"city":"Paris"}']]);
    }
    for (const tokens of cuts('{"name": "get_weather", "parameters": {"city": "Paris"}}')) {
      expect(answer(tokens, { template: llama3 }).calls).toEqual([['get_weather', '{"city":"Paris"}']]);
    }
  });

  it('shows as text what only looked like a call', () => {
    for (const tokens of cuts('<tool_call>nonsense</tool_call>')) {
      expect(answer(tokens, { template: hermes })).toMatchObject({
        text: '<tool_call>nonsense</tool_call>',
        calls: [],
      });
    }
    expect(answer(['{"a":', ' 1}'], { template: llama3 })).toMatchObject({ text: '{"a": 1}', calls: [] });
  });

  it('a template without tools teaches no way to call them', () => {
    expect(findToolFormat("{{ message['content'] }}")).toBeUndefined();
  });
});
