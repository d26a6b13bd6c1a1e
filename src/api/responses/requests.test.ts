/** What reaches the engine of a request, and what is refused with the field's name. */
import { describe, expect, test } from 'vitest';
import { computing } from '../../../test/support/computing.ts';
import { createResponsesShell } from '../../../test/support/responses-shell.ts';

const loaded = { type: 'text' as const, text: 'loaded' };
const attachments = {
  asked: [] as unknown[],
  async load(wanted: readonly unknown[]) {
    attachments.asked = [...wanted];
    return wanted.map(() => loaded);
  },
};
const shell = createResponsesShell({ attachments });

const messagesOf = async (input: unknown, fields: object = {}) =>
  (await shell.request({ input, ...fields })).messages;
const said = (content: unknown, role = 'user') => [{ type: 'message', role, content }];

describe('the model', () => {
  test('[RESP-2] it may be left out, or null, for the default chat model', async () => {
    for (const fields of [{}, { model: null }]) {
      expect((await shell.request(fields)).model).toBe('Org/Plain');
      expect((await shell.response(fields)).model).toBe('plain');
    }
    expect((await shell.response({ model: 'tuned' })).model).toBe('tuned');
  });

  test('an unknown one is a 404', async () => {
    expect((await shell.post({ input: 'Hi', model: 'nobody' })).status).toBe(404);
  });
});

