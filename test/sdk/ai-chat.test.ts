/** The AI SDK with three of its providers against the whole gateway and its sandbox models, over a socket. */
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import {
  APICallError,
  generateObject,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  Output,
  streamText,
  tool,
} from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createValidator } from '../../src/lib/schema.ts';
import { createChatGateway, recipeSchema, thrown, weatherSchema } from '../support/chat-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let base: string;
beforeAll(async () => {
  gateway = await createChatGateway();
  base = await gateway.listen();
});
afterAll(() => gateway.close());

interface Provider {
  name: string;
  connect(apiKey: string): (model: string) => LanguageModel;
  /** Whether it reads `reasoning`: the OpenAI provider's chat does not. */
  showsReasoning: boolean;
  /** Whether an error chunk reaches the reader as an error: that one shows another finish reason only. */
  showsMidStreamError: boolean;
}

const providers: readonly Provider[] = [
  {
    name: '@ai-sdk/openai',
    connect: (apiKey) => createOpenAI({ baseURL: base, apiKey }).chat,
    showsReasoning: false,
    showsMidStreamError: false,
  },
  {
    name: '@ai-sdk/openai-compatible',
    connect: (apiKey) =>
      createOpenAICompatible({
        name: 'roundhouse',
        baseURL: base,
        apiKey,
        includeUsage: true,
        supportsStructuredOutputs: true,
      }),
    showsReasoning: true,
    showsMidStreamError: true,
  },
  {
    name: '@openrouter/ai-sdk-provider',
    connect: (apiKey) => {
      const openrouter = createOpenRouter({ baseURL: base, apiKey });
      return (model) => openrouter.chat(model);
    },
    showsReasoning: true,
    showsMidStreamError: true,
  },
];

const counted = '1, 2, 3, 4, 5, 6, 7, 8, 9.';
const isRecipe = createValidator(recipeSchema);
const recipe = jsonSchema<{ title: string }>({ ...recipeSchema } as object);

