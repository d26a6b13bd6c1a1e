/** LangChain's OpenAI and Anthropic halves against the whole gateway and its sandbox models, over a socket. */
import { ChatAnthropic } from '@langchain/anthropic';
import { type AIMessageChunk, HumanMessage, ToolMessage, type UsageMetadata } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChatGateway, weatherSchema } from '../support/chat-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let base: string;
beforeAll(async () => {
  gateway = await createChatGateway();
  base = await gateway.listen();
});
afterAll(() => gateway.close());

const weather = tool(async () => 'It is sunny.', {
  name: 'weather',
  description: 'The weather of a city',
  schema: weatherSchema,
});

/** Its own types lose the field where two kinds of model meet. */
function usageOf(message: object | undefined): UsageMetadata | undefined {
  return (message as { usage_metadata?: UsageMetadata } | undefined)?.usage_metadata;
}

const halves = [
  {
    name: 'ChatOpenAI, chat completions',
    connect: (model: string) =>
      new ChatOpenAI({ model, apiKey: gateway.key, configuration: { baseURL: base }, maxRetries: 0 }),
  },
  {
    name: 'ChatOpenAI, responses',
    connect: (model: string) =>
      new ChatOpenAI({
        model,
        apiKey: gateway.key,
        configuration: { baseURL: base },
        maxRetries: 0,
        useResponsesApi: true,
      }),
  },
  {
    name: 'ChatAnthropic',
    connect: (model: string) =>
      new ChatAnthropic({
        model,
        apiKey: gateway.key,
        // It appends /v1 by itself.
        anthropicApiUrl: base.replace(/\/v1$/, ''),
        maxRetries: 0,
        maxTokens: 500,
      }),
  },
] as const;

describe.each(halves)('[ROUTE-33] $name', ({ connect }) => {
  it('answers, with what it used', async () => {
    const answer = await connect('sandbox-chat').invoke([new HumanMessage('Say hello.')]);
    expect(answer.text).not.toBe('');
    expect(usageOf(answer)?.input_tokens).toBeGreaterThan(0);
    expect(usageOf(answer)?.output_tokens).toBeGreaterThan(0);
  });

  it('streams the same text that it answers whole', async () => {
    const messages = [new HumanMessage('Tell me of trains.')];
    const whole = await connect('sandbox-chat').invoke(messages);
    let streamed: AIMessageChunk | undefined;
    for await (const chunk of await connect('sandbox-chat').stream(messages))
      streamed = streamed === undefined ? chunk : streamed.concat(chunk);
    expect(streamed?.text).toBe(whole.text);
    expect(usageOf(streamed)?.output_tokens).toBe(usageOf(whole)?.output_tokens);
    expect(usageOf(streamed)?.input_tokens).toBe(usageOf(whole)?.input_tokens);
  });

  it('calls a tool and goes on with its result', async () => {
    const model = connect('sandbox-chat').bindTools([weather], { tool_choice: 'weather' });
    const question = new HumanMessage('What is the weather in Paris?');
    const called = await model.invoke([question]);
    const [call] = called.tool_calls ?? [];
    expect(call).toMatchObject({ name: 'weather', args: { city: expect.any(String) } });
    const result = new ToolMessage({ content: 'It is sunny.', tool_call_id: call?.id ?? '' });
    const answer = await connect('sandbox-chat').bindTools([weather]).invoke([question, called, result]);
    expect(answer.text).not.toBe('');
  });

  it('tells an unknown model', async () => {
    await expect(connect('no-such-model').invoke('Hello')).rejects.toMatchObject({ status: 404 });
  });
});
