/** The fields of a messages request: their bounds, what they become for the engine, and how failures are told. */
import { describe, expect, test } from 'vitest';
import { chatModels, hello } from '../../../test/support/chat-shell.ts';
import { createMessagesShell } from '../../../test/support/messages-shell.ts';
import { type ErrorKind, GatewayError } from '../../lib/errors.ts';
import { createMessage } from './routes.ts';

const shell = createMessagesShell();
const { request, refusal } = shell;

const weather = { name: 'get_weather', input_schema: { type: 'object', properties: { city: {} } } };

describe('the request', () => {
  test('[MSG-2] model is required', async () => {
    for (const model of [undefined, null, 7]) expect(await refusal({ model })).toMatch(/^model /);
    expect(await refusal({ model: undefined })).toBe('model is required');
  });

  test('[MSG-3] an alias anthropic/<id> is the model without the prefix', async () => {
    expect((await request({ model: 'anthropic/plain' })).model).toBe('Org/Plain');
    expect((await shell.message({ model: 'anthropic/plain' })).model).toBe('plain');
  });

  test('[MSG-4] max_tokens is required and a whole number from 0', async () => {
    expect(await refusal({ max_tokens: undefined })).toBe('max_tokens is required');
    for (const max_tokens of [-1, 0.5, '10', null])
      expect(await refusal({ max_tokens })).toMatch(/^max_tokens must be /);
    expect((await request({ max_tokens: 1 })).maxTokens).toBe(1);
  });

  test('[MSG-5] max_tokens 0 reaches the engine as it is', async () => {
    expect((await request({ max_tokens: 0 })).maxTokens).toBe(0);
  });

  test('[MSG-6] max_tokens is the one limit of thinking and text, within what the model can answer', async () => {
    const asked = await request({ model: 'thinker', max_tokens: 3000, thinking: { type: 'adaptive' } });
    expect(asked).toMatchObject({ maxTokens: 3000, thinking: { enabled: true } });
    expect(asked.thinking).not.toHaveProperty('budgetTokens');
    expect((await request({ model: 'tuned', max_tokens: 501 })).maxTokens).toBe(500);
  });

  test('[MSG-7] messages are required, at least one', async () => {
    expect(await refusal({ messages: undefined })).toBe('messages is required');
    expect(await refusal({ messages: [] })).toBe('messages must have at least 1 item');
  });

  test('[MSG-20] temperature goes from 0 to 1', async () => {
    for (const temperature of [0, 0.5, 1])
      expect((await request({ temperature })).temperature).toBe(temperature);
    expect((await request({ temperature: null })).temperature).toBe(1);
    for (const temperature of [-0.1, 1.1, '1'])
      expect(await refusal({ temperature })).toMatch(/^temperature must be /);
  });

  test('[MSG-21] top_p goes from 0 to 1', async () => {
    for (const top_p of [0, 1]) expect((await request({ top_p })).topP).toBe(top_p);
    for (const top_p of [-0.1, 1.1, true]) expect(await refusal({ top_p })).toMatch(/^top_p must be /);
  });

  test('[MSG-22] top_k is a whole number', async () => {
    for (const top_k of [0, 40]) expect((await request({ top_k })).topK).toBe(top_k);
    expect(await request({ top_k: null })).not.toHaveProperty('topK');
    for (const top_k of [1.5, '3', -1]) expect(await refusal({ top_k })).toMatch(/^top_k must be /);
  });

  test('[MSG-23] stop_sequences is an array of strings, of any length', async () => {
    const stop_sequences = ['a', 'b', 'c', 'd', 'e'];
    expect((await request({ stop_sequences })).stop).toEqual(stop_sequences);
    expect(await request({ stop_sequences: [] })).not.toHaveProperty('stop');
    expect(await refusal({ stop_sequences: 'a' })).toMatch(/^stop_sequences must be /);
    expect(await refusal({ stop_sequences: ['a', 1] })).toMatch(/^stop_sequences\[1\] must be /);
  });

  test('[MSG-24] metadata.user_id is any text', async () => {
    for (const metadata of [{ user_id: 'user_1 \u{1f600}' }, { user_id: null }, {}, null])
      expect(await request({ metadata })).toEqual(await request());
    expect(await refusal({ metadata: { user_id: 7 } })).toMatch(/^metadata.user_id must be /);
  });

  test('null means omitted', async () => {
    const nothing = Object.fromEntries(
      ['system', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'metadata', 'output_config']
        .concat(['thinking', 'tools', 'tool_choice'])
        .map((name) => [name, null]),
    );
    expect(await request(nothing)).toEqual(await request());
  });

  test('[MSG-62] [MSG-63] what belongs to other services is accepted and ignored', async () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const plain = await request({ tools: [weather], system: 'Be kind' });
    const decorated = {
      tools: [{ ...weather, eager_input_streaming: true, cache_control, type: 'custom' }],
      system: [{ type: 'text', text: 'Be kind', cache_control, citations: null }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control, citations: [] }] }],
      cache_control,
      citations: { enabled: true },
      service_tier: 'auto',
      container: 'c_1',
      context_management: { edits: [] },
      metadata: { user_id: 'u', more: 1 },
      betas: ['x'],
      speed: 'fast',
      some_field: 1,
    };
    const answer = await shell.post(decorated, {
      headers: { 'anthropic-beta': 'context-1m-2025-08-07,other' },
      search: '?beta=true',
    });
    expect(answer.status).toBe(200);
    expect(shell.requests.at(-1)).toEqual(plain);
  });

  test('[MSG-62] a replayed caller of a tool_use is accepted', async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, caller: { type: 'direct' } };
    const messages = [...hello, { role: 'assistant', content: [call] }];
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] };
    expect((await request({ messages: [...messages, result] })).messages).toHaveLength(3);
  });

  test('a conversation that the server should have kept is a 404 by which the SDK knows to send it whole', async () => {
    expect((await shell.post({ messages: hello, thread: { type: 'create' } })).status).toBe(200);
    const thread = { type: 'continue', previous_message_id: 'msg_1' };
    const answer = await shell.post({ messages: hello, thread });
    expect([answer.status, answer.json().error]).toEqual([
      404,
      {
        type: 'not_found_error',
        message: expect.stringMatching(/^thread.previous_message_id/),
        details: { error_code: 'thread_not_found' },
      },
    ]);
  });

  test('[ROUTE-27] old, new and unknown versions of the format get the same answer', async () => {
    const answers = await Promise.all(
      ['2023-01-01', '2023-06-01', '2026-10-21', 'tomorrow', undefined].map(async (version) => {
        const headers = version === undefined ? {} : { 'anthropic-version': version };
        const { id, ...rest } = (await shell.post({ messages: hello }, { headers })).json();
        return rest;
      }),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });
});

