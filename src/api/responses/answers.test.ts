/** What a client gets back whole: the response object, its items, and every failure in the route's envelope. */
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { answerOf, choiceOf } from '../../../test/support/chat-shell.ts';
import { createResponsesShell } from '../../../test/support/responses-shell.ts';
import { shellKey } from '../../../test/support/shell.ts';
import type { FinishReason } from '../../engines/contract/chat.ts';
import { type ErrorKind, GatewayError } from '../../lib/errors.ts';
import type { Operation } from '../../platform/inference/types.ts';

type Choice = Parameters<typeof choiceOf>[0];

const shell = createResponsesShell();
const answered = (choice: Choice, fields: object = {}) =>
  createResponsesShell({ answer: answerOf('', { choices: [choiceOf(choice)] }) }).response(fields);

describe('the response object', () => {
  test('[RESP-1] a valid request is 200 with a response and an id that starts with resp_', async () => {
    const sent = await shell.post({ input: 'Hi' });
    expect(sent.status).toBe(200);
    expect(sent.headers['content-type']).toBe('application/json; charset=utf-8');
    const { id, object } = sent.json();
    expect(object).toBe('response');
    expect(id).toMatch(/^resp_[0-9a-f]{24}$/);
    expect(sent.headers['x-generation-id']).toBe(id.replace('resp_', 'gen_'));
    expect(sent.headers['x-ratelimit-limit-requests']).toBe('60');
  });

  test('[RESP-19] [RESP-20] [RESP-21] [RESP-22] [RESP-26] it has every field, null where nothing was said', async () => {
    const { id, created_at, completed_at, output, ...rest } = await shell.response();
    expect(rest).toEqual({
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      model: 'plain',
      parallel_tool_calls: true,
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      tool_choice: 'auto',
      tools: [],
      access_programs: null,
      background: false,
      max_output_tokens: null,
      max_tool_calls: null,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: true,
      text: { format: { type: 'text' } },
      top_logprobs: 0,
      truncation: 'disabled',
      user: null,
      usage: {
        input_tokens: 20,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 3 },
        total_tokens: 29,
        cost: 0.000012345678,
      },
    });
    for (const time of [created_at, completed_at]) {
      expect(Number.isInteger(time)).toBe(true);
      expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(60);
    }
    expect(output).toHaveLength(1);
    expect(id).toMatch(/^resp_/);
  });

  test('[RESP-19] [RESP-20] it tells what was asked', async () => {
    const weather = { type: 'function', name: 'get_weather', parameters: { type: 'object' } };
    const format = { type: 'json_schema', name: 'recipe', schema: { type: 'object' }, strict: true };
    const asked = {
      instructions: 'Sei kürz “bitte” 🙂',
      metadata: { ключ: 'значение' },
      parallel_tool_calls: false,
      temperature: 0.5,
      top_p: 0.25,
      tool_choice: { type: 'function', name: 'get_weather' },
      max_output_tokens: 77,
      max_tool_calls: 3,
      prompt_cache_key: 'key',
      safety_identifier: 'safe',
      top_logprobs: 2,
      user: 'me',
      store: false,
    };
    const response = await shell.response({
      ...asked,
      model: 'thinker',
      tools: [weather],
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format, verbosity: 'low' },
      truncation: 'auto',
      service_tier: 'flex',
    });
    expect(response).toMatchObject(asked);
    expect(response).toMatchObject({
      model: 'thinker',
      tools: [{ ...weather, description: null, strict: null }],
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format },
      truncation: 'disabled',
      service_tier: 'default',
    });
    expect((await shell.response({ reasoning: { generate_summary: 'concise' } })).reasoning.summary).toBe(
      'concise',
    );
    expect((await shell.response({ text: { format: { type: 'json_object' } } })).text.format).toEqual({
      type: 'json_object',
    });
  });

  test('[RESP-35] ids of responses and items are never used twice', async () => {
    const answer = answerOf('Hi', { choices: [choiceOf({ text: 'Hi', reasoning: 'Hm' })] });
    const many = createResponsesShell({ answer });
    const responses = await Promise.all(Array.from({ length: 20 }, () => many.response()));
    const ids = responses.flatMap(({ id, output }) => [id, ...output.map((item: { id: string }) => item.id)]);
    const kept = [...many.responses.kept.values()].flatMap(({ input }) => input.map(({ id }) => id));
    expect(new Set([...ids, ...kept]).size).toBe(80);
  });
});

