/** The request's fields, one by one: what reaches inference, and what is refused by name. */
import { describe, expect, test } from 'vitest';
import { chatModels, createChatShell, hello } from '../../../test/support/chat-shell.ts';
import { ChatBody } from './schema.ts';

const shell = createChatShell();
const { request } = shell;

/** The field's name, as the refusal gives it. */
async function refused(fields: object, named: string, from = shell): Promise<void> {
  const answer = await from.post({ messages: hello, ...fields });
  expect(answer.status).toBe(400);
  const { error } = answer.json();
  expect(error).toMatchObject({
    code: 400,
    type: 'validation_error',
    metadata: { error_type: 'invalid_request' },
  });
  expect(error.message).toContain(named);
  expect(error.param).toContain(named);
}

describe('the model', () => {
  test('[CHAT-2] model omitted, or null, resolves to the default model', async () => {
    expect((await shell.post({ messages: hello })).json().model).toBe('plain');
    expect((await shell.post({ messages: hello, model: null })).json().model).toBe('plain');
    expect((await request()).model).toBe('Org/Plain');
  });

  test('[CHAT-3] a -normalize suffix of model is ignored', async () => {
    expect((await shell.post({ messages: hello, model: 'thinker-normalize' })).json().model).toBe('thinker');
  });

  test('[CHAT-4] a :variant suffix is parsed apart and the model before it answers', async () => {
    expect((await shell.post({ messages: hello, model: 'thinker:anything' })).json().model).toBe('thinker');
  });

  test('[CHAT-5] :express derives a quarter of the limit as thinking budget on a model with enforced budgets', async () => {
    expect((await request({ model: 'thinker:express', max_tokens: 1000 })).thinking).toEqual({
      enabled: true,
      budgetTokens: 250,
    });
    expect((await request({ model: 'thinker:express' })).thinking?.budgetTokens).toBe(8192);
    expect((await request({ model: 'thinker:express', max_tokens: 2 })).thinking?.budgetTokens).toBe(1);
    expect((await request({ model: 'thinker:express', max_tokens: 1 })).thinking).toBeUndefined();
  });

  test('[CHAT-5] :express keeps a given budget, and derives none when thinking is off', async () => {
    const given = { model: 'thinker:express', max_tokens: 1000, reasoning: { max_tokens: 77 } };
    expect((await request(given)).thinking?.budgetTokens).toBe(77);
    expect((await request({ model: 'thinker:express', reasoning: { enabled: false } })).thinking).toEqual({
      enabled: false,
    });
    expect((await request({ model: 'thinker' })).thinking).toBeUndefined();
  });

  test('[CHAT-6] :express derives no budget on a model without enforced budgets', async () => {
    expect((await request({ model: 'muser:express' })).thinking).toBeUndefined();
    expect((await request({ model: 'plain:express' })).thinking).toBeUndefined();
  });

  test('[CHAT-7] [ERR-10] [ERR-13] an unknown model, or one whose row is missing, is a 404', async () => {
    const unknown = await shell.post({ messages: hello, model: 'nobody' });
    expect(unknown.status).toBe(404);
    expect(unknown.json().error).toMatchObject({
      code: 404,
      type: 'not_found_error',
      metadata: { error_type: 'not_found' },
      param: 'model',
    });
    const rowless = createChatShell({
      readModels: ({ models }) => models.filter(({ id }) => id !== 'plain'),
    });
    expect((await rowless.post({ messages: hello, model: 'plain' })).status).toBe(404);
  });

  test('[CHAT-8] an unreadable served-model list is a 503', async () => {
    const unreadable = createChatShell({
      readServed: () => {
        throw new Error('gone');
      },
    });
    const answer = await unreadable.post({ messages: hello });
    expect(answer.status).toBe(503);
    expect(answer.json().error.metadata.error_type).toBe('provider_overloaded');
  });
});