describe('the input', () => {
  test('[RESP-3] it may be a string', async () => {
    expect(await messagesOf('Hi')).toEqual([{ role: 'user', content: 'Hi' }]);
  });

  test('[RESP-3] it may be a list of messages with a role and a content, with or without a type', async () => {
    const input = [
      { role: 'system', content: 'Be short.' },
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { type: 'message', role: 'user', content: 'Again', id: 'msg_1', status: 'completed' },
      { type: null, role: 'user', content: 'And again' },
    ];
    expect(await messagesOf(input)).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'Again' },
      { role: 'user', content: 'And again' },
    ]);
  });

  test('it must be there, and something must be said', async () => {
    expect(await shell.refusal({ input: undefined })).toEqual({
      message: 'input is required',
      param: 'input',
    });
    expect(await shell.refusal({ input: null })).toEqual({ message: 'input is required', param: 'input' });
    expect(await shell.refusal({ input: [] })).toEqual({
      message: 'input must not be empty',
      param: 'input',
    });
    expect((await shell.refusal({ input: [], instructions: 'Be short.' })).param).toBe('input');
    expect((await shell.refusal({ input: 5 })).param).toBe('input');
  });

  test.each([
    [{ role: 'robot', content: 'Hi' }, 'input[0].role'],
    [{ role: 'user' }, 'input[0].content'],
    [{ role: 'user', content: 5 }, 'input[0].content'],
    [{ role: 'user', content: [{ type: 'input_text' }] }, 'input[0].content[0].text'],
    [{ role: 'user', content: [{ type: 'sculpture' }] }, 'input[0].content[0].type'],
    [{ type: 'web_search_call', id: 'ws_1' }, 'input[0].type'],
    [{ type: 'item_reference' }, 'input[0].id'],
  ])('an item that is none is named: %j', async (item, param) => {
    expect((await shell.refusal({ input: [item] })).param).toBe(param);
  });

  test.each([
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'x' },
    { type: 'x', role: 'user', content: 'Hi' },
  ])('of an item of an unknown type the type is what is wrong: %j', async (item) => {
    const { message, param } = await shell.refusal({ input: [...said('Hi'), item] });
    expect(param).toBe('input[1].type');
    expect(message).toContain(
      'must be one of "message", "function_call", "function_call_output", "reasoning", "item_reference"',
    );
  });

  test('[RESP-4] input_text, output_text and refusal parts are text', async () => {
    const parts = [
      { type: 'input_text', text: 'one' },
      { type: 'output_text', text: 'two', annotations: [], logprobs: [] },
      { type: 'refusal', refusal: 'three' },
    ];
    expect(await messagesOf(said(parts))).toEqual([
      { role: 'user', content: ['one', 'two', 'three'].map((text) => ({ type: 'text', text })) },
    ]);
    // The question last: what the assistant said is one text, its parts are paragraphs.
    const input = [...said(parts, 'assistant'), ...said('Hi')];
    expect((await messagesOf(input))[0]).toEqual({ role: 'assistant', content: 'one\ntwo\nthree' });
    expect((await messagesOf([...said(parts, 'developer'), ...said('Hi')]))[0]?.content).toBe(
      'one\ntwo\nthree',
    );
  });

  test('[RESP-4] input_image takes an address or data as a string, with its detail', async () => {
    const [message] = await messagesOf(
      said([
        { type: 'input_text', text: 'See' },
        { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      ]),
      { model: 'seer' },
    );
    expect(message?.content).toEqual([{ type: 'text', text: 'See' }, loaded, loaded]);
    expect(attachments.asked).toEqual([
      {
        kind: 'image',
        source: 'https://example.com/a.png',
        detail: 'low',
        param: 'input[0].content[1].image_url',
      },
      { kind: 'image', source: 'data:image/png;base64,AAAA', param: 'input[0].content[2].image_url' },
    ]);
  });

  test('[RESP-4] input_file takes file_data or file_url, for every model', async () => {
    const data = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' };
    await messagesOf(
      said([
        data,
        { type: 'input_file', file_data: 'AAAA' },
        { type: 'input_file', file_url: 'https://example.com/b' },
      ]),
    );
    const path = 'input[0].content';
    expect(attachments.asked).toEqual([
      {
        kind: 'document',
        source: data.file_data,
        filename: 'a.pdf',
        isBase64: true,
        param: `${path}[0].file_data`,
      },
      { kind: 'document', source: 'AAAA', isBase64: true, param: `${path}[1].file_data` },
      { kind: 'document', source: 'https://example.com/b', param: `${path}[2].file_url` },
    ]);
  });

  test('[RESP-4] input_audio is base64; a video has an address', async () => {
    const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
    const video = { type: 'input_video', video_url: 'https://example.com/v.mp4' };
    await messagesOf(said([audio, video]), { model: 'seer' });
    expect(attachments.asked).toEqual([
      { kind: 'audio', source: 'AAAA', isBase64: true, param: 'input[0].content[0].input_audio' },
      { kind: 'video', source: 'https://example.com/v.mp4', param: 'input[0].content[1].video_url' },
    ]);
  });

  test.each([
    [{ type: 'input_image' }, 'input[0].content[0].image_url'],
    [{ type: 'input_image', file_id: 'file-1' }, 'input[0].content[0].file_id'],
    [{ type: 'input_file' }, 'input[0].content[0].file_data'],
    [{ type: 'input_file', file_id: 'file-1' }, 'input[0].content[0].file_id'],
  ])('what is not in the request cannot be attached: %j', async (part, param) => {
    expect((await shell.refusal({ model: 'seer', input: said([part]) })).param).toBe(param);
  });

  test('a model that takes no images names the part, and other roles take text alone', async () => {
    const image = { type: 'input_image', image_url: 'https://example.com/a.png' };
    expect((await shell.refusal({ input: said([image]) })).param).toBe('input[0].content[0].image_url');
    for (const role of ['system', 'developer', 'assistant'])
      expect((await shell.refusal({ model: 'seer', input: said([image], role) })).param).toBe(
        'input[0].content[0]',
      );
  });

  test('a final message of the assistant is not continued', async () => {
    const input = [...said('Hi'), { role: 'assistant', content: 'Hel' }];
    const { messages, continueFinal } = await shell.request({ input });
    expect([messages.at(-1), continueFinal]).toEqual([{ role: 'assistant', content: 'Hel' }, false]);
  });
});

const call = (id: string, name = 'get_weather') => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: '{}',
});
const result = (id: string, output: unknown) => ({ type: 'function_call_output', call_id: id, output });
const toolCall = (id: string) => ({ id, name: 'get_weather', arguments: '{}' });