describe('effort and format', () => {
  test('[MSG-25] effort takes seven levels', async () => {
    for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'])
      expect((await request({ model: 'muser', output_config: { effort } })).thinking).toEqual({
        enabled: true,
        effort,
      });
    for (const effort of ['none', 'huge', 3])
      expect(await refusal({ model: 'muser', output_config: { effort } })).toMatch(/^output_config.effort /);
  });

  test('[MSG-26] a level that the model does not have is a 400', async () => {
    expect((await request({ model: 'thinker', output_config: { effort: 'high' } })).thinking?.effort).toBe(
      'high',
    );
    expect(await refusal({ model: 'thinker', output_config: { effort: 'xhigh' } })).toMatch(
      /^output_config.effort/,
    );
    expect(await refusal({ model: 'plain', output_config: { effort: 'low' } })).toMatch(
      /^output_config.effort /,
    );
  });

  test('[MSG-27] output_config.format becomes the response format', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const format = { type: 'json_schema', schema };
    expect((await request({ output_config: { format } })).responseFormat).toEqual({
      type: 'json_schema',
      name: 'output',
      schema,
      strict: true,
    });
    expect(await request({ output_config: { format: null, effort: null } })).not.toHaveProperty(
      'responseFormat',
    );
    expect(await refusal({ output_config: { format: { type: 'json_schema' } } })).toBe(
      'output_config.format.schema is required',
    );
    expect(await refusal({ output_config: { format: { type: 'xml', schema } } })).toMatch(
      /^output_config.format.type /,
    );
    expect(await refusal({ model: 'bare', output_config: { format } })).toMatch(/^output_config.format /);
  });
});