describe('sampling', () => {
  test('[CHAT-9] n defaults to 1 and may be larger', async () => {
    expect((await request()).n).toBe(1);
    expect((await request({ n: 3 })).n).toBe(3);
  });

  test.each([0, -1, 1.5, '2', 129])('[CHAT-10] n %j is a 400 naming n', (n) => refused({ n }, 'n'));

  test('[CHAT-11] seed is an integer, null is a random one', async () => {
    expect((await request({ seed: -7 })).seed).toBe(-7);
    expect((await request({ seed: 0 })).seed).toBe(0);
    expect(await request({ seed: null })).not.toHaveProperty('seed');
    await refused({ seed: 1.5 }, 'seed');
    await refused({ seed: '1' }, 'seed');
  });

  /** Field, canonical name, lowest, highest, just outside on either side. */
  test.each([
    ['temperature', 'temperature', 0, 2, -0.01, 2.01],
    ['top_p', 'topP', 0, 1, -0.01, 1.01],
    ['frequency_penalty', 'frequencyPenalty', -2, 2, -2.01, 2.01],
    ['presence_penalty', 'presencePenalty', -2, 2, -2.01, 2.01],
    ['repetition_penalty', 'repetitionPenalty', 0, 2, -0.01, 2.01],
  ] as const)('%s is a number between its bounds', async (field, name, min, max, under, over) => {
    for (const value of [min, max, 1]) expect((await request({ [field]: value }))[name]).toBe(value);
    for (const value of [under, over, '1', true, []]) await refused({ [field]: value }, field);
  });

  test('[CHAT-12] temperature 2.1 is a 400 naming temperature', () =>
    refused({ temperature: 2.1 }, 'temperature'));
  test('[CHAT-15] top_p 1.1 is a 400 naming top_p', () => refused({ top_p: 1.1 }, 'top_p'));
  test('[CHAT-16] penalties beyond 2 are a 400 naming the field', async () => {
    await refused({ frequency_penalty: 2.1 }, 'frequency_penalty');
    await refused({ presence_penalty: -2.1 }, 'presence_penalty');
  });
  test('[CHAT-18] repetition_penalty is 0 to 2', async () => {
    expect((await request({ repetition_penalty: 1.0 })).repetitionPenalty).toBe(1);
    await refused({ repetition_penalty: 2.1 }, 'repetition_penalty');
  });

  test('[CHAT-13] [CHAT-15] [CHAT-16] temperature and top_p default to 1, the penalties to 0', async () => {
    const plain = await request();
    expect(plain).toMatchObject({ temperature: 1, topP: 1, frequencyPenalty: 0, presencePenalty: 0 });
    expect(plain).not.toHaveProperty('topK');
    expect(plain).not.toHaveProperty('repetitionPenalty');
  });

  test('a model that publishes default parameters has those instead', async () => {
    const defaults = {
      temperature: 0.6,
      topP: 0.95,
      topK: 20,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      repetitionPenalty: 1.05,
    };
    expect(await request({ model: 'tuned' })).toMatchObject(defaults);
    const given = { temperature: 0, top_p: 0, top_k: 0, frequency_penalty: 0, presence_penalty: 0 };
    expect(await request({ model: 'tuned', ...given, repetition_penalty: 0 })).toMatchObject({
      temperature: 0,
      topP: 0,
      topK: 0,
      frequencyPenalty: 0,
      presencePenalty: 0,
      repetitionPenalty: 0,
    });
  });

  test('[CHAT-14] temperature 0 reaches the engine as 0', async () => {
    expect((await request({ temperature: 0 })).temperature).toBe(0);
  });

  test('[CHAT-17] top_k is an integer of at least 0', async () => {
    expect((await request({ top_k: 0 })).topK).toBe(0);
    expect((await request({ top_k: 40 })).topK).toBe(40);
    await refused({ top_k: -1 }, 'top_k');
    await refused({ top_k: 1.5 }, 'top_k');
  });

  test('[CHAT-19] stop as a string works as a one-item array', async () => {
    expect((await request({ stop: 'END' })).stop).toEqual(['END']);
    expect(await request()).not.toHaveProperty('stop');
    expect(await request({ stop: ['', 'a'] })).toMatchObject({ stop: ['a'] });
    expect(await request({ stop: '' })).not.toHaveProperty('stop');
  });

  test('[CHAT-20] stop takes up to 4 strings, 5 are a 400 naming stop', async () => {
    expect((await request({ stop: ['a', 'b', 'c', 'd'] })).stop).toEqual(['a', 'b', 'c', 'd']);
    await refused({ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop');
    await refused({ stop: [1] }, 'stop');
    await refused({ stop: 1 }, 'stop');
  });

  test('[CHAT-41] [CHAT-43] [CHAT-44] logprobs and top_logprobs', async () => {
    expect((await request({ logprobs: true })).topLogprobs).toBe(0);
    expect((await request({ logprobs: true, top_logprobs: 0 })).topLogprobs).toBe(0);
    expect((await request({ logprobs: true, top_logprobs: 20 })).topLogprobs).toBe(20);
    expect(await request({ logprobs: false })).not.toHaveProperty('topLogprobs');
    await refused({ logprobs: true, top_logprobs: 21 }, 'top_logprobs');
    await refused({ logprobs: true, top_logprobs: -1 }, 'top_logprobs');
    await refused({ logprobs: true, top_logprobs: 1.5 }, 'top_logprobs');
    await refused({ top_logprobs: 5 }, 'top_logprobs');
    await refused({ logprobs: false, top_logprobs: 0 }, 'top_logprobs');
    await refused({ logprobs: null, top_logprobs: 1 }, 'top_logprobs');
  });
});

describe('limits and the window', () => {
  test('[CHAT-21] max_tokens is an alias of max_completion_tokens, and the latter wins', async () => {
    expect((await request({ max_tokens: 5 })).maxTokens).toBe(5);
    expect((await request({ max_completion_tokens: 6 })).maxTokens).toBe(6);
    expect((await request({ max_tokens: 5, max_completion_tokens: 6 })).maxTokens).toBe(6);
    expect((await request({ max_tokens: 5, max_completion_tokens: null })).maxTokens).toBe(5);
  });

  test('[CHAT-22] a limit below 1 is a 400 naming the one sent', async () => {
    expect((await request({ max_tokens: 1 })).maxTokens).toBe(1);
    for (const field of ['max_tokens', 'max_completion_tokens'])
      for (const value of [0, -1, 1.5]) await refused({ [field]: value }, field);
    await refused({ max_tokens: 0, max_completion_tokens: 5 }, 'max_tokens');
  });

  test('[CHAT-23] max_completion_tokens defaults to 32768', async () => {
    expect((await request()).maxTokens).toBe(32_768);
    expect((await request({ max_completion_tokens: null })).maxTokens).toBe(32_768);
  });

  test('a model that answers no more than so many tokens is asked for no more', async () => {
    expect((await request({ model: 'tuned' })).maxTokens).toBe(500);
    expect((await request({ model: 'tuned', max_tokens: 499 })).maxTokens).toBe(499);
  });

  test('[CHAT-24] a limit that does not fit is cut to window minus prompt minus 32', async () => {
    const counting = createChatShell({ promptTokens: 468 });
    const small = { model: 'small', messages: [{ role: 'user', content: 'word '.repeat(460) }] };
    expect((await counting.request(small)).maxTokens).toBe(500);
    expect((await counting.request({ ...small, max_tokens: 501 })).maxTokens).toBe(500);
    expect((await counting.request({ ...small, max_tokens: 500 })).maxTokens).toBe(500);
    expect((await counting.request({ ...small, max_tokens: 499 })).maxTokens).toBe(499);
  });

  test('[CHAT-24] the prompt is not counted when an upper bound already fits', async () => {
    const counting = createChatShell();
    await counting.request({ model: 'small', max_tokens: 500 });
    expect(counting.counted).toHaveLength(0);
    const long = [{ role: 'user', content: 'é'.repeat(200) }];
    await counting.request({ model: 'small', max_tokens: 500, messages: long });
    expect(counting.counted).toHaveLength(1);
    expect(counting.counted[0]).toMatchObject({ messages: long, maxTokens: 500 });
  });

  test('[CHAT-26] a prompt that leaves less than one token is a 400, one that leaves one is not', async () => {
    const full = createChatShell({ promptTokens: 968 });
    await refused({ model: 'small' }, 'messages', full);
    await refused({ model: 'small', stream: true }, 'messages', full);
    expect((await createChatShell({ promptTokens: 967 }).request({ model: 'small' })).maxTokens).toBe(1);
  });
});

describe('reasoning', () => {
  const levels = ['ultra', 'max', 'xhigh', 'high', 'medium', 'low', 'minimal'];

  test.each(levels)('[CHAT-27] reasoning_effort %s is taken', async (effort) => {
    expect((await request({ model: 'muser', reasoning_effort: effort })).thinking).toEqual({
      enabled: true,
      effort,
    });
  });

  test('[CHAT-27] another reasoning_effort is a 400 naming it', async () => {
    await refused({ model: 'muser', reasoning_effort: 'extreme' }, 'reasoning_effort');
    await refused({ model: 'muser', reasoning_effort: 1 }, 'reasoning_effort');
  });

  test('[CHAT-28] an effort that the model does not support is a 400', async () => {
    expect((await request({ model: 'thinker', reasoning_effort: 'high' })).thinking?.effort).toBe('high');
    await refused({ model: 'thinker', reasoning_effort: 'ultra' }, 'reasoning_effort');
    await refused({ model: 'thinker', reasoning: { effort: 'minimal' } }, 'reasoning.effort');
    await refused({ model: 'plain', reasoning_effort: 'low' }, 'reasoning_effort');
  });

  test('[CHAT-29] reasoning.effort takes the same values and wins over reasoning_effort', async () => {
    for (const effort of levels)
      expect((await request({ model: 'muser', reasoning: { effort } })).thinking?.effort).toBe(effort);
    const both = { model: 'muser', reasoning_effort: 'low', reasoning: { effort: 'high' } };
    expect((await request(both)).thinking?.effort).toBe('high');
    const none = { model: 'muser', reasoning_effort: 'low', reasoning: { effort: null } };
    expect((await request(none)).thinking?.effort).toBe('low');
    await refused({ model: 'muser', reasoning: { effort: 'extreme' } }, 'reasoning.effort');
  });

  test('[CHAT-30] effort none and enabled false turn thinking off', async () => {
    for (const off of [
      { reasoning_effort: 'none' },
      { reasoning: { effort: 'none' } },
      { reasoning: { enabled: false } },
      { reasoning: { enabled: false, effort: 'high' } },
    ])
      expect((await request({ model: 'thinker', ...off })).thinking).toEqual({ enabled: false });
    expect(await request({ model: 'plain', reasoning_effort: 'none' })).not.toHaveProperty('thinking');
    expect((await request({ model: 'thinker', reasoning: { enabled: true } })).thinking).toEqual({
      enabled: true,
    });
    await refused({ model: 'ponderer', reasoning: { enabled: false } }, 'reasoning.enabled');
    await refused({ model: 'ponderer', reasoning_effort: 'none' }, 'reasoning_effort');
    await refused({ model: 'thinker', reasoning: { enabled: 'no' } }, 'reasoning.enabled');
  });

  test('[CHAT-31] reasoning.summary changes nothing; another value is a 400', async () => {
    for (const summary of ['auto', 'concise', 'detailed'])
      expect(await request({ model: 'thinker', reasoning: { summary } })).toEqual(
        await request({ model: 'thinker' }),
      );
    await refused({ reasoning: { summary: 'long' } }, 'reasoning.summary');
  });

  test('[CHAT-32] reasoning.max_tokens is an integer of at least 1', async () => {
    const budget = (max_tokens: unknown) => ({ model: 'thinker', reasoning: { max_tokens } });
    expect((await request(budget(1))).thinking).toEqual({ enabled: true, budgetTokens: 1 });
    for (const value of [0, -1, 1.5, '9']) await refused(budget(value), 'reasoning.max_tokens');
  });

  test('[CHAT-33] reasoning.max_tokens not below the completion limit is a 400', async () => {
    const budget = (model: string, max_tokens: number) => ({
      model,
      max_tokens: 100,
      reasoning: { max_tokens },
    });
    expect((await request(budget('thinker', 99))).thinking?.budgetTokens).toBe(99);
    await refused(budget('thinker', 100), 'reasoning.max_tokens');
    await refused(budget('muser', 100), 'reasoning.max_tokens');
    await refused({ model: 'thinker', reasoning: { max_tokens: 32_768 } }, 'reasoning.max_tokens');
  });

  test('[CHAT-33] the limit that counts is the one after the cut to the window', async () => {
    const counting = createChatShell({ promptTokens: 868 });
    const budget = (max_tokens: number) => ({ model: 'small', reasoning: { max_tokens } });
    const cut = await counting.request(budget(99));
    expect(cut).toMatchObject({ maxTokens: 100, thinking: { budgetTokens: 99 } });
    await refused(budget(100), 'reasoning.max_tokens', counting);
    expect((await counting.request({ model: 'small:express' })).thinking?.budgetTokens).toBe(25);
  });

  test('[CHAT-34] reasoning.max_tokens is ignored when thinking is off or a message is continued', async () => {
    const off = { model: 'thinker', max_tokens: 10, reasoning: { max_tokens: 50, enabled: false } };
    expect((await request(off)).thinking).toEqual({ enabled: false });
    const continued = {
      model: 'thinker',
      max_tokens: 10,
      reasoning: { max_tokens: 50 },
      messages: [...hello, { role: 'assistant', content: 'So' }],
    };
    expect((await request(continued)).thinking).toEqual({ enabled: false });
  });

  test('[CHAT-35] [CHAT-36] a budget is handed on to models that enforce one, and to no others', async () => {
    const budget = { max_tokens: 100, reasoning: { max_tokens: 50 } };
    expect((await request({ model: 'thinker', ...budget })).thinking).toEqual({
      enabled: true,
      budgetTokens: 50,
    });
    expect((await request({ model: 'muser', ...budget })).thinking).toEqual({ enabled: true });
    expect(await request({ model: 'plain', ...budget })).not.toHaveProperty('thinking');
  });

  test('the defaults that a model publishes are asked for', async () => {
    const made = (reasoning: object) =>
      createChatShell({
        models: [{ ...chatModels[1]!, reasoning } as (typeof chatModels)[number]],
        defaults: {},
      });
    expect((await made({ defaultEnabled: false }).request()).thinking).toEqual({ enabled: false });
    expect((await made({ defaultEffort: 'low' }).request()).thinking).toEqual({
      enabled: true,
      effort: 'low',
    });
    expect((await made({ defaultEnabled: true }).request()).thinking).toEqual({ enabled: true });
    expect((await made({ defaultEffort: 'none' }).request()).thinking).toEqual({ enabled: false });
    const asked = await made({ defaultEnabled: false, defaultEffort: 'low' }).request({
      reasoning: { enabled: true },
    });
    expect(asked.thinking).toEqual({ enabled: true, effort: 'low' });
  });
});

describe('response_format', () => {
  test('[CHAT-37] response_format defaults to text', async () => {
    expect(await request()).not.toHaveProperty('responseFormat');
    expect(await request({ response_format: { type: 'text' } })).not.toHaveProperty('responseFormat');
  });

  test('[CHAT-38] json_object is asked of the engine', async () => {
    expect((await request({ response_format: { type: 'json_object' } })).responseFormat).toEqual({
      type: 'json_object',
    });
  });

  test('[CHAT-39] json_schema is asked of the engine with its schema', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const format = (json_schema: object) => ({ response_format: { type: 'json_schema', json_schema } });
    expect(
      (await request(format({ name: 'x', schema, strict: true, description: 'an x' }))).responseFormat,
    ).toEqual({ type: 'json_schema', name: 'x', schema, strict: true, description: 'an x' });
    expect((await request(format({ name: 'x', schema, strict: null }))).responseFormat).toEqual({
      type: 'json_schema',
      name: 'x',
      schema,
    });
    expect((await request(format({ name: 'x' }))).responseFormat).toEqual({ type: 'json_object' });
    await refused(format({ schema }), 'response_format.json_schema.name');
    await refused(format({ name: 'x', schema: 'object' }), 'response_format.json_schema.schema');
    await refused({ response_format: { type: 'json_schema' } }, 'response_format.json_schema');
  });

  test('[CHAT-40] another type is a 400 naming response_format', async () => {
    await refused({ response_format: { type: 'xml' } }, 'response_format');
    await refused({ response_format: 'json_object' }, 'response_format');
    await refused({ response_format: {} }, 'response_format');
  });
});

describe('tools', () => {
  const tool = (changes: object = {}, type = 'function') => ({ type, function: { name: 'f', ...changes } });

  test('a tool reaches the engine, and only what is named of it', async () => {
    const declared = tool({ description: 'does', parameters: { type: 'object' }, strict: true, cache: 1 });
    expect((await request({ tools: [declared, tool({ name: 'g' })] })).tools).toEqual([
      { name: 'f', description: 'does', parameters: { type: 'object' }, strict: true },
      { name: 'g' },
    ]);
    expect(await request({ tools: [] })).not.toHaveProperty('tools');
    expect((await request({ tools: [tool()], parallel_tool_calls: false })).parallelToolCalls).toBe(false);
    expect(await request({ parallel_tool_calls: false })).not.toHaveProperty('parallelToolCalls');
  });

  test('[CHAT-45] tool_choice other than none requires tools', async () => {
    for (const tool_choice of ['auto', 'required', tool()]) {
      await refused({ tool_choice }, 'tool_choice');
      await refused({ tool_choice, tools: [] }, 'tool_choice');
      await refused({ tool_choice, tools: null }, 'tool_choice');
    }
    expect(await request({ tool_choice: 'none' })).not.toHaveProperty('toolChoice');
  });

  test('[CHAT-46] tool_choice takes none, auto, required and a function', async () => {
    for (const tool_choice of ['none', 'auto', 'required'])
      expect((await request({ tools: [tool()], tool_choice })).toolChoice).toBe(tool_choice);
    expect((await request({ tools: [tool()], tool_choice: tool() })).toolChoice).toEqual({ name: 'f' });
    for (const tool_choice of ['any', 1, { type: 'tool', function: { name: 'f' } }, { type: 'function' }])
      await refused({ tools: [tool()], tool_choice }, 'tool_choice');
    await refused({ tools: [tool()], tool_choice: tool({ name: 'g' }) }, 'tool_choice');
  });

  test('[CHAT-47] a tool type other than function is a 400', () =>
    refused({ tools: [tool(), tool({}, 'custom')] }, 'tools[1].type'));

  test('[CHAT-48] a function name has letters, digits, underscore and dash, at most 64', async () => {
    for (const name of ['get_Weather-2', 'x'.repeat(64)])
      expect((await request({ tools: [tool({ name })] })).tools?.[0]?.name).toBe(name);
    for (const name of ['x'.repeat(65), 'a b', 'a.b', 'é', '', 'a\n', 7])
      await refused({ tools: [tool({ name })] }, 'tools[0].function.name');
  });

  test('[CHAT-49] function.parameters is an object', async () => {
    for (const parameters of ['object', 1, true, [], ['x']])
      await refused({ tools: [tool({ parameters })] }, 'tools[0].function.parameters');
    expect((await request({ tools: [tool({ parameters: {} })] })).tools?.[0]).toEqual({
      name: 'f',
      parameters: {},
    });
  });

  test('[CHAT-50] function.strict reaches the engine', async () => {
    expect((await request({ tools: [tool({ strict: true })] })).tools?.[0]?.strict).toBe(true);
    await refused({ tools: [tool({ strict: 'yes' })] }, 'tools[0].function.strict');
  });
});

test('what a model does not take is a 400 naming the field', async () => {
  await refused({ model: 'bare', tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools');
  await refused({ model: 'bare', response_format: { type: 'json_object' } }, 'response_format');
  await refused({ model: 'bare', logprobs: true }, 'logprobs');
});

test('[CHAT-65] null for any optional field means omitted', async () => {
  const fields = Object.keys(ChatBody.properties).filter((name) => name !== 'messages');
  const nulls = Object.fromEntries(fields.map((name) => [name, null]));
  expect(await request(nulls)).toEqual(await request());
  expect(fields.length).toBeGreaterThan(20);
});

test('unknown fields are ignored and never handed on', async () => {
  const foreign = {
    min_p: 0.5,
    user: 'someone',
    store: true,
    metadata: { a: 1 },
    provider: { order: ['x'] },
    transforms: ['middle-out'],
    service_tier: 'auto',
    logit_bias: { 1: 2 },
    anything: 'else',
    chat_template_kwargs: { enable_thinking: true },
  };
  expect(await request(foreign)).toEqual(await request());
  expect(JSON.stringify(await request(foreign))).not.toMatch(/min_p|middle-out|someone|chat_template/);
});
