/** What a client gets back: the whole answer, its headers, and every failure in the route's envelope. */
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { answerOf, choiceOf, createChatShell, hello } from '../../../test/support/chat-shell.ts';
import { shellKey } from '../../../test/support/shell.ts';
import type { ChatResult, FinishReason } from '../../engines/contract/chat.ts';
import { type ErrorKind, GatewayError } from '../../lib/errors.ts';
import type { Operation } from '../../platform/inference/types.ts';

const completion = async (result: ChatResult, fields: object = {}, costPicoUsd = 12_345_678n) =>
  (await createChatShell({ answer: result, costPicoUsd }).post({ messages: hello, ...fields })).json();

const message = async (changes: Parameters<typeof choiceOf>[0]) =>
  (await completion(answerOf('', { choices: [choiceOf(changes)] }))).choices[0].message;

describe('a whole answer', () => {
  test('[CHAT-1] [CHAT-74] [CHAT-75] [CHAT-93] a valid request is 200 with a chat completion', async () => {
    const answer = await createChatShell().post({ messages: hello });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toContain('application/json');
    const body = answer.json();
    expect(body.id).toMatch(/^chatcmpl-[0-9a-f]{24}$/);
    expect(body.object).toBe('chat.completion');
    expect(Number.isInteger(body.created)).toBe(true);
    expect(Math.abs(body.created - Date.now() / 1000)).toBeLessThan(60);
    expect(body.model).toBe('plain');
    expect(body.system_fingerprint).toBe('fp_roundhouse');
    expect(answer.headers['x-generation-id']).toBe(body.id.replace('chatcmpl-', 'gen_'));
  });

  test('[CHAT-94] [CHAT-95] [ERR-48] the answer has exactly the fields of the shape', async () => {
    // Whatever an engine adds to the canonical result is not named by the renderer.
    const choice = { ...choiceOf({ text: 'Hi' }), stop_reason: 7, token_ids: [1] };
    const result = { choices: [choice], usage: answerOf('').usage, kv_transfer_params: {}, timings: {} };
    const { id, created, ...rest } = await completion(result);
    expect(rest).toEqual({
      object: 'chat.completion',
      model: 'plain',
      system_fingerprint: 'fp_roundhouse',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', refusal: null, reasoning: null },
          logprobs: null,
          finish_reason: 'stop',
          native_finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 20,
        completion_tokens: 9,
        total_tokens: 29,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
        cost: 0.000012345678,
      },
    });
  });

  test('[CHAT-9] [CHAT-76] n answers have the indexes 0 to n-1 and the role assistant', async () => {
    const shell = createChatShell({
      answer: ({ n }) => answerOf('', { choices: Array.from({ length: n }, () => choiceOf({ text: 'a' })) }),
    });
    const { choices } = (await shell.post({ messages: hello, n: 3 })).json();
    expect(choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1, 2]);
    for (const choice of choices) expect(choice.message.role).toBe('assistant');
  });

  const call = { id: 'call_1', name: 'f', arguments: '{"a":1}' };

  test('[CHAT-77] content is a string, or null when the answer is tool calls only; refusal is null', async () => {
    expect(await message({ text: 'Hi' })).toMatchObject({ content: 'Hi', refusal: null });
    expect(await message({ text: '' })).toMatchObject({ content: '', refusal: null });
    expect(await message({ toolCalls: [call] })).toMatchObject({ content: null, refusal: null });
    expect(await message({ text: 'Hi', toolCalls: [call] })).toMatchObject({ content: 'Hi' });
  });

  test('[CHAT-78] [CHAT-79] reasoning text is in reasoning, never in reasoning_content or reasoning_details', async () => {
    const thought = await message({ text: 'Hi', reasoning: 'Hm' });
    expect(thought.reasoning).toBe('Hm');
    expect(Object.keys(thought)).toEqual(['role', 'content', 'refusal', 'reasoning']);
  });

  test('[CHAT-80] [CHAT-81] [CHAT-82] [CHAT-83] tool calls', async () => {
    expect(await message({ text: 'Hi' })).not.toHaveProperty('tool_calls');
    const empty = { id: 'call_2', name: 'g', arguments: '' };
    expect((await message({ toolCalls: [call, empty] })).tool_calls).toEqual([
      { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      { id: 'call_2', type: 'function', function: { name: 'g', arguments: '{}' } },
    ]);
  });

  test('[CHAT-41] [CHAT-42] logprobs have token, logprob, bytes and top_logprobs', async () => {
    const logprobs = [
      {
        token: 'H',
        logprob: -0.1,
        bytes: [72],
        topLogprobs: [{ token: 'J', logprob: -Infinity, bytes: null }],
      },
      { token: 'i', logprob: -0.2, bytes: null, topLogprobs: [] },
    ];
    const { choices } = await completion(answerOf('', { choices: [choiceOf({ text: 'Hi', logprobs })] }));
    expect(choices[0].logprobs).toEqual({
      content: [
        {
          token: 'H',
          logprob: -0.1,
          bytes: [72],
          top_logprobs: [{ token: 'J', logprob: -9999, bytes: null }],
        },
        { token: 'i', logprob: -0.2, bytes: null, top_logprobs: [] },
      ],
      refusal: null,
    });
  });

  const finished = async (reason: FinishReason, native: string) =>
    (await completion(answerOf('', { choices: [choiceOf({ text: 'Hi', finish: { reason, native } })] })))
      .choices[0].finish_reason;

  test('[CHAT-84] [CHAT-85] a natural end and a stop sequence are stop', async () => {
    expect(await finished('stop', 'eos_token')).toBe('stop');
    expect(await finished('stop', 'stop_sequence')).toBe('stop');
  });
  test('[CHAT-25] [CHAT-86] an answer that reaches its limit is length', async () => {
    expect(await finished('length', 'max_tokens')).toBe('length');
  });
  test('[CHAT-87] an answer that calls a tool is tool_calls', async () => {
    expect(await finished('tool_calls', 'tool')).toBe('tool_calls');
  });
  test('[CHAT-88] a filtered answer is content_filter', async () => {
    expect(await finished('content_filter', 'safety')).toBe('content_filter');
  });

  test('[CHAT-84] [CHAT-89] finish_reason is of the list, native_finish_reason is the engine’s own', async () => {
    const finish = { reason: 'length' as const, native: 'MAX_TOKENS' };
    const { choices } = await completion(answerOf('', { choices: [choiceOf({ finish })] }));
    expect(choices[0]).toMatchObject({ finish_reason: 'length', native_finish_reason: 'MAX_TOKENS' });
  });

  test('[CHAT-90] [CHAT-91] [CHAT-92] usage is always whole, zeros included, and cost is a number', async () => {
    const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
    expect((await completion(answerOf('', { usage }), {}, 0n)).usage).toEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
      cost: 0,
    });
    expect((await completion(answerOf('a'), {}, 1n)).usage.cost).toBe(1e-12);
    expect((await completion(answerOf('a'), {}, 1_500_000_000_000n)).usage.cost).toBe(1.5);
  });

  test('[STREAM-1] stream false, null or absent answers JSON', async () => {
    for (const fields of [{}, { stream: false }, { stream: null }])
      expect((await completion(answerOf('Hi'), fields)).object).toBe('chat.completion');
  });
});