describe('thinking', () => {
  const enabled = (budget_tokens?: unknown) => ({ thinking: { type: 'enabled', budget_tokens } });

  test('[MSG-28] it is enabled, adaptive or disabled', async () => {
    const of = async (thinking: object, model = 'thinker') =>
      (await request({ model, max_tokens: 5000, thinking })).thinking;
    expect(await of({ type: 'enabled', budget_tokens: 2000 })).toEqual({ enabled: true, budgetTokens: 2000 });
    expect(await of({ type: 'adaptive' })).toEqual({ enabled: true });
    expect(await of({ type: 'disabled' })).toEqual({ enabled: false });
    for (const type of ['between_tools', 'on', true])
      expect(await refusal({ model: 'thinker', thinking: { type } })).toMatch(/^thinking.type must be /);
  });

  test('without a word about it the model thinks as it does by itself', async () => {
    expect(await request({ model: 'thinker' })).not.toHaveProperty('thinking');
    expect(await request({ model: 'thinker', thinking: {} })).not.toHaveProperty('thinking');
  });

  test('adaptive is taken by every model: one that does not think just answers', async () => {
    expect(await request({ model: 'plain', thinking: { type: 'adaptive' } })).not.toHaveProperty('thinking');
    expect((await request({ model: 'muser', thinking: { type: 'adaptive' } })).thinking).toEqual({
      enabled: true,
    });
    expect(await request({ model: 'plain', thinking: { type: 'disabled' } })).not.toHaveProperty('thinking');
  });

  test('thinking that cannot be turned off is not', async () => {
    expect(await refusal({ model: 'ponderer', thinking: { type: 'disabled' } })).toMatch(/^thinking.type/);
  });

  test('effort and adaptive go together', async () => {
    const fields = { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } };
    expect((await request({ model: 'thinker', ...fields })).thinking).toEqual({
      enabled: true,
      effort: 'low',
    });
  });

  test('[MSG-29] enabled needs budget_tokens', async () => {
    for (const budget of [undefined, null])
      expect(await refusal({ model: 'thinker', max_tokens: 5000, ...enabled(budget) })).toMatch(
        /^thinking.budget_tokens is required/,
      );
  });

  test('[MSG-30] a budget is at least 1024', async () => {
    const asked = (budget: number) => ({ model: 'thinker', max_tokens: 5000, ...enabled(budget) });
    expect((await request(asked(1024))).thinking?.budgetTokens).toBe(1024);
    expect(await refusal(asked(1023))).toBe('thinking.budget_tokens must be at least 1024');
    expect(await refusal(asked(1024.5))).toMatch(/^thinking.budget_tokens must be /);
  });

  test('[MSG-31] a budget is below max_tokens', async () => {
    const asked = (budget: number) => ({ model: 'thinker', max_tokens: 2000, ...enabled(budget) });
    expect((await request(asked(1999))).thinking?.budgetTokens).toBe(1999);
    expect(await refusal(asked(2000))).toBe('thinking.budget_tokens must be below max_tokens, which is 2000');
  });

  test('[MSG-32] a budget is below what the window leaves', async () => {
    const reasoning = { supportsMaxTokens: true };
    const tightModel = {
      id: 'tight',
      type: 'chat',
      engine: 'sandbox',
      contextLength: 4000,
      reasoning,
    } as const;
    const tight = createMessagesShell({ models: [...chatModels, tightModel], promptTokens: 1968 });
    const asked = (budget: number) => ({ model: 'tight', max_tokens: 3990, ...enabled(budget) });
    // 4000 - 1968 - 32 = 2000 are left.
    expect(await tight.request(asked(1999))).toMatchObject({
      maxTokens: 2000,
      thinking: { enabled: true, budgetTokens: 1999 },
    });
    expect(await tight.refusal(asked(2000))).toMatch(/^thinking.budget_tokens must be below .* 2000/);
  });

  test('[MSG-33] a model that cannot hold to a budget refuses enabled', async () => {
    for (const model of ['muser', 'plain'])
      expect(await refusal({ model, max_tokens: 5000, ...enabled(1024) })).toMatch(/^thinking.type /);
  });

  test('[MSG-34] display is summarized or omitted', async () => {
    for (const display of ['summarized', 'omitted', null])
      expect(await request({ model: 'thinker', thinking: { type: 'adaptive', display } })).toHaveProperty(
        'thinking',
      );
    expect(await refusal({ thinking: { type: 'adaptive', display: 'full' } })).toMatch(
      /^thinking.display must be /,
    );
  });

  test('[MSG-36] display with thinking disabled is a 400', async () => {
    for (const display of ['summarized', 'omitted'])
      expect(await refusal({ model: 'thinker', thinking: { type: 'disabled', display } })).toMatch(
        /^thinking.display /,
      );
    expect(await request({ model: 'thinker', thinking: { type: 'disabled', display: null } })).toBeDefined();
  });

  test('[MSG-39] :express derives a budget where budgets are enforced and none is given', async () => {
    expect((await request({ model: 'thinker:express', max_tokens: 8000 })).thinking).toEqual({
      enabled: true,
      budgetTokens: 2000,
    });
    const given = { model: 'thinker:express', max_tokens: 8000, ...enabled(3000) };
    expect((await request(given)).thinking?.budgetTokens).toBe(3000);
    expect(await request({ model: 'muser:express', max_tokens: 8000 })).not.toHaveProperty('thinking');
  });
});