describe('tool turns', () => {
  test('[RESP-5] what the assistant says and calls in one turn is one message, each result another', async () => {
    const input = [
      ...said('Weather?'),
      { role: 'assistant', content: 'I look.' },
      call('call_a'),
      call('call_b'),
      result('call_a', 'sunny'),
      result('call_b', 'rainy'),
      call('call_c'),
      result('call_c', 'cold'),
    ];
    expect(await messagesOf(input)).toEqual([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: 'I look.', toolCalls: [toolCall('call_a'), toolCall('call_b')] },
      { role: 'tool', content: 'sunny', toolCallId: 'call_a' },
      { role: 'tool', content: 'rainy', toolCallId: 'call_b' },
      { role: 'assistant', content: null, toolCalls: [toolCall('call_c')] },
      { role: 'tool', content: 'cold', toolCallId: 'call_c' },
    ]);
  });

  test('several messages of the assistant in a row are one', async () => {
    const input = [...said('a', 'assistant'), ...said('b', 'assistant'), ...said('Hi')];
    expect((await messagesOf(input))[0]).toEqual({ role: 'assistant', content: 'a\nb' });
  });

  test('[RESP-5] the output may be parts: text is joined, pictures are loaded', async () => {
    const texts = [
      { type: 'input_text', text: 'sunny' },
      { type: 'input_text', text: 'warm' },
    ];
    const turn = (output: unknown) => [...said('Weather?'), call('call_a'), result('call_a', output)];
    expect((await messagesOf(turn(texts))).at(-1)?.content).toBe('sunny\nwarm');
    const image = { type: 'input_image', image_url: 'https://example.com/a.png' };
    const seen = (await messagesOf(turn([...texts, image]), { model: 'seer' })).at(-1);
    expect(seen?.content).toEqual([{ type: 'text', text: 'sunny' }, { type: 'text', text: 'warm' }, loaded]);
    expect(attachments.asked).toMatchObject([{ kind: 'image', param: 'input[2].output[2].image_url' }]);
    const alone = (await messagesOf(turn([image]), { model: 'seer' })).at(-1);
    expect(alone?.content).toEqual([loaded]);
  });

  test('[RESP-6] a result without a call_id is a 400 that names it', async () => {
    const without = { type: 'function_call_output', output: 'sunny' };
    expect((await shell.refusal({ input: [...said('Hi'), without] })).param).toBe('input[1].call_id');
    for (const [field, param] of Object.entries({
      call_id: 'call_id',
      name: 'name',
      arguments: 'arguments',
    })) {
      const item = { ...call('call_a'), [field]: undefined };
      expect((await shell.refusal({ input: [item] })).param).toBe(`input[0].${param}`);
    }
    expect((await shell.refusal({ input: [{ ...result('call_a', 'x'), output: undefined }] })).param).toBe(
      'input[0].output',
    );
  });

  test('[RESP-7] reasoning items are ignored, whatever they hold, and do not part a turn', async () => {
    const input = [
      ...said('Weather?'),
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
      call('call_a'),
      { type: 'reasoning', id: 'rs_2', summary: [{ type: 'summary_text', text: 'Hm' }], content: null },
      call('call_b'),
      result('call_a', 'sunny'),
    ];
    expect(await messagesOf(input)).toEqual([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, toolCalls: [toolCall('call_a'), toolCall('call_b')] },
      { role: 'tool', content: 'sunny', toolCallId: 'call_a' },
    ]);
    // Alone they say nothing.
    expect((await shell.refusal({ input: [{ type: 'reasoning', summary: [] }] })).param).toBe('input');
  });
});

