/** The OpenRouter SDK against the whole gateway and its sandbox models: it validates every answer it reads. */
import { OpenRouter } from '@openrouter/sdk';
import type { ChatRequest, ChatResult, ChatStreamChunk } from '@openrouter/sdk/models';
import * as errors from '@openrouter/sdk/models/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createValidator } from '../../src/lib/schema.ts';
import { createChatGateway, recipeSchema, thrown, weatherSchema } from '../support/chat-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let client: OpenRouter;
let base: string;

beforeAll(async () => {
  gateway = await createChatGateway();
  base = await gateway.listen();
  client = connect(gateway.key);
});
afterAll(() => gateway.close());

/** By itself the SDK retries every 5xx for an hour. */
function connect(apiKey: string): OpenRouter {
  return new OpenRouter({ serverURL: base, apiKey, retryConfig: { strategy: 'none' } });
}

const say = (content: string) => [{ role: 'user' as const, content }];
type Fields = Omit<ChatRequest, 'stream'>;
/** Its types do not tell a whole answer from a stream; the request does. */
const send = async (fields: Fields) =>
  (await client.chat.send({ chatRequest: { ...fields, stream: false } })) as ChatResult;
async function read(fields: Fields): Promise<ChatStreamChunk[]> {
  const stream = await client.chat.send({ chatRequest: { ...fields, stream: true } });
  const chunks: ChatStreamChunk[] = [];
  for await (const chunk of stream as AsyncIterable<ChatStreamChunk>) chunks.push(chunk);
  return chunks;
}
const counting = { model: 'sandbox-chat', messages: say('Count to 9') };
const counted = '1, 2, 3, 4, 5, 6, 7, 8, 9.';
const weatherTool = {
  type: 'function' as const,
  function: { name: 'get_weather', description: 'The weather in a city.', parameters: { ...weatherSchema } },
};