describe('the items', () => {
  test('[RESP-23] a message', async () => {
    const text = 'Grüße “🙂”\n\\ \u0000 \u2028';
    const { output } = await answered({ text });
    expect(output).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      },
    ]);
  });

  test('[RESP-24] thoughts, as they are or as a summary', async () => {
    const [plain] = (await answered({ text: 'Hi', reasoning: 'Hmm “ü”' })).output;
    expect(plain).toEqual({
      id: expect.stringMatching(/^rs_/),
      type: 'reasoning',
      status: 'completed',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hmm “ü”' }],
    });
    for (const reasoning of [{ summary: 'auto' }, { summary: 'concise' }, { summary: 'detailed' }]) {
      const [summed] = (await answered({ text: 'Hi', reasoning: 'Hmm' }, { reasoning })).output;
      expect([summed.summary, summed.content]).toEqual([[{ type: 'summary_text', text: 'Hmm' }], []]);
    }
  });

  test('[RESP-25] calls, whose arguments are at least {}', async () => {
    const toolCalls = [
      { id: 'call_a', name: 'get_weather', arguments: '{"city": "Köln"}' },
      { id: 'call_b', name: 'get_time', arguments: '' },
    ];
    const finish = { reason: 'tool_calls' as const, native: 'tool_calls' };
    const { output, status } = await answered({ toolCalls, finish });
    const item = { id: expect.stringMatching(/^fc_/), type: 'function_call', status: 'completed' };
    expect(output).toEqual([
      { ...item, call_id: 'call_a', name: 'get_weather', arguments: '{"city": "Köln"}' },
      { ...item, call_id: 'call_b', name: 'get_time', arguments: '{}' },
    ]);
    expect(status).toBe('completed');
  });

  test('thoughts come first, then the message, then the calls; what is not there has no item', async () => {
    const toolCalls = [{ id: 'call_a', name: 'get_weather', arguments: '{}' }];
    const { output } = await answered({ text: 'Hi', reasoning: 'Hm', toolCalls });
    expect(output.map(({ type }: { type: string }) => type)).toEqual([
      'reasoning',
      'message',
      'function_call',
    ]);
    expect((await answered({ text: '' })).output).toEqual([]);
  });

  test('[RESP-11] log probabilities stand with their text, bytes always a list', async () => {
    const token = { token: 'é', logprob: -0.5, bytes: null, topLogprobs: [] };
    const other = { token: 'a', logprob: Number.NEGATIVE_INFINITY, bytes: [97] };
    const { output } = await answered({ text: 'éa', logprobs: [token, { ...other, topLogprobs: [other] }] });
    expect(output[0].content[0].logprobs).toEqual([
      { token: 'é', logprob: -0.5, bytes: [195, 169], top_logprobs: [] },
      {
        token: 'a',
        logprob: -9999,
        bytes: [97],
        top_logprobs: [{ token: 'a', logprob: -9999, bytes: [97] }],
      },
    ]);
  });
});

