/** Chat completions from end to end with the sandbox engine: the rules that need an engine that answers. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChatCompletion } from '../../src/api/chat/schema.ts';
import { builtinEngines } from '../../src/config/builtin-models.ts';
import { createValidator } from '../../src/lib/schema.ts';
import { createChatGateway, recipeSchema, weatherSchema } from '../support/chat-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { createMockEngine } from '../support/mock-engine.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createChatGateway();
});
afterAll(() => gateway.close());

const shape = createValidator(ChatCompletion);
const say = (content: string) => [{ role: 'user', content }];

const post = (payload: object) =>
  gateway.inject({
    method: 'POST',
    url: '/v1/chat/completions',
    payload: { messages: say('Count to 9'), ...payload },
  });

/** The answer of a request that succeeds, held against the declared shape. */
async function ask(payload: object) {
  const answer = await post(payload);
  expect(answer.status, answer.body).toBe(200);
  const body: unknown = answer.json();
  if (!shape.check(body)) throw new Error(JSON.stringify(shape.problem(body)));
  return body;
}

async function choiceOf(payload: object) {
  const { choices } = await ask(payload);
  return choices[0]!;
}

const textOf = async (payload: object) => (await choiceOf(payload)).message.content ?? '';
const counted = '1, 2, 3, 4, 5, 6, 7, 8, 9.';
const refusal = async (payload: object) => {
  const answer = await post(payload);
  const { code, param, message } = answer.json().error;
  return { status: answer.status, code, param, message };
};

describe('the model', () => {
  it('[CHAT-2] omitted is the default model', async () => {
    expect((await ask({})).model).toBe('sandbox-chat');
    expect((await ask({ model: null })).model).toBe('sandbox-chat');
  });

  it('[CHAT-3] [CHAT-4] a -normalize suffix is ignored, and a :variant is parsed apart', async () => {
    for (const model of ['sandbox-chat-normalize', 'sandbox-chat:free', 'sandbox-chat:express']) {
      const body = await ask({ model });
      expect([body.model, body.choices[0]?.message.content], model).toEqual(['sandbox-chat', counted]);
    }
  });

  it('[CHAT-5] :express derives a thinking budget where budgets are enforced, and keeps a given one', async () => {
    const thoughtsOf = async (fields: object) =>
      (await ask({ max_completion_tokens: 400, reasoning_effort: 'ultra', ...fields })).usage
        .completion_tokens_details.reasoning_tokens;
    const express = await thoughtsOf({ model: 'sandbox-reasoner:express' });
    expect(express).toBe(100);
    expect(await thoughtsOf({ model: 'sandbox-reasoner' })).toBe(400);
    expect(await thoughtsOf({ model: 'sandbox-reasoner:express', reasoning: { max_tokens: 33 } })).toBe(33);
  });

  it('[CHAT-6] :express derives no budget on a model that does not enforce them', async () => {
    const thoughtsOf = async (model: string) =>
      (await ask({ model, max_completion_tokens: 100, reasoning_effort: 'high' })).usage
        .completion_tokens_details.reasoning_tokens;
    expect(await thoughtsOf('loose-thinker:express')).toBe(100);
    expect(await thoughtsOf('loose-thinker')).toBe(100);
  });
});

describe('sampling', () => {
  it('[CHAT-9] n defaults to 1 and gives that many choices, numbered from 0', async () => {
    expect((await ask({})).choices.map(({ index }) => index)).toEqual([0]);
    const three = await ask({ n: 3, messages: say('Tell me about tea') });
    expect(three.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(three.choices.map(({ message }) => message.content)).size).toBe(3);
    expect(three.usage.completion_tokens).toBeGreaterThan(60);
  });

  it('[CHAT-14] temperature 0 gives the same text twice, whatever the seed', async () => {
    const request = { messages: say('Tell me about tea'), temperature: 0 };
    const first = await textOf({ ...request, seed: 1 });
    expect(await textOf({ ...request, seed: 1 })).toBe(first);
    expect(await textOf({ ...request, seed: 2 })).toBe(first);
    const others = await Promise.all(
      [1, 2, 3, 4].map((seed) => textOf({ ...request, temperature: 1, seed })),
    );
    expect(new Set(others).size).toBeGreaterThan(1);
  });
});

