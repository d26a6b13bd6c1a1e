import { describe, expect, it } from 'vitest';
import { readWhole } from './whole.ts';
import type { Asked } from './wire.ts';

const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };

function answer(message: object, extra: object = {}, index?: number): object {
  const choice = { message: { role: 'assistant', ...message }, finish_reason: 'stop', ...extra };
  return {
    id: 'x',
    object: 'chat.completion',
    choices: [index === undefined ? choice : { index, ...choice }],
    usage,
  };
}

const read = (body: unknown, asked: Asked = { n: 1 }) =>
  readWhole(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), asked);

describe('a whole answer', () => {
  it('[CHAT-94] has its text, finish and usage, and no field of the engine', () => {
    const body = answer(
      { content: 'Hi', refusal: null, audio: null },
      { token_ids: null, stop_reason: null },
    );
    expect(read({ ...body, kv_transfer_params: {}, timings: {} })).toEqual({
      choices: [
        {
          text: 'Hi',
          reasoning: '',
          toolCalls: [],
          logprobs: undefined,
          finish: { reason: 'stop', native: 'stop' },
        },
      ],
      usage: { promptTokens: 3, completionTokens: 5, cachedTokens: 0, reasoningTokens: 0 },
    });
  });

  it.each(['reasoning', 'reasoning_content'])('[CHAT-78] has its thoughts out of %s', (name) => {
    expect(read(answer({ content: null, [name]: 'hm' })).choices[0]).toMatchObject({
      text: '',
      reasoning: 'hm',
    });
  });

  it('[CHAT-81] [CHAT-83] has tool calls with our ids and never without arguments', () => {
    const calls = [
      {
        id: 'chatcmpl-tool-0123456789abcdef',
        type: 'function',
        function: { name: 'a', arguments: '{"x":1}' },
      },
      { id: '', function: { name: 'b', arguments: '' } },
      { id: 'call_1', function: { name: 'c', arguments: { y: 2 } } },
    ];
    const [choice] = read(answer({ content: null, tool_calls: calls })).choices;
    expect(choice?.toolCalls).toEqual([
      { id: 'call_0123456789abcdef', name: 'a', arguments: '{"x":1}' },
      { id: expect.stringMatching(/^call_[0-9a-f]{24}$/), name: 'b', arguments: '{}' },
      { id: 'call_1', name: 'c', arguments: '{"y":2}' },
    ]);
    expect(choice?.finish).toEqual({ reason: 'tool_calls', native: 'stop' });
  });

  it('[CHAT-68] that repeats the text it goes on from is cut to the new one', () => {
    const said = (content: string) => read(answer({ content }), { n: 1, repeats: 'Hel' }).choices[0]?.text;
    expect([said('Hello'), said('lo')]).toEqual(['lo', 'lo']);
  });

  it('has log probabilities only when they were asked for', () => {
    const logprobs = { content: [{ token: 'Hi', logprob: -1, bytes: null, top_logprobs: [] }] };
    const body = answer({ content: 'Hi' }, { logprobs });
    expect(read(body).choices[0]?.logprobs).toBeUndefined();
    expect(read(body, { n: 1, topLogprobs: 0 }).choices[0]?.logprobs).toEqual([
      { token: 'Hi', logprob: -1, bytes: null, topLogprobs: [] },
    ]);
  });

  it('[CHAT-9] has as many choices as were asked for, in their order', () => {
    const [one, two] = [answer({ content: 'a' }, {}, 1), answer({ content: 'b' }, {}, 0)] as {
      choices: object[];
    }[];
    const both = { choices: [...one!.choices, ...two!.choices], usage };
    expect(read(both, { n: 2 }).choices.map(({ text }) => text)).toEqual(['b', 'a']);
    expect(() => read(both)).toThrow(expect.objectContaining({ kind: 'unreachable' }));
    expect(() => read(one, { n: 2 })).toThrow(expect.objectContaining({ kind: 'unreachable' }));
  });

  it.each([
    ['no JSON', '{"choices"', 'unreachable'],
    ['a page', '<html></html>', 'unreachable'],
    ['no object', '[]', 'unreachable'],
    ['null', 'null', 'unreachable'],
    ['no choices', { choices: [] }, 'unreachable'],
    ['no finish reason', answer({ content: 'x' }, { finish_reason: null }), 'unreachable'],
    ['an answer that was given up', answer({ content: 'x' }, { finish_reason: 'abort' }), 'unreachable'],
    ['a nameless call', answer({ tool_calls: [{ id: 'a', function: {} }] }), 'unreachable'],
    ['an error', { error: { message: 'x', code: 500 } }, 'unreachable'],
    ['a refusal', { object: 'error', message: 'too long', code: 400 }, 'invalid_request'],
  ])('that is %s is a failure', (_, body, kind) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ name: 'GatewayError', kind }));
  });
});