describe.each(providers)('the AI SDK with $name', ({ connect, showsReasoning, showsMidStreamError }) => {
  const ask = (model: string, prompt = 'Count to 9', apiKey = gateway.key) => ({
    model: connect(apiKey)(model),
    prompt,
    maxRetries: 0,
  });

  it('[ROUTE-31] generates text, with usage', async () => {
    const { text, finishReason, usage } = await generateText(ask('sandbox-chat'));
    expect([text, finishReason]).toEqual([counted, 'stop']);
    expect(usage.inputTokens).toBe(10);
    expect(usage.outputTokens).toBeGreaterThan(9);
  });

  it('[ROUTE-31] [STREAM-5] streams text, with usage', async () => {
    const result = streamText(ask('sandbox-chat'));
    let text = '';
    for await (const delta of result.textStream) text += delta;
    expect(text).toBe(counted);
    expect(await result.finishReason).toBe('stop');
    expect((await result.usage).inputTokens).toBe(10);
  });

  it('[ROUTE-31] [CHAT-86] tells that an answer was cut', async () => {
    const { text, finishReason } = await generateText({ ...ask('sandbox-chat'), maxOutputTokens: 3 });
    expect([text, finishReason]).toEqual(['1, 2', 'length']);
  });

  it('[ROUTE-31] [CHAT-87] runs a whole tool loop, generated and streamed', async () => {
    const asked: string[] = [];
    const tools = {
      get_weather: tool({
        description: 'The weather in a city.',
        inputSchema: jsonSchema<{ city: string }>({ ...weatherSchema } as object),
        execute: async ({ city }) => {
          asked.push(city);
          return `Sunny in ${city}`;
        },
      }),
    };
    const request = {
      ...ask('sandbox-chat', 'What is the weather in Paris and London?'),
      tools,
      stopWhen: isStepCount(3),
    };
    const whole = await generateText(request);
    expect(asked).toEqual(['Paris', 'London']);
    expect(whole.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(whole.text).toContain('Sunny in Paris');
    expect(whole.text).toContain('Sunny in London');
    expect(whole.steps[0]?.toolCalls.every(({ toolCallId }) => toolCallId.startsWith('call_'))).toBe(true);
    const streamed = streamText(request);
    expect(await streamed.text).toBe(whole.text);
    expect(await streamed.steps).toHaveLength(2);
    expect(asked).toHaveLength(4);
  });

  it('[ROUTE-31] [CHAT-46] is made to call a tool', async () => {
    const inputSchema = jsonSchema<Record<string, never>>({ type: 'object', properties: {} });
    const tools = { clock: tool({ inputSchema, execute: async () => 'noon' }) };
    const { toolCalls } = await generateText({ ...ask('sandbox-chat'), tools, toolChoice: 'required' });
    expect(toolCalls).toMatchObject([{ toolName: 'clock', input: {} }]);
  });

  it('[ROUTE-31] [CHAT-39] generates objects that fit the schema', async () => {
    const request = ask('sandbox-chat', 'A recipe for pancakes');
    const { output } = await generateText({ ...request, output: Output.object({ schema: recipe }) });
    expect(isRecipe.check(output)).toBe(true);
    expect((await generateObject({ ...request, schema: recipe })).object).toEqual(output);
    const streamed = streamText({ ...request, output: Output.object({ schema: recipe }) });
    expect(await streamed.output).toEqual(output);
  });

  it('[ROUTE-31] [CHAT-78] [STREAM-6] keeps the reasoning apart from the text', async () => {
    const { reasoningText, text, usage } = await generateText(ask('sandbox-reasoner'));
    if (showsReasoning) expect(reasoningText).toContain('The question is about');
    expect(usage.outputTokenDetails.reasoningTokens).toBeGreaterThan(100);
    expect(text).toBe(counted);
    const streamed = streamText(ask('sandbox-reasoner'));
    expect(await streamed.text).toBe(counted);
    expect(await streamed.reasoningText).toBe(reasoningText);
  });

  it('[ROUTE-31] [CHAT-54] sends an image', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const { text } = await generateText({
      model: ask('sandbox-chat').model,
      maxRetries: 0,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'file', data: png, mediaType: 'image/png' },
          ],
        },
      ],
    });
    expect(text).toContain(`an image (image/png, ${png.length} bytes)`);
  });

  it('[ROUTE-31] raises the status and the message of a failure', async () => {
    const cases = [
      ['no-such-model', 404],
      ['refusing', 502],
      ['busy', 503],
      ['late', 504],
    ] as const;
    for (const [model, status] of cases) {
      const error = (await thrown(() => generateText(ask(model)))) as APICallError;
      expect(APICallError.isInstance(error), `${model}: ${error}`).toBe(true);
      expect(error.statusCode).toBe(status);
      expect(error.message).not.toBe('');
      expect(error.isRetryable).toBe(status >= 500);
    }
    const refused = (await thrown(() => generateText(ask('sandbox-chat', 'Hi', 'wrong')))) as APICallError;
    expect([refused.statusCode, refused.message]).toEqual([401, 'Invalid API key']);
    const wrong = await thrown(() => generateText({ ...ask('sandbox-chat'), temperature: 5 }));
    expect((wrong as APICallError).statusCode).toBe(400);
  });

  it('[ROUTE-31] [STREAM-22] a stream that fails in the middle ends with what came before', async () => {
    const failures: unknown[] = [];
    const result = streamText({ ...ask('breaking'), onError: ({ error }) => void failures.push(error) });
    let text = '';
    for await (const part of result.stream) if (part.type === 'text-delta') text += part.text;
    expect(text).toBe('1, 2, 3');
    if (showsMidStreamError) expect(failures.length).toBeGreaterThan(0);
    else expect(await result.finishReason).toBe('other');
  });

  it('[ROUTE-31] [ERR-40] a stream that fails before its first token raises the status', async () => {
    const failures: unknown[] = [];
    const result = streamText({ ...ask('busy'), onError: ({ error }) => void failures.push(error) });
    await result.consumeStream();
    expect((failures[0] as APICallError).statusCode).toBe(503);
  });
});