describe('the end of an answer', () => {
  it('[CHAT-19] [CHAT-85] a stop string works as a list of one, and ends with stop', async () => {
    for (const stop of [', 5', [', 5'], ['x', ', 5']]) {
      const { message, finish_reason: reason } = await choiceOf({ stop });
      expect([message.content, reason]).toEqual(['1, 2, 3, 4', 'stop']);
    }
    expect((await choiceOf({})).finish_reason).toBe('stop');
  });

  it('[CHAT-21] [CHAT-86] max_tokens is max_completion_tokens, which wins, and reaching it is length', async () => {
    for (const limit of [
      { max_tokens: 5 },
      { max_completion_tokens: 5 },
      { max_tokens: 9, max_completion_tokens: 5 },
    ]) {
      const body = await ask(limit);
      expect(body.choices[0]).toMatchObject({ message: { content: '1, 2, 3' }, finish_reason: 'length' });
      expect(body.usage.completion_tokens).toBe(5);
    }
  });

  it('[CHAT-24] [CHAT-25] a limit that does not fit is cut to window minus prompt minus 32', async () => {
    const messages = say('Count to 500');
    for (const max of [undefined, 5000, 259]) {
      const { choices, usage } = await ask({ model: 'small', messages, max_completion_tokens: max });
      expect(usage.prompt_tokens).toBe(10);
      expect(usage.completion_tokens).toBe(max === 259 ? 258 : 300 - 10 - 32);
      expect(choices[0]?.finish_reason).toBe('length');
    }
    const within = await ask({ model: 'small', messages, max_completion_tokens: 257 });
    expect(within.usage.completion_tokens).toBe(257);
  });

  it('[CHAT-26] a prompt that alone fills the window is a 400', async () => {
    const fill = (words: number) => ({ model: 'small', messages: say('word '.repeat(words).trim()) });
    // 7 tokens stand around the words; 300 − 32 − 1 is the longest prompt that leaves a token.
    const last = await ask(fill(260));
    expect([last.usage.prompt_tokens, last.usage.completion_tokens]).toEqual([267, 1]);
    expect(await refusal(fill(261))).toMatchObject({ status: 400, code: 400, param: 'messages' });
    expect((await refusal(fill(5000))).message).toContain('context window');
  });

  it('[CHAT-84] [CHAT-88] a filtered answer ends with content_filter', async () => {
    const body = await choiceOf({ model: 'filtered' });
    expect(body).toMatchObject({
      message: { content: '1, 2, 3' },
      finish_reason: 'content_filter',
      native_finish_reason: 'filtered',
    });
  });

  it('[CHAT-89] native_finish_reason is the word of the engine', async () => {
    const native = async (fields: object) => (await choiceOf(fields)).native_finish_reason;
    expect(await native({})).toBe('end_of_text');
    expect(await native({ stop: '5' })).toBe('stop_sequence');
    expect(await native({ max_tokens: 2 })).toBe('max_tokens');
  });
});

describe('thinking', () => {
  const model = 'sandbox-reasoner';
  const thoughts = async (fields: object) => {
    const { choices, usage } = await ask({ model, ...fields });
    const { reasoning, content } = choices[0]!.message;
    return { reasoning, content, tokens: usage.completion_tokens_details.reasoning_tokens };
  };

  it('comes by default on a model that thinks by default, and grows with the effort', async () => {
    const usual = await thoughts({});
    expect(usual.content).toBe(counted);
    expect(usual.reasoning).toContain('The question is about');
    const low = await thoughts({ reasoning_effort: 'low' });
    const high = await thoughts({ reasoning: { effort: 'high' } });
    expect([low.tokens < usual.tokens, usual.tokens < high.tokens]).toEqual([true, true]);
  });

  it('[CHAT-30] effort none and enabled false turn it off', async () => {
    for (const fields of [
      { reasoning_effort: 'none' },
      { reasoning: { effort: 'none' } },
      { reasoning: { enabled: false } },
      { reasoning: { enabled: false }, reasoning_effort: 'high' },
    ]) {
      expect(await thoughts(fields)).toEqual({ reasoning: null, content: counted, tokens: 0 });
    }
  });

  it('[CHAT-34] a budget is ignored when thinking is off or a message is continued', async () => {
    const off = await thoughts({
      reasoning: { effort: 'none', max_tokens: 99_999 },
      max_completion_tokens: 100,
    });
    expect(off).toEqual({ reasoning: null, content: counted, tokens: 0 });
    const messages = [...say('Count to 9'), { role: 'assistant', content: '1, 2, 3' }];
    const continued = await thoughts({
      messages,
      reasoning: { max_tokens: 99_999 },
      max_completion_tokens: 100,
    });
    expect(continued).toEqual({ reasoning: null, content: ', 4, 5, 6, 7, 8, 9.', tokens: 0 });
  });

  it('[CHAT-35] a budget is enforced where the model can', async () => {
    for (const budget of [1, 20]) {
      const { tokens, content } = await thoughts({ reasoning: { effort: 'high', max_tokens: budget } });
      expect([tokens, content]).toEqual([budget, counted]);
    }
  });

  it('[CHAT-36] a budget is accepted, but not enforced, on another model', async () => {
    const free = await thoughts({ model: 'loose-thinker', reasoning: { effort: 'high', max_tokens: 20 } });
    expect(free.tokens).toBeGreaterThan(200);
    expect(free.content).toBe(counted);
  });
});