describe('what is asked', () => {
  test('[RESP-9] instructions come first', async () => {
    const messages = await messagesOf([{ role: 'developer', content: 'Be kind.' }, ...said('Hi')], {
      instructions: 'Be short.',
    });
    expect(messages.map(({ content }) => content)).toEqual(['Be short.', 'Be kind.', 'Hi']);
    expect(messages[0]?.role).toBe('system');
  });

  test('[RESP-10] max_output_tokens limits the answer, as far as the model and its window go', async () => {
    expect((await shell.request({ max_output_tokens: 7 })).maxTokens).toBe(7);
    expect((await shell.request({ max_output_tokens: null })).maxTokens).toBe(32_768);
    expect((await shell.request({ model: 'tuned', max_output_tokens: 5000 })).maxTokens).toBe(500);
    expect((await shell.refusal({ max_output_tokens: 0 })).param).toBe('max_output_tokens');
    expect((await shell.refusal({ max_output_tokens: 1.5 })).param).toBe('max_output_tokens');
    // A window of 1000, 100 tokens of prompt and the margin of 32.
    expect((await shell.request({ model: 'small' })).maxTokens).toBe(868);
    const full = createResponsesShell({ promptTokens: 968 });
    expect(await full.refusal({ model: 'small' })).toEqual({
      message: 'input fills the context window: 968 tokens of 1000',
      param: 'input',
    });
  });

  test('[RESP-11] temperature and top_p have their bounds and defaults', async () => {
    const { temperature, topP } = await shell.request();
    expect([temperature, topP]).toEqual([1, 1]);
    for (const value of [0, 2]) expect((await shell.request({ temperature: value })).temperature).toBe(value);
    for (const value of [0, 1]) expect((await shell.request({ top_p: value })).topP).toBe(value);
    for (const temperature of [-0.1, 2.1])
      expect((await shell.refusal({ temperature })).param).toBe('temperature');
    for (const top_p of [-0.1, 1.1]) expect((await shell.refusal({ top_p })).param).toBe('top_p');
    const tuned = await shell.response({ model: 'tuned' });
    expect([tuned.temperature, tuned.top_p, tuned.frequency_penalty, tuned.presence_penalty]).toEqual([
      0.6, 0.95, 0.1, 0.2,
    ]);
  });

  test('[RESP-11] log probabilities come by top_logprobs or by their name in include', async () => {
    const include = ['message.output_text.logprobs'];
    expect((await shell.request()).topLogprobs).toBeUndefined();
    expect((await shell.request({ top_logprobs: 0 })).topLogprobs).toBeUndefined();
    expect((await shell.request({ top_logprobs: 20 })).topLogprobs).toBe(20);
    expect((await shell.request({ include })).topLogprobs).toBe(0);
    expect((await shell.request({ include, top_logprobs: 3 })).topLogprobs).toBe(3);
    for (const top_logprobs of [-1, 21, 1.5])
      expect((await shell.refusal({ top_logprobs })).param).toBe('top_logprobs');
    expect((await shell.refusal({ model: 'bare', top_logprobs: 1 })).param).toBe('top_logprobs');
    expect((await shell.refusal({ model: 'bare', include })).param).toBe('include');
  });

  test('[RESP-11] reasoning.effort goes through the model’s levels', async () => {
    for (const effort of ['low', 'medium', 'high'])
      expect((await shell.request({ model: 'thinker', reasoning: { effort } })).thinking).toEqual({
        enabled: true,
        effort,
      });
    expect((await shell.request({ model: 'thinker', reasoning: { effort: 'none' } })).thinking).toEqual({
      enabled: false,
    });
    for (const effort of ['ultra', 'max', 'xhigh', 'minimal'])
      expect((await shell.refusal({ model: 'thinker', reasoning: { effort } })).param).toBe(
        'reasoning.effort',
      );
    expect((await shell.refusal({ model: 'thinker', reasoning: { effort: 'huge' } })).param).toBe(
      'reasoning.effort',
    );
    expect((await shell.refusal({ reasoning: { effort: 'low' } })).param).toBe('reasoning.effort');
    expect((await shell.request({ reasoning: { effort: null, summary: 'auto' } })).thinking).toBeUndefined();
  });

  test('[RESP-11] a budget and the switch work as on chat', async () => {
    const thinking = async (reasoning: object) =>
      (await shell.request({ model: 'thinker', reasoning })).thinking;
    expect(await thinking({ max_tokens: 100 })).toEqual({ enabled: true, budgetTokens: 100 });
    expect(await thinking({ enabled: false })).toEqual({ enabled: false });
    const tight = { model: 'thinker', max_output_tokens: 100, reasoning: { max_tokens: 100 } };
    expect((await shell.refusal(tight)).param).toBe('reasoning.max_tokens');
  });
});

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {} },
  strict: true,
};
const clock = { type: 'function', name: 'get_time', strict: null, parameters: null };
const tools = [weather, clock];