describe('tools', () => {
  const tools = [weather];

  test('[MSG-40] a name has 1 to 200 characters', async () => {
    for (const name of ['f', 'x'.repeat(200)])
      expect((await request({ tools: [{ ...weather, name }] })).tools?.[0]?.name).toBe(name);
    for (const name of ['', 'x'.repeat(201), undefined])
      expect(await refusal({ tools: [{ ...weather, name }] })).toMatch(/^tools\[0\].name /);
  });

  test('[MSG-41] input_schema is required and an object', async () => {
    expect(await refusal({ tools: [{ name: 'f' }] })).toBe('tools[0].input_schema is required');
    for (const input_schema of ['{}', [], null])
      expect(await refusal({ tools: [{ name: 'f', input_schema }] })).toMatch(
        /^tools\[0\].input_schema must be /,
      );
  });

  test('[MSG-42] [MSG-43] [MSG-44] they become function tools; type and cache_control are left behind', async () => {
    const cache_control = { type: 'ephemeral' };
    const described = { ...weather, description: 'The weather', type: 'custom', cache_control, strict: true };
    const { tools: forwarded } = await request({ tools: [weather, described] });
    const parameters = weather.input_schema;
    expect(forwarded).toEqual([
      { name: 'get_weather', parameters },
      { name: 'get_weather', description: 'The weather', parameters, strict: true },
    ]);
    const { usage } = await shell.message({ tools: [described] });
    expect(usage).toMatchObject({
      cache_creation_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    });
  });

  test('a model without tools refuses them', async () => {
    expect(await refusal({ model: 'bare', tools })).toMatch(/^tools /);
  });

  test('[MSG-45] auto leaves the choice to the model', async () => {
    expect((await request({ tools, tool_choice: { type: 'auto' } })).toolChoice).toBe('auto');
    expect(await request({ tools })).not.toHaveProperty('toolChoice');
    expect(await request({ tool_choice: { type: 'auto' } })).not.toHaveProperty('toolChoice');
  });

  test('[MSG-46] any forces a call', async () => {
    expect((await request({ tools, tool_choice: { type: 'any' } })).toolChoice).toBe('required');
    expect(await refusal({ tool_choice: { type: 'any' } })).toBe('tool_choice requires tools');
  });

  test('[MSG-47] tool forces the tool that is named', async () => {
    const choice = (name?: string | null) => ({ tools, tool_choice: { type: 'tool', name } });
    expect((await request(choice('get_weather'))).toolChoice).toEqual({ name: 'get_weather' });
    for (const name of [undefined, null])
      expect(await refusal(choice(name))).toMatch(/^tool_choice.name is required/);
    expect(await refusal(choice('other'))).toMatch(/^tool_choice names "other"/);
  });

  test('[MSG-48] none and disable_parallel_tool_use are accepted', async () => {
    expect((await request({ tools, tool_choice: { type: 'none' } })).toolChoice).toBe('none');
    expect(await request({ tool_choice: { type: 'none' } })).not.toHaveProperty('toolChoice');
    const parallel = async (disable_parallel_tool_use: boolean | null) =>
      (await request({ tools, tool_choice: { type: 'auto', disable_parallel_tool_use } })).parallelToolCalls;
    expect(await parallel(true)).toBe(false);
    for (const value of [false, null]) expect(await parallel(value)).toBeUndefined();
    expect(await refusal({ tools, tool_choice: { type: 'required' } })).toMatch(/^tool_choice.type must be /);
    expect(await refusal({ tools, tool_choice: 'auto' })).toMatch(/^tool_choice must be /);
  });
});