describe('the OpenRouter SDK', () => {
  it('[ROUTE-30] [CHAT-90] [CHAT-91] [CHAT-92] parses a completion', async () => {
    const result = await send(counting);
    expect(result.choices[0]).toMatchObject({
      index: 0,
      finishReason: 'stop',
      message: { role: 'assistant', content: counted },
    });
    expect(result.usage).toMatchObject({
      promptTokens: 10,
      promptTokensDetails: { cachedTokens: 0 },
      completionTokensDetails: { reasoningTokens: 0 },
    });
    expect(result.usage?.cost).toBeGreaterThan(0);
  });

  it('[ROUTE-30] [CHAT-2] takes no model for the default model, and its own fields beside ours', async () => {
    const result = await send({
      messages: say('Count to 9'),
      provider: { allowFallbacks: false },
      user: 'someone',
      sessionId: 'a session',
      temperature: null,
    });
    expect(result.model).toBe('sandbox-chat');
    expect(result.choices[0]?.message.content).toBe(counted);
  });

  it('[ROUTE-30] [STREAM-3] [STREAM-14] [STREAM-16] parses every chunk of a stream', async () => {
    const chunks = await read(counting);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(counted);
    expect(new Set(chunks.map(({ id, model }) => `${id} ${model}`)).size).toBe(1);
    expect(chunks.at(-1)?.usage?.promptTokens).toBe(10);
    expect(chunks.at(-1)?.choices[0]?.finishReason).toBe('stop');
    expect(chunks.every(({ error }) => error === undefined)).toBe(true);
    const separate = await read({ ...counting, streamOptions: { includeUsage: true } });
    expect(separate.at(-1)?.choices).toEqual([]);
    expect(separate.at(-1)?.usage?.promptTokens).toBe(10);
  });

  it('[ROUTE-30] [CHAT-78] [STREAM-6] parses reasoning', async () => {
    const request: ChatRequest = {
      model: 'sandbox-reasoner',
      messages: say('Count to 9'),
      reasoning: { effort: 'low' },
    };
    const { choices, usage } = await send(request);
    expect(choices[0]?.message.reasoning).toContain('The question is about');
    expect(choices[0]?.message.content).toBe(counted);
    expect(usage?.completionTokensDetails?.reasoningTokens).toBeGreaterThan(40);
    const chunks = await read(request);
    const thoughts = chunks.map((chunk) => chunk.choices[0]?.delta.reasoning ?? '').join('');
    expect(thoughts).toBe(choices[0]?.message.reasoning);
  });

  it('[ROUTE-30] [CHAT-81] [CHAT-87] [STREAM-7] parses tool calls, and reads the answer to their results', async () => {
    const request: ChatRequest = {
      model: 'sandbox-chat',
      messages: say('What is the weather in Paris?'),
      tools: [weatherTool],
    };
    const { choices } = await send(request);
    const call = choices[0]?.message.toolCalls?.[0];
    expect(choices[0]?.finishReason).toBe('tool_calls');
    expect(call).toMatchObject({ id: expect.stringMatching(/^call_/), type: 'function' });
    expect(createValidator(weatherSchema).check(JSON.parse(call?.function.arguments ?? ''))).toBe(true);

    const pieces = (await read(request)).flatMap((chunk) => chunk.choices[0]?.delta.toolCalls ?? []);
    expect(pieces[0]).toMatchObject({ index: 0, type: 'function', function: { name: 'get_weather' } });
    expect(pieces.map((piece) => piece.function?.arguments ?? '').join('')).toBe(call?.function.arguments);

    const answered = await send({
      ...request,
      messages: [
        ...request.messages,
        { role: 'assistant', content: null, toolCalls: [call!] },
        { role: 'tool', toolCallId: call!.id, content: 'Sunny' },
      ],
    });
    expect(answered.choices[0]?.message.content).toBe('The tool answered: Sunny');
  });

  it('[ROUTE-30] [CHAT-39] [CHAT-41] [CHAT-42] parses structured output and log probabilities', async () => {
    const structured = await send({
      model: 'sandbox-chat',
      messages: say('A recipe for pancakes'),
      responseFormat: {
        type: 'json_schema',
        jsonSchema: { name: 'recipe', schema: { ...recipeSchema }, strict: true },
      },
    });
    const text = structured.choices[0]?.message.content as string;
    expect(createValidator(recipeSchema).check(JSON.parse(text))).toBe(true);
    const { choices } = await send({ ...counting, logprobs: true, topLogprobs: 2 });
    expect(choices[0]?.logprobs?.content?.[0]?.topLogprobs).toHaveLength(2);
    const chunks = await read({ ...counting, logprobs: true, topLogprobs: 2 });
    const tokens = chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? []);
    expect(tokens.map(({ token }) => token).join('')).toBe(counted);
  });

  it('[ROUTE-30] [CHAT-9] [STREAM-12] parses two answers', async () => {
    const request = { model: 'sandbox-chat', messages: say('Tell me about tea'), n: 2 } as ChatRequest;
    const chunks = await read(request);
    expect(chunks.every(({ choices }) => choices.every(({ index }) => index < 2))).toBe(true);
  });

  it('[ROUTE-30] [ERR-47] raises its typed class for each status', async () => {
    const cases = [
      [{ temperature: 3 }, errors.BadRequestResponseError, 400],
      [{ model: 'no-such-model' }, errors.NotFoundResponseError, 404],
      [{ model: 'refusing' }, errors.BadGatewayResponseError, 502],
      [{ model: 'busy' }, errors.ServiceUnavailableResponseError, 503],
      [{ model: 'late' }, errors.OpenRouterDefaultError, 504],
    ] as const;
    for (const [fields, type, status] of cases) {
      for (const attempt of [send, read]) {
        const error = await thrown(() => attempt({ ...counting, ...fields }));
        expect(error, `${JSON.stringify(fields)} ${error}`).toBeInstanceOf(type);
        expect((error as { statusCode?: number }).statusCode).toBe(status);
      }
    }
    const stranger = connect('wrong');
    const refused = await thrown(() => stranger.chat.send({ chatRequest: { ...counting, stream: false } }));
    expect(refused).toBeInstanceOf(errors.UnauthorizedResponseError);
    await send({ ...counting, model: 'once-a-minute' });
    const limited = await thrown(() => send({ ...counting, model: 'once-a-minute' }));
    expect(limited).toBeInstanceOf(errors.TooManyRequestsResponseError);
  });

  it('[ROUTE-30] [STREAM-22] [STREAM-23] reads a failure in the middle as a typed error chunk', async () => {
    const chunks = await read({ ...counting, model: 'breaking' });
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('1, 2, 3');
    expect(chunks.at(-1)).toMatchObject({
      error: {
        code: 502,
        message: expect.stringContaining('failed'),
        metadata: { errorType: 'provider_unavailable' },
      },
      choices: [{ finishReason: 'error' }],
    });
    expect(chunks.slice(0, -1).every(({ error }) => error === undefined)).toBe(true);
  });
});