describe('tools', () => {
  test('[RESP-12] [RESP-16] they are flat; null and $schema are taken', async () => {
    const { tools: sent } = await shell.request({ tools });
    const { type: _, ...declared } = weather;
    expect(sent).toEqual([declared, { name: 'get_time' }]);
    expect((await shell.request({ tools: [] })).tools).toBeUndefined();
    expect((await shell.refusal({ model: 'bare', tools })).param).toBe('tools');
    expect((await shell.refusal({ tools: [weather, { type: 'function' }] })).param).toBe('tools[1].name');
  });

  test.each([
    ['a'.repeat(64), 200],
    ['a'.repeat(65), 400],
    ['', 400],
    ['get weather', 400],
    ['get-weather_2', 200],
  ])('a tool is called by a plain name: %s', async (name, status) => {
    expect((await shell.post({ input: 'Hi', tools: [{ type: 'function', name }] })).status).toBe(status);
  });

  test('[RESP-13] tool_choice takes none, auto, required and a named function', async () => {
    for (const choice of ['none', 'auto', 'required'])
      expect((await shell.request({ tools, tool_choice: choice })).toolChoice).toBe(choice);
    const named = { type: 'function', name: 'get_time' };
    expect((await shell.request({ tools, tool_choice: named })).toolChoice).toEqual({ name: 'get_time' });
    expect((await shell.request({ tool_choice: 'none' })).toolChoice).toBeUndefined();
    for (const tool_choice of ['auto', 'required', named])
      expect((await shell.refusal({ tool_choice })).param).toBe('tool_choice');
    expect((await shell.refusal({ tools, tool_choice: { type: 'function', name: 'fly' } })).param).toBe(
      'tool_choice',
    );
    expect((await shell.refusal({ tools, tool_choice: 'sometimes' })).param).toBe('tool_choice');
    expect((await shell.refusal({ tools, tool_choice: { type: 'web_search_preview' } })).param).toContain(
      'tool_choice',
    );
  });

  test('[RESP-13] allowed_tools leaves the model those that it names, and its mode', async () => {
    const choose = (mode: string, ...names: string[]) => ({
      type: 'allowed_tools',
      mode,
      tools: names.map((name) => ({ type: 'function', name })),
    });
    for (const mode of ['auto', 'required']) {
      const request = await shell.request({ tools, tool_choice: choose(mode, 'get_time') });
      expect([request.tools, request.toolChoice]).toEqual([[{ name: 'get_time' }], mode]);
    }
    // The response tells what was asked.
    expect((await shell.response({ tools, tool_choice: choose('auto', 'get_time') })).tools).toHaveLength(2);
    expect((await shell.refusal({ tools, tool_choice: choose('auto', 'get_time', 'fly') })).param).toBe(
      'tool_choice.tools[1].name',
    );
    expect((await shell.refusal({ tools, tool_choice: choose('never', 'get_time') })).param).toBe(
      'tool_choice.mode',
    );
    expect((await shell.refusal({ tools, tool_choice: choose('auto') })).param).toBe('tool_choice.tools');
    expect((await shell.refusal({ tool_choice: choose('auto', 'get_time') })).param).toBe('tool_choice');
  });

  test('[RESP-13] tens of thousands of allowed tools take no longer than reading them', async () => {
    const name = (index: number) => `tool_${index}`;
    const count = 30_000;
    const many = Array.from({ length: count }, (_, index) => ({ type: 'function', name: name(index) }));
    const last = Array.from({ length: count }, () => ({ type: 'function', name: name(count - 1) }));
    const computed = computing();
    const request = await shell.request({
      tools: many,
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: last },
    });
    expect(request.tools).toEqual([{ name: name(count - 1) }]);
    // Every one against every other took 20 s.
    expect(computed()).toBeLessThan(3_000);
  });

  test('[RESP-15] parallel_tool_calls reaches the engine', async () => {
    expect((await shell.request({ tools, parallel_tool_calls: false })).parallelToolCalls).toBe(false);
    expect((await shell.request({ tools })).parallelToolCalls).toBeUndefined();
  });
});