describe('the shell around it', () => {
  test('[LIMIT-15] the rate headers come in both families', async () => {
    const before = Date.now();
    for (const stream of [false, true]) {
      const { headers } = await shell.post({ messages: hello, stream });
      expect(headers).toMatchObject({
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '59',
        'x-ratelimit-reset-requests': '1s',
        'anthropic-ratelimit-requests-limit': '60',
        'anthropic-ratelimit-requests-remaining': '59',
      });
      const reset = String(headers['anthropic-ratelimit-requests-reset']);
      expect(reset).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(Date.parse(reset)).toBeGreaterThanOrEqual(before + 1000);
      expect(Date.parse(reset)).toBeLessThanOrEqual(Date.now() + 2000);
    }
  });

  test('it is metered as messages, under the id that names the answer', async () => {
    const answer = await shell.post({ messages: hello });
    const { id } = answer.json();
    const operation = shell.operations.at(-1);
    expect(operation).toMatchObject({ name: 'messages', caller: { subscriptionId: 'sub_1' } });
    expect(operation?.id).toBe(`gen_${id.slice('msg_'.length)}`);
    expect(answer.headers['x-generation-id']).toBe(operation?.id);
  });

  test('a body may have 64 MiB', () => {
    expect(createMessage.maxBodyBytes).toBe(64 * 1024 * 1024);
  });

  const told = async (kind: ErrorKind, stream: boolean) => {
    const error = new GatewayError(kind, 'Told so', kind === 'rate_limited' ? { retryAfterSeconds: 3 } : {});
    const failing = createMessagesShell({ answer: error, stream: () => Promise.reject(error) });
    const answer = await failing.post({ messages: hello, stream });
    const { type, error: body, request_id } = answer.json();
    expect(type).toBe('error');
    expect(body.message).toBe('Told so');
    expect(Object.keys(body).sort()).toEqual(['message', 'type']);
    expect(request_id).toBe(answer.headers['request-id']);
    return [answer.status, body.type, answer.headers['retry-after']];
  };

  test('[ERR-25] [ERR-26] [ERR-27] [ERR-31] [ERR-32] failures are told in the shape of the format', async () => {
    for (const stream of [false, true]) {
      expect(await told('invalid_request', stream)).toEqual([400, 'invalid_request_error', undefined]);
      expect(await told('rate_limited', stream)).toEqual([429, 'rate_limit_error', '3']);
      expect(await told('internal', stream)).toEqual([500, 'api_error', undefined]);
      expect(await told('unreachable', stream)).toEqual([502, 'api_error', undefined]);
      expect(await told('overloaded', stream)).toEqual([503, 'api_error', undefined]);
      expect(await told('timeout', stream)).toEqual([504, 'api_error', undefined]);
    }
  });

  test('[ERR-25] [ERR-27] [ERR-28] [ERR-29] [ERR-30] so are those before the handler', async () => {
    const typeOf = (answer: { status: number; json(): { type: string; error: { type: string } } }) => [
      answer.status,
      answer.json().type,
      answer.json().error.type,
    ];
    for (const url of ['/v1/messages', '/v1/messages/count_tokens']) {
      const send = (options: object) => shell.send({ method: 'POST', url, payload: {}, ...options });
      expect(typeOf(await send({ key: null }))).toEqual([401, 'error', 'authentication_error']);
      expect(typeOf(await send({ key: 'rh_wrong' }))).toEqual([401, 'error', 'authentication_error']);
      expect(typeOf(await send({ payload: '{' }))).toEqual([400, 'error', 'invalid_request_error']);
      expect(typeOf(await send({ method: 'GET', payload: undefined }))).toEqual([
        405,
        'error',
        'invalid_request_error',
      ]);
      const unknown = { model: 'nobody', max_tokens: 1, messages: hello };
      expect(typeOf(await send({ payload: unknown }))).toEqual([404, 'error', 'not_found_error']);
      const large = { 'content-length': String(64 * 1024 * 1024 + 1), 'content-type': 'application/json' };
      expect(typeOf(await send({ payload: '{}', headers: large }))).toEqual([
        413,
        'error',
        'request_too_large',
      ]);
    }
    const byHeader = { key: null, headers: { 'x-api-key': 'rh_test-key' } };
    expect((await shell.post({ messages: hello }, byHeader)).status).toBe(200);
  });

  test('a prompt that fills the window is a 400', async () => {
    const full = createMessagesShell({ promptTokens: 968 });
    expect(await full.refusal({ model: 'small', max_tokens: 990 })).toMatch(
      /^messages fill the context window/,
    );
    const fitting = createMessagesShell({ promptTokens: 967 });
    expect((await fitting.request({ model: 'small', max_tokens: 990 })).maxTokens).toBe(1);
  });
});