describe('the operation', () => {
  test('it carries the caller and the generation id, and its rate becomes headers', async () => {
    const shell = createChatShell();
    for (const stream of [true, false]) {
      const answer = await shell.post({ messages: hello, stream });
      expect(answer.headers).toMatchObject({
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '59',
        'x-ratelimit-reset-requests': '1s',
      });
      expect(shell.operations.at(-1)).toMatchObject({
        id: answer.headers['x-generation-id'],
        name: 'chat',
        caller: { subscriptionId: 'sub_1', keyId: 'key_1' },
      });
    }
  });
});

describe('failures', () => {
  const post = (error: Error, stream = false) =>
    createChatShell({
      answer: error,
      stream: () => {
        throw error;
      },
    }).post({ messages: hello, stream });

  test.each<[ErrorKind, number, string, string]>([
    ['invalid_request', 400, 'invalid_request', 'validation_error'],
    ['rate_limited', 429, 'rate_limit_exceeded', 'rate_limit_error'],
    ['unreachable', 502, 'provider_unavailable', 'server_error'],
    ['overloaded', 503, 'provider_overloaded', 'server_error'],
    ['timeout', 504, 'timeout', 'timeout_error'],
  ])(
    '[ERR-1] [ERR-2] [ERR-3] [ERR-40] %s before the first token is a JSON %i',
    async (kind, status, errorType, type) => {
      for (const stream of [false, true]) {
        const answer = await post(new GatewayError(kind, 'No.', { retryAfterSeconds: 7 }), stream);
        expect(answer.status).toBe(status);
        expect(answer.headers['content-type']).toMatch(/^application\/json/);
        expect(answer.headers['retry-after']).toBe('7');
        expect(answer.json()).toEqual({
          error: { code: status, message: 'No.', type, metadata: { error_type: errorType } },
        });
      }
    },
  );

  test('[ERR-34] [ERR-35] [ERR-36] an engine that is away, busy or silent is a 502, 503 or 504', async () => {
    expect((await post(new GatewayError('unreachable', 'x'))).status).toBe(502);
    expect((await post(new GatewayError('overloaded', 'x'))).status).toBe(503);
    expect((await post(new GatewayError('timeout', 'x'))).status).toBe(504);
  });

  test('[ERR-18] [ERR-37] a fault of our own is a 500 that shows nothing of itself', async () => {
    for (const stream of [false, true]) {
      const answer = await post(new Error('secret at /src/x.ts'), stream);
      expect(answer.status).toBe(500);
      expect(answer.body).not.toContain('secret');
      expect(answer.json().error).toMatchObject({ type: 'server_error', metadata: { error_type: 'server' } });
    }
  });

  const shell = createChatShell();
  const send = (payload: string, headers: Record<string, string> = {}) =>
    shell.send({
      method: 'POST',
      url: '/v1/chat/completions',
      payload,
      headers: { 'content-type': 'application/json', ...headers },
    });

  test('[ERR-6] [ERR-7] [ERR-8] what is not JSON is a 400, and an empty body is {}', async () => {
    expect((await send('{"messages":')).status).toBe(400);
    const empty = await send('');
    expect(empty.status).toBe(400);
    expect(empty.json().error.param).toBe('messages');
    expect((await send('a=b', { 'content-type': 'text/plain' })).status).toBe(400);
  });

  test('[ERR-12] [ERR-14] no key is a 401, another method a 405', async () => {
    expect((await shell.post({ messages: hello }, { key: null })).status).toBe(401);
    expect((await shell.post({ messages: hello }, { key: 'wrong' })).json().error).toMatchObject({
      message: 'Invalid API key',
      type: 'auth_error',
    });
    const got = await shell.send({ url: '/v1/chat/completions' });
    expect(got.status).toBe(405);
    expect(got.headers['allow']).toContain('POST');
  });

  test('[ERR-16] [ERR-33] a body over 64 MiB is a 413 that gives the limit', async () => {
    const answer = await send('{}', { 'content-length': String(64 * 1024 * 1024 + 1) });
    expect(answer.status).toBe(413);
    expect(answer.json().error).toMatchObject({
      type: 'invalid_request_error',
      metadata: { error_type: 'payload_too_large' },
    });
    expect(answer.json().error.message).toContain('64 MiB');
  });
});

describe('a client that leaves', () => {
  test.each([true, false])('aborts the operation (stream: %s)', async (stream) => {
    const started = Promise.withResolvers<Operation['signal']>();
    const wait = ({ signal }: Operation) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        started.resolve(signal);
      });
    const shell = createChatShell({ stream: (_, __, operation) => wait(operation), whole: wait });
    const address = await shell.listen();
    const client = new AbortController();
    const sent = request(`${address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shellKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: hello, stream }),
      signal: client.signal,
    }).catch(() => 'left');
    const signal = await started.promise;
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', resolve));
    client.abort();
    await aborted;
    expect(signal.aborted).toBe(true);
    expect(await sent).toBe('left');
    await shell.close();
  });
});