describe('the text', () => {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };
  const format = { type: 'json_schema', name: 'recipe', description: 'One.', schema, strict: true };

  test('[RESP-14] text.format takes text, json_object and a flat json_schema', async () => {
    expect((await shell.request({ text: { format: { type: 'text' } } })).responseFormat).toBeUndefined();
    expect((await shell.request({ text: { format: { type: 'json_object' } } })).responseFormat).toEqual({
      type: 'json_object',
    });
    expect((await shell.request({ text: { format } })).responseFormat).toEqual(format);
    const loose = { type: 'json_schema', name: 'recipe', schema };
    expect((await shell.request({ text: { format: { ...loose, strict: null } } })).responseFormat).toEqual(
      loose,
    );
  });

  test('[RESP-14] what is missing in a format is named', async () => {
    for (const field of ['name', 'schema'])
      expect((await shell.refusal({ text: { format: { ...format, [field]: undefined } } })).param).toBe(
        `text.format.${field}`,
      );
    expect((await shell.refusal({ text: { format: { type: 'xml' } } })).param).toBe('text.format.type');
    expect((await shell.refusal({ model: 'bare', text: { format } })).param).toBe('text.format');
  });

  test('[RESP-15] [RESP-16] verbosity is ignored, and an empty text taken', async () => {
    for (const text of [{}, { verbosity: 'low' }, { format: null, verbosity: null }, null])
      expect((await shell.request({ text })).responseFormat).toBeUndefined();
  });
});

describe('other fields', () => {
  test('[RESP-15] [RESP-16] [RESP-17] are accepted, and reach no engine', async () => {
    const plain = await shell.request();
    const fields = {
      metadata: { a: 'b' },
      include: ['reasoning.encrypted_content', 'file_search_call.results'],
      user: 'somebody',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      truncation: 'auto',
      access_programs: ['x'],
      image: {},
      moderation: {},
      context_management: [{}],
      prompt_cache_options: {},
      prompt_cache_retention: '24h',
      safety_identifier: 'abc',
      stream_options: { include_obfuscation: false },
      max_tool_calls: 3,
      background: false,
      conversation: null,
      prompt: null,
      something_new: true,
    };
    expect(await shell.request(fields)).toEqual(plain);
    const nothing = Object.fromEntries(Object.keys(fields).map((name) => [name, null]));
    expect(await shell.request(nothing)).toEqual(plain);
  });

  test('[RESP-15] metadata has the bounds of OpenAI, because it is kept', async () => {
    const pairs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
    const status = async (metadata: object) => (await shell.post({ input: 'Hi', metadata })).status;
    expect([await status(pairs(16)), await status(pairs(17))]).toEqual([200, 400]);
    expect([await status({ ['k'.repeat(64)]: 'v' }), await status({ ['k'.repeat(65)]: 'v' })]).toEqual([
      200, 400,
    ]);
    expect([await status({ k: 'v'.repeat(512) }), await status({ k: 'v'.repeat(513) })]).toEqual([200, 400]);
    expect(await status({ k: 5 })).toBe(400);
  });

  test.each([
    ['user', 512],
    ['prompt_cache_key', 64],
    ['safety_identifier', 64],
  ] as const)('[RESP-15] %s has %i characters at most, because it is kept', async (field, maxLength) => {
    expect((await shell.response({ [field]: 'é'.repeat(maxLength) }))[field]).toHaveLength(maxLength);
    expect((await shell.refusal({ [field]: 'é'.repeat(maxLength + 1) })).param).toBe(field);
  });

  test('[RESP-18] what cannot be served is a 400 that names it', async () => {
    expect((await shell.refusal({ background: true })).param).toBe('background');
    for (const conversation of ['conv_1', { id: 'conv_1' }])
      expect((await shell.refusal({ conversation })).param).toBe('conversation');
    expect((await shell.refusal({ prompt: { id: 'pmpt_1' } })).param).toBe('prompt');
    for (const type of [
      'web_search',
      'file_search',
      'mcp',
      'code_interpreter',
      'custom',
      'image_generation',
    ]) {
      expect((await shell.refusal({ tools: [{ type }] })).param).toBe('tools[0].type');
      expect((await shell.refusal({ tools: [weather, { type, name: 'x' }] })).param).toBe('tools[1].type');
    }
  });

  test('a refused request counts against no limit', async () => {
    const fresh = createResponsesShell();
    await fresh.refusal({ background: true });
    await fresh.refusal({ previous_response_id: 'resp_unknown', tool_choice: 'auto' });
    expect(fresh.operations).toEqual([]);
    await fresh.response();
    expect(fresh.operations).toMatchObject([{ name: 'responses', caller: { subscriptionId: 'sub_1' } }]);
  });
});