describe('formats', () => {
  it('[CHAT-38] json_object gives JSON', async () => {
    const text = await textOf({
      messages: say('Tell me about tea'),
      response_format: { type: 'json_object' },
    });
    expect(JSON.parse(text)).toMatchObject({ topic: 'tea' });
  });

  it('[CHAT-39] json_schema gives what fits the schema', async () => {
    const isRecipe = createValidator(recipeSchema);
    for (const seed of [1, 2, 3, 4, 5]) {
      const text = await textOf({
        seed,
        messages: say('A recipe for pancakes'),
        response_format: { type: 'json_schema', json_schema: { name: 'recipe', schema: recipeSchema } },
      });
      expect(isRecipe.check(JSON.parse(text)), text).toBe(true);
    }
  });

  it('[CHAT-41] [CHAT-42] logprobs come with every token when asked for, and are null otherwise', async () => {
    const { logprobs } = await choiceOf({ logprobs: true, top_logprobs: 3 });
    expect(logprobs?.content.map(({ token }) => token).join('')).toBe(counted);
    for (const entry of logprobs?.content ?? []) {
      expect(Object.keys(entry).sort()).toEqual(['bytes', 'logprob', 'token', 'top_logprobs']);
      expect(entry.top_logprobs).toHaveLength(3);
      expect(Buffer.from(entry.bytes ?? []).toString()).toBe(entry.token);
      expect(entry.logprob).toBeLessThanOrEqual(0);
    }
    const bare = await choiceOf({ logprobs: true });
    expect(bare.logprobs?.content[0]?.top_logprobs).toEqual([]);
    expect((await choiceOf({})).logprobs).toBeNull();
    expect((await choiceOf({ logprobs: false })).logprobs).toBeNull();
  });
});

describe('tools', () => {
  const weather = {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather in a city.',
      parameters: weatherSchema,
      strict: true,
    },
  };
  const clock = { type: 'function', function: { name: 'clock' } };
  const messages = say('What is the weather in Paris and London?');

  it('[CHAT-50] [CHAT-81] [CHAT-82] [CHAT-87] a call has an id, a name and arguments that fit', async () => {
    const { message, finish_reason: reason } = await choiceOf({ messages, tools: [weather] });
    expect([message.content, reason]).toEqual([null, 'tool_calls']);
    const calls = message.tool_calls ?? [];
    expect(calls).toHaveLength(2);
    for (const call of calls) {
      expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
      expect(call.id).toMatch(/^call_[0-9a-f]{24}$/);
      expect(createValidator(weatherSchema).check(JSON.parse(call.function.arguments))).toBe(true);
    }
    const single = await choiceOf({ messages, tools: [weather], parallel_tool_calls: false });
    expect(single.message.tool_calls).toHaveLength(1);
  });

  it('[CHAT-83] a call without arguments has {}', async () => {
    const { message } = await choiceOf({ tools: [clock], tool_choice: 'required' });
    expect(message.tool_calls?.[0]?.function).toEqual({ name: 'clock', arguments: '{}' });
  });

  it('[CHAT-46] tool_choice decides', async () => {
    const names = async (toolChoice: unknown) => {
      const { message } = await choiceOf({ tools: [clock, weather], tool_choice: toolChoice });
      return message.tool_calls?.map((call) => call.function.name);
    };
    expect(await names('none')).toBeUndefined();
    expect(await names('auto')).toBeUndefined();
    expect(await names('required')).toEqual(['clock']);
    expect(await names({ type: 'function', function: { name: 'get_weather' } })).toEqual(['get_weather']);
  });

  it('the answer to results speaks of them', async () => {
    const { message } = await choiceOf({ messages, tools: [weather], parallel_tool_calls: false });
    const [call] = message.tool_calls ?? [];
    const results = [message, { role: 'tool', tool_call_id: call?.id, content: 'Rain, 9 degrees' }];
    const text = await textOf({ messages: [...messages, ...results], tools: [weather] });
    expect(text).toBe('The tool answered: Rain, 9 degrees');
  });
});

