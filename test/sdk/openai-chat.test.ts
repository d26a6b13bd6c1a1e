/** The OpenAI SDK against the whole gateway and its sandbox models, over a socket. */
import OpenAI from 'openai';
import { LengthFinishReasonError } from 'openai/core/error';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createValidator } from '../../src/lib/schema.ts';
import { createChatGateway, recipeSchema, thrown, weatherSchema } from '../support/chat-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let client: OpenAI;
let base: string;

beforeAll(async () => {
  gateway = await createChatGateway();
  base = await gateway.listen();
  client = new OpenAI({ baseURL: base, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(() => gateway.close());

const say = (content: string) => [{ role: 'user' as const, content }];
const weatherTool = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: weatherSchema,
    strict: true,
  },
};
const weather = {
  model: 'sandbox-chat',
  messages: say('What is the weather in Paris?'),
  tools: [weatherTool],
};
const counting = { model: 'sandbox-chat', messages: say('Count to 30') };
const counted = `${Array.from({ length: 30 }, (_, index) => index + 1).join(', ')}.`;
type Thinking = { reasoning?: string | null };

describe('the OpenAI SDK', () => {
  it('[ROUTE-28] [CHAT-1] [CHAT-90] [CHAT-92] gets a completion', async () => {
    const { data, response, request_id } = await client.chat.completions
      .create({ ...counting, temperature: null, seed: null })
      .withResponse();
    expect(data.id).toMatch(/^chatcmpl-/);
    expect(data.choices).toHaveLength(1);
    expect(data.choices[0]).toMatchObject({
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: counted, refusal: null },
    });
    expect(data.usage).toMatchObject({ prompt_tokens: 10, total_tokens: 10 + data.usage!.completion_tokens });
    expect(data.usage).toHaveProperty('cost');
    expect(request_id).toMatch(/^req_/);
    expect(response.headers.get('x-generation-id')).toMatch(/^gen_/);
  });

  it('[ROUTE-28] [STREAM-5] [STREAM-13] streams a completion, with usage in a last chunk when asked', async () => {
    const stream = await client.chat.completions.create({
      ...counting,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    const finishes = [];
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (chunk.choices[0]?.finish_reason != null) finishes.push(chunk.choices[0].finish_reason);
      if (chunk.usage != null) {
        usage = chunk.usage;
        expect(chunk.choices).toEqual([]);
      }
    }
    expect(text).toBe(counted);
    expect(finishes).toEqual(['stop']);
    expect(usage?.prompt_tokens).toBe(10);
  });

  it('[ROUTE-28] accumulates a stream with its helper', async () => {
    const stream = client.chat.completions.stream(counting);
    const deltas: string[] = [];
    stream.on('content', (delta) => deltas.push(delta));
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]?.message.content).toBe(counted);
    expect(deltas.join('')).toBe(counted);
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect((await stream.totalUsage()).completion_tokens).toBeGreaterThan(30);
  });

  it('[ROUTE-28] [CHAT-9] [STREAM-12] gets two answers, whole and streamed', async () => {
    const request = { model: 'sandbox-chat', messages: say('Tell me about tea'), n: 2 };
    const whole = await client.chat.completions.create(request);
    const texts = whole.choices.map(({ message }) => message.content);
    expect(whole.choices.map(({ index }) => index)).toEqual([0, 1]);
    expect(texts[0]).not.toBe(texts[1]);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices.map(({ message }) => message.content)).toEqual(texts);
  });

  it('[ROUTE-28] [CHAT-41] [CHAT-42] [STREAM-17] gets log probabilities', async () => {
    const request = { ...counting, logprobs: true, top_logprobs: 2 };
    const { choices } = await client.chat.completions.create(request);
    const tokens = choices[0]?.logprobs?.content ?? [];
    expect(tokens.map(({ token }) => token).join('')).toBe(counted);
    expect(tokens[0]?.top_logprobs).toHaveLength(2);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]?.logprobs?.content).toEqual(tokens);
    expect((await client.chat.completions.create(counting)).choices[0]?.logprobs).toBeNull();
  });

  it('[ROUTE-28] [CHAT-78] [STREAM-6] gets the reasoning, whole and in pieces', async () => {
    const request = {
      model: 'sandbox-reasoner',
      messages: say('Count to 5'),
      reasoning_effort: 'low' as const,
    };
    const { choices, usage } = await client.chat.completions.create(request);
    const { reasoning, content } = choices[0]!.message as Thinking & { content: string };
    expect(content).toBe('1, 2, 3, 4, 5.');
    expect(reasoning).toContain('The question is about');
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(40);
    let thoughts = '';
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      thoughts += (chunk.choices[0]?.delta as Thinking | undefined)?.reasoning ?? '';
      expect(chunk.choices[0]?.delta).not.toHaveProperty('reasoning_content');
    }
    expect(thoughts).toBe(reasoning);
  });
});