describe('the end', () => {
  const ended = (reason: FinishReason, choice: Choice = { text: 'Hi' }) =>
    answered({ ...choice, finish: { reason, native: reason } });

  test('[RESP-26] a finished answer is completed', async () => {
    for (const reason of ['stop', 'tool_calls'] as const) {
      const response = await ended(reason);
      expect([response.status, response.incomplete_details]).toEqual(['completed', null]);
      expect(Number.isInteger(response.completed_at)).toBe(true);
    }
  });

  test('[RESP-27] one that was cut is incomplete, with the reason', async () => {
    for (const [reason, told] of [
      ['length', 'max_output_tokens'],
      ['content_filter', 'content_filter'],
    ] as const) {
      const response = await ended(reason);
      expect(response).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: told },
        completed_at: null,
        error: null,
      });
      expect(response.usage.output_tokens).toBe(9);
    }
  });

  test('[RESP-27] only what was written last is incomplete', async () => {
    const toolCalls = [
      { id: 'call_a', name: 'f', arguments: '{}' },
      { id: 'call_b', name: 'f', arguments: '{"a' },
    ];
    const { output } = await ended('length', { text: 'Hi', reasoning: 'Hm', toolCalls });
    expect(output.map(({ status }: { status: string }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
      'incomplete',
    ]);
    expect((await ended('length', { reasoning: 'Hm' })).output[0].status).toBe('incomplete');
  });
});

describe('failures', () => {
  test.each([
    ['unreachable', 502, 'provider_unavailable'],
    ['overloaded', 503, 'provider_overloaded'],
    ['timeout', 504, 'timeout'],
    ['invalid_request', 400, 'invalid_request'],
    ['rate_limited', 429, 'rate_limit_exceeded'],
    ['internal', 500, 'server'],
  ] as const)('[RESP-28] %s is an HTTP error, and nothing is kept', async (kind: ErrorKind, status, type) => {
    const failing = createResponsesShell({ answer: new GatewayError(kind, 'It failed') });
    const sent = await failing.post({ input: 'Hi' });
    expect(sent.status).toBe(status);
    expect(sent.json().error).toMatchObject({
      code: status,
      message: 'It failed',
      metadata: { error_type: type },
    });
    expect(failing.responses.kept.size).toBe(0);
  });

  test('[RESP-46] an answer that cannot be kept is answered, and says that it is not stored', async () => {
    const broken = { ...shell.responses, save: () => Promise.reject(new Error('the disk is full')) };
    const failing = createResponsesShell({ platform: { responses: broken } });
    const response = await failing.response();
    expect([response.status, response.store]).toEqual(['completed', false]);
    const events = await failing.events();
    expect([events[0].response.store, events.at(-1).response.store]).toEqual([true, false]);
    expect(failing.logged.filter(({ msg }) => msg === 'a response could not be kept')).toHaveLength(2);
  });

  test('a body over 64 MiB is a 413, and one just inside is read', async () => {
    const most = 64 * 1024 * 1024;
    const body = (bytes: number) => JSON.stringify({ input: 'a'.repeat(bytes - '{"input":""}'.length) });
    const headers = { 'content-type': 'application/json' };
    const send = (bytes: number) =>
      shell.send({ method: 'POST', url: '/v1/responses', headers, payload: body(bytes) });
    expect((await send(most + 1)).status).toBe(413);
    expect((await createResponsesShell({ promptTokens: 5 }).post({ input: 'a' })).status).toBe(200);
    expect((await send(most)).status).toBe(200);
  });

  test('[RESP-48] a client that leaves stops the work, and nothing is kept', async () => {
    const started = Promise.withResolvers<Operation>();
    const waiting = createResponsesShell({
      whole: (operation) => {
        started.resolve(operation);
        return new Promise((_, reject) => {
          operation.signal.addEventListener('abort', () => reject(operation.signal.reason), { once: true });
        });
      },
    });
    const address = await waiting.listen();
    try {
      const abort = new AbortController();
      const asked = request(`${address}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${shellKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ input: 'Hi' }),
        signal: abort.signal,
      });
      const { signal } = await started.promise;
      const left = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      abort.abort();
      await expect(asked).rejects.toThrow();
      await left;
      expect(waiting.responses.kept.size).toBe(0);
    } finally {
      await waiting.close();
    }
  });
});