describe('a continuation', () => {
  const following = (content: string, fields: object = {}) => ({
    messages: [...say('Count to 9'), { role: 'assistant', content }],
    ...fields,
  });

  it('[CHAT-66] [CHAT-67] [CHAT-68] only the new text is answered, with the flag or without it', async () => {
    expect(await textOf(following('1, 2, 3'))).toBe(', 4, 5, 6, 7, 8, 9.');
    expect(await textOf(following('1, 2, 3', { continue_final_message: true }))).toBe(', 4, 5, 6, 7, 8, 9.');
    expect(await textOf(following('1, 2, 3', { continue_final_message: false }))).toBe(', 4, 5, 6, 7, 8, 9.');
  });

  it('[CHAT-69] the whitespace at the end of the given text is trimmed', async () => {
    const plain = await ask(following('1, 2, 3,'));
    const spaced = await ask(following('1, 2, 3, \n\t '));
    expect(spaced.choices[0]?.message.content).toBe(' 4, 5, 6, 7, 8, 9.');
    expect(spaced.choices).toEqual(plain.choices);
    expect(spaced.usage).toEqual(plain.usage);
  });

  it('[CHAT-70] there is no thinking, also where the model thinks by default', async () => {
    const { choices, usage } = await ask(
      following('1, 2', { model: 'sandbox-reasoner', reasoning_effort: 'high' }),
    );
    expect(choices[0]?.message).toMatchObject({ reasoning: null, content: ', 3, 4, 5, 6, 7, 8, 9.' });
    expect(usage.completion_tokens_details.reasoning_tokens).toBe(0);
  });

  it('[CHAT-73] an answer that ended with length is resumed, as often as it takes', async () => {
    const question = say('Tell me about tea');
    const whole = await textOf({ messages: question });
    let text = '';
    for (let round = 0; round < 100; round++) {
      const messages = text === '' ? question : [...question, { role: 'assistant', content: text }];
      const { message, finish_reason: reason } = await choiceOf({ messages, max_tokens: 20 });
      text += message.content;
      if (reason === 'stop') break;
      expect(reason).toBe('length');
    }
    expect(text).toBe(whole);
  });
});

describe('usage', () => {
  it('[CHAT-90] [CHAT-91] is always whole, zeros included', async () => {
    expect((await ask({})).usage).toEqual({
      prompt_tokens: 10,
      completion_tokens: 18,
      total_tokens: 28,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
      cost: expect.any(Number),
    });
  });

  it('counts what a conversation has in the cache, and bills it at its own price', async () => {
    const messages = say(`Count to 9. ${'word '.repeat(200)}`);
    const first = await ask({ messages });
    expect(first.usage.prompt_tokens_details.cached_tokens).toBe(0);
    const next = [...messages, { role: 'assistant', content: counted }, ...say('Count to 9')];
    const { usage } = await ask({ messages: next });
    expect(usage.prompt_tokens_details.cached_tokens).toBe(192);
    const plain = usage.prompt_tokens - 192;
    expect(usage.cost).toBeCloseTo(plain * 1.5e-7 + 192 * 7.5e-8 + usage.completion_tokens * 6e-7, 12);
  });
});

describe('another engine', () => {
  /** Every path to a value, with the value's type. */
  const paths = (value: unknown, path = ''): string[] => {
    if (typeof value !== 'object' || value === null)
      return [`${path}: ${value === null ? 'null' : typeof value}`];
    return Object.entries(value).flatMap(([key, field]) => paths(field, `${path}.${key}`));
  };

  it('[CHAT-95] answers in the same shape, whole and streamed', async () => {
    const engine = await createMockEngine();
    const other = await createChatGateway({
      settings: {
        engines: {
          ...builtinEngines,
          vllm: { kind: 'openai-compatible', url: engine.url, flavor: 'vllm' },
        },
        models: [{ id: 'remote', type: 'chat', engine: 'vllm', contextLength: 131_072 }],
        defaults: {},
      },
    });
    try {
      const shapeOf = async (model: string) => {
        const payload = { model, messages: say('Say Hello there') };
        const answer = await other.inject({ method: 'POST', url: '/v1/chat/completions', payload });
        expect(answer.status, answer.body).toBe(200);
        const stream = await other.inject({
          method: 'POST',
          url: '/v1/chat/completions',
          payload: { ...payload, stream: true },
        });
        const chunks = stream.body.split('\n\n').filter((event) => event.startsWith('data: {'));
        const shapes = chunks.map((chunk) => paths(JSON.parse(chunk.slice(6))).join());
        return { whole: paths(answer.json()), chunks: [...new Set(shapes)] };
      };
      expect(await shapeOf('remote')).toEqual(await shapeOf('sandbox-chat'));
    } finally {
      await other.close();
      await engine.close();
    }
  });
});