describe('tools with the OpenAI SDK', () => {
  const isWeather = createValidator(weatherSchema);

  it('[ROUTE-28] [CHAT-50] [CHAT-81] [CHAT-82] [CHAT-87] gets a call', async () => {
    const { choices } = await client.chat.completions.create(weather);
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const call = choices[0]?.message.tool_calls?.[0];
    expect(call).toMatchObject({ type: 'function', id: expect.stringMatching(/^call_/) });
    const { function: called } = call as OpenAI.ChatCompletionMessageFunctionToolCall;
    expect(called.name).toBe('get_weather');
    expect(isWeather.check(JSON.parse(called.arguments))).toBe(true);
  });

  it('[ROUTE-28] [STREAM-7] [STREAM-8] accumulates streamed calls, strict ones too', async () => {
    const stream = client.chat.completions.stream({
      ...weather,
      messages: say('What is the weather in Paris and London?'),
    });
    const finished: string[] = [];
    stream.on('tool_calls.function.arguments.done', ({ name }) => finished.push(name));
    const completion = await stream.finalChatCompletion();
    const calls = (completion.choices[0]?.message.tool_calls ??
      []) as OpenAI.ChatCompletionMessageFunctionToolCall[];
    expect(finished).toEqual(['get_weather', 'get_weather']);
    expect(calls.map(({ function: called }) => JSON.parse(called.arguments).city)).toEqual([
      'Paris',
      'London',
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  it.each([false, true])('[ROUTE-28] runs a whole tool loop (streamed: %s)', async (stream) => {
    const asked: unknown[] = [];
    const tool = {
      type: 'function' as const,
      function: {
        name: 'get_weather',
        description: 'The weather in a city.',
        parameters: { ...weatherSchema } as Record<string, unknown>,
        parse: JSON.parse as (text: string) => { city: string },
        function: (input: { city: string }) => {
          asked.push(input.city);
          return `Sunny in ${input.city}`;
        },
      },
    };
    const runner = stream
      ? client.chat.completions.runTools({ ...weather, stream: true, tools: [tool] })
      : client.chat.completions.runTools({ ...weather, tools: [tool] });
    expect(await runner.finalContent()).toBe('The tool answered: Sunny in Paris');
    expect(asked).toEqual(['Paris']);
  });

  it('[ROUTE-28] [CHAT-83] a call without arguments has an empty object', async () => {
    const clock = { type: 'function' as const, function: { name: 'clock' } };
    const { choices } = await client.chat.completions.create({
      model: 'sandbox-chat',
      messages: say('Use the clock'),
      tools: [clock],
      tool_choice: { type: 'function', function: { name: 'clock' } },
    });
    expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: 'clock', arguments: '{}' },
    });
  });
});

describe('structured output with the OpenAI SDK', () => {
  const request = {
    model: 'sandbox-chat',
    messages: say('A recipe for pancakes'),
    response_format: {
      type: 'json_schema' as const,
      json_schema: { name: 'recipe', schema: { ...recipeSchema } as Record<string, unknown>, strict: true },
    },
  };

  it('[ROUTE-28] [CHAT-39] is parsed, whole and streamed', async () => {
    const whole = await client.chat.completions.parse(request);
    expect(createValidator(recipeSchema).check(whole.choices[0]?.message.parsed)).toBe(true);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual(whole.choices[0]?.message.parsed);
  });

  it('[ROUTE-28] [CHAT-38] json_object is JSON', async () => {
    const { choices } = await client.chat.completions.create({
      ...request,
      response_format: { type: 'json_object' },
    });
    expect(JSON.parse(choices[0]?.message.content ?? '')).toBeTypeOf('object');
  });

  it('[ROUTE-28] [CHAT-86] an answer that was cut raises as such', async () => {
    const cut = await thrown(() => client.chat.completions.parse({ ...request, max_completion_tokens: 5 }));
    expect(cut.constructor).toBe(LengthFinishReasonError);
  });
});

describe('failures with the OpenAI SDK', () => {
  const raised = (fields: object, using = client) =>
    thrown(() => using.chat.completions.create({ ...counting, ...fields })) as Promise<
      InstanceType<typeof OpenAI.APIError>
    >;

  it('[ROUTE-28] [ERR-45] each status raises its class, whole and streamed alike', async () => {
    for (const stream of [false, true]) {
      const cases = [
        [{ temperature: 3 }, OpenAI.BadRequestError, 400],
        [{ model: 'no-such-model' }, OpenAI.NotFoundError, 404],
        [{ model: 'refusing' }, OpenAI.InternalServerError, 502],
        [{ model: 'busy' }, OpenAI.InternalServerError, 503],
        [{ model: 'late' }, OpenAI.InternalServerError, 504],
      ] as const;
      for (const [fields, type, status] of cases) {
        const error = await raised({ ...fields, stream });
        expect([error.constructor, error.status], JSON.stringify(fields)).toEqual([type, status]);
        expect(error.requestID).toMatch(/^req_/);
      }
      const stranger = new OpenAI({ baseURL: base, apiKey: 'wrong', maxRetries: 0 });
      expect((await raised({ stream }, stranger)).constructor).toBe(OpenAI.AuthenticationError);
    }
    expect((await raised({ temperature: 3 })).param).toBe('temperature');
  });

  it('[ROUTE-28] [ERR-45] a full minute raises RateLimitError, with Retry-After', async () => {
    await client.chat.completions.create({ ...counting, model: 'once-a-minute' });
    const error = await raised({ model: 'once-a-minute' });
    expect(error.constructor).toBe(OpenAI.RateLimitError);
    expect(Number(error.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });

  it('[ROUTE-28] [STREAM-22] [STREAM-23] a failure in the middle raises APIError after the text so far', async () => {
    const stream = await client.chat.completions.create({ ...counting, model: 'breaking', stream: true });
    let text = '';
    const error = (await thrown(async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    })) as InstanceType<typeof OpenAI.APIError>;
    expect(text).toBe('1, 2, 3');
    expect(error.constructor).toBe(OpenAI.APIError);
    expect(error).toMatchObject({ code: 502, type: 'server_error' });
    expect(error.message).toContain('The engine failed');
    const whole = await raised({ model: 'breaking' });
    expect([whole.constructor, whole.status]).toEqual([OpenAI.InternalServerError, 502]);
  });

  it('[ROUTE-28] a client that leaves in the middle frees its place', async () => {
    // One request at a time: the second is answered only because the first was given up.
    for (let round = 0; round < 3; round++) {
      const stream = await client.chat.completions.create({ ...counting, model: 'stalling', stream: true });
      let text = '';
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? '';
        if (text === '1, 2, 3') stream.controller.abort();
      }
      expect(text).toBe('1, 2, 3');
    }
    const controller = new AbortController();
    const whole = client.chat.completions.create(
      { ...counting, model: 'silent' },
      { signal: controller.signal },
    );
    setImmediate(() => controller.abort());
    expect((await thrown(() => whole)).constructor).toBe(OpenAI.APIUserAbortError);
  });
});
