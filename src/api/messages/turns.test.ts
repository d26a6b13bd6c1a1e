/** Turns as canonical messages: merging, order, blocks, tools, images and thoughts that come back. */
import { describe, expect, test } from 'vitest';
import { hello } from '../../../test/support/chat-shell.ts';
import { createMessagesShell, signatureOf } from '../../../test/support/messages-shell.ts';
import type { Attachment } from '../../platform/attachments/index.ts';

const loaded: Attachment[] = [];
const shell = createMessagesShell({
  attachments: {
    async load(attachments) {
      loaded.push(...attachments);
      return attachments.map(({ source }) => ({
        type: 'image',
        mediaType: 'image/png',
        base64: `<${source}>`,
      }));
    },
  },
});
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const system = (content: unknown) => ({ role: 'system', content });
const text = (said: string) => ({ type: 'text', text: said });
const call = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'f', input });
const result = (id: string, content?: unknown, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});
const image = { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } };
const picture = { type: 'image', mediaType: 'image/png', base64: '<https://x.test/a.png>' };

const messagesOf = async (messages: unknown[], more: object = {}) =>
  (await shell.request({ messages, ...more })).messages;
const refusal = (messages: unknown[], more: object = {}) => shell.refusal({ messages, ...more });

describe('turns', () => {
  test('[MSG-8] consecutive turns of the same role are merged', async () => {
    expect(
      await messagesOf([
        user('One'),
        user([text('Two'), text('Three')]),
        assistant('Four'),
        assistant([text('Fi'), text('ve')]),
        user('Six'),
      ]),
    ).toEqual([user('One\n\nTwo\n\nThree'), assistant('Four\n\nFive'), user('Six')]);
  });

  test('[MSG-8] with a picture among them they are merged as parts', async () => {
    expect(await messagesOf([user('One'), user([image, text('Two')])], { model: 'seer' })).toEqual([
      user([text('One'), picture, text('Two')]),
    ]);
  });

  test('[MSG-9] a final assistant message is continued, without the space at its end', async () => {
    for (const content of ['The answer is \n', [text('The answer'), text(' is ')]]) {
      const asked = await shell.request({ messages: [...hello, assistant(content)] });
      expect(asked.continueFinal).toBe(true);
      expect(asked.messages.at(-1)).toEqual(assistant('The answer is'));
    }
    expect((await shell.request()).continueFinal).toBe(false);
  });

  test('[MSG-9] there is no place to think in a continuation', async () => {
    const asked = await shell.request({
      model: 'thinker',
      messages: [...hello, assistant('Well')],
      thinking: { type: 'adaptive' },
    });
    expect(asked.thinking).toEqual({ enabled: false });
  });

  test('[MSG-9] a final assistant message with calls cannot be continued', async () => {
    expect(await refusal([...hello, assistant([text('a'), call('toolu_1')])])).toMatch(
      /^messages\[1\].content: a final assistant message is continued/,
    );
  });

  test('an assistant message with nothing in it is left out', async () => {
    for (const empty of ['', '  \n', [], [text('')], [{ type: 'redacted_thinking', data: 'x' }]]) {
      expect(await messagesOf([user('a'), assistant(empty), user('b')])).toEqual([user('a\n\nb')]);
      const asked = await shell.request({ messages: [user('a'), assistant(empty)] });
      expect([asked.messages, asked.continueFinal]).toEqual([[user('a')], false]);
    }
    expect(await refusal([assistant('')])).toMatch(/^messages must have at least one/);
  });

  test('[MSG-10] roles are user, assistant and system', async () => {
    expect(await messagesOf([user('a'), system('b'), assistant('c'), user('d')])).toHaveLength(4);
    for (const role of ['tool', 'developer', '', null])
      expect(await refusal([{ role, content: 'x' }])).toMatch(/^messages\[0\].role must be /);
    expect(await refusal([{ content: 'x' }])).toBe('messages[0].role is required');
  });

  test('[MSG-11] a system message that does not follow a user message is a 400', async () => {
    expect(await refusal([system('a'), user('b')])).toMatch(/^messages\[0\] is a system message/);
    expect(await refusal([user('a'), assistant('b'), system('c')])).toMatch(
      /^messages\[2\] is a system message/,
    );
  });

  test('[MSG-12] it may be last or before an assistant message, and keeps its place', async () => {
    expect(await messagesOf([user('a'), system('b')])).toEqual([user('a'), system('b')]);
    expect(await messagesOf([user('a'), system([text('b'), text('c')]), assistant('d'), user('e')])).toEqual([
      user('a'),
      system('b\n\nc'),
      assistant('d'),
      user('e'),
    ]);
    expect(await messagesOf([user('a'), system('b'), system('c')])).toEqual([user('a'), system('b\n\nc')]);
    const asked = await shell.request({ messages: [user('a'), system('b'), assistant('c')] });
    expect(asked).toMatchObject({ continueFinal: true, messages: [user('a'), system('b'), assistant('c')] });
    expect(await refusal([user('a'), system('b'), user('c')])).toMatch(
      /^messages\[2\] follows a system message/,
    );
  });

  test('[MSG-13] a system message takes only text', async () => {
    for (const block of [image, call('toolu_1'), result('toolu_1'), { type: 'thinking' }])
      expect(await refusal([user('a'), system([text('b'), block])], { model: 'seer' })).toMatch(
        /^messages\[1\].content\[1\] is of type/,
      );
  });

  test('[MSG-17] clear_at is never, or not there', async () => {
    for (const clear_at of ['never', null])
      expect(await messagesOf([{ ...user('a'), clear_at }])).toEqual([user('a')]);
    for (const clear_at of ['turn_end', true])
      expect(await refusal([{ ...user('a'), clear_at }])).toMatch(/^messages\[0\].clear_at must be /);
  });

  test('[MSG-18] output_config on a message is a 400', async () => {
    for (const output_config of [{ effort: 'low' }, {}, 1])
      expect(await refusal([user('a'), { ...user('b'), output_config }])).toMatch(
        /^messages\[1\].output_config /,
      );
    expect(await messagesOf([{ ...user('a'), output_config: null }])).toHaveLength(1);
  });

  test('[MSG-19] system is the first instruction, as a text or as text blocks', async () => {
    for (const given of ['Be kind', [text('Be kind')]])
      expect(await messagesOf(hello, { system: given })).toEqual([system('Be kind'), ...hello]);
    expect(await messagesOf(hello, { system: [text('a'), text('b')] })).toEqual([system('a\n\nb'), ...hello]);
    for (const given of ['', [], [text('')]])
      expect(await messagesOf(hello, { system: given })).toEqual(hello);
    expect(await refusal(hello, { system: [text('a'), image] })).toMatch(/^system\[1\]/);
    expect(await refusal(hello, { system: 7 })).toMatch(/^system must be /);
  });
});

describe('blocks', () => {
  test('[MSG-14] content is a text or blocks of known types', async () => {
    expect(await messagesOf([user([])])).toEqual([user('')]);
    for (const content of [undefined, null, 7])
      expect(await refusal([user(content)])).toMatch(/^messages\[0\].content /);
    for (const type of ['document', 'server_tool_use', 'search_result', 'container_upload', ''])
      expect(await refusal([user([text('a'), { type }])])).toMatch(
        /^messages\[0\].content\[1\].type must be /,
      );
    expect(await refusal([user([{ type: 'text' }])])).toBe('messages[0].content[0].text is required');
  });

  test('[MSG-14] each role has its own', async () => {
    expect(await refusal([user([call('toolu_1')])])).toMatch(
      /^messages\[0\].content\[0\] is of type tool_use/,
    );
    for (const block of [image, result('toolu_1')])
      expect(await refusal([...hello, assistant([text('a'), block])], { model: 'seer' })).toMatch(
        /^messages\[1\].content\[1\] is of type/,
      );
  });

  test('[MSG-15] an image comes as base64 or by its address', async () => {
    loaded.length = 0;
    const inline = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    expect(await messagesOf([user([text('a'), inline, image])], { model: 'seer' })).toEqual([
      user([text('a'), { ...picture, base64: '<AAAA>' }, picture]),
    ]);
    expect(loaded).toEqual([
      { kind: 'image', source: 'AAAA', isBase64: true, param: 'messages[0].content[1].source.data' },
      { kind: 'image', source: 'https://x.test/a.png', param: 'messages[0].content[2].source.url' },
    ]);
    const sourced = (source: unknown) => refusal([user([{ type: 'image', source }])], { model: 'seer' });
    expect(await sourced({ type: 'base64' })).toBe('messages[0].content[0].source.data is required');
    expect(await sourced({ type: 'url' })).toBe('messages[0].content[0].source.url is required');
    expect(await sourced({ type: 'file', file_id: 'f' })).toMatch(/^messages\[0\].content\[0\].source.type /);
    expect(await refusal([user([image])], { model: 'plain' })).toMatch(
      /^messages\[0\].content\[0\].source.url: the model plain does not take image input/,
    );
  });
});

describe('tools', () => {
  test('[MSG-16] [MSG-49] results follow their calls, joined by the id, before the rest of the turn', async () => {
    expect(
      await messagesOf([
        ...hello,
        assistant([text('Let me see'), call('toolu_a', { city: 'Paris' }), call('other-id')]),
        user([text('Go on'), result('toolu_a', 'Sunny'), result('other-id', [text('Rain'), text('Wind')])]),
      ]),
    ).toEqual([
      ...hello,
      {
        role: 'assistant',
        content: 'Let me see',
        toolCalls: [
          { id: 'call_a', name: 'f', arguments: '{"city":"Paris"}' },
          { id: 'other-id', name: 'f', arguments: '{}' },
        ],
      },
      { role: 'tool', content: 'Sunny', toolCallId: 'call_a' },
      { role: 'tool', content: 'Rain\nWind', toolCallId: 'other-id' },
      user('Go on'),
    ]);
  });

  test('[MSG-49] results in two user turns stay together before what the user says', async () => {
    const turns = [
      assistant([call('toolu_a'), call('toolu_b')]),
      user([text('First'), result('toolu_a', 'A')]),
      user([result('toolu_b', 'B')]),
    ];
    expect(
      (await messagesOf([...hello, ...turns])).slice(1).map(({ role, content }) => [role, content]),
    ).toEqual([
      ['assistant', null],
      ['tool', 'A'],
      ['tool', 'B'],
      ['user', 'First'],
    ]);
  });

  const toolContent = async (block: object, model = 'seer') =>
    (await messagesOf([...hello, assistant([call('toolu_a')]), user([block])], { model })).at(-1)?.content;

  test('[MSG-16] a result may be empty, hold a picture, or be an error', async () => {
    for (const content of [undefined, null, '', []])
      expect(await toolContent(result('toolu_a', content))).toBe('');
    expect(await toolContent(result('toolu_a', [text('See'), image]))).toEqual([text('See'), picture]);
    const failed = (content: unknown) => toolContent(result('toolu_a', content, { is_error: true }));
    expect(await failed('No such city')).toBe('Error: No such city');
    expect(await failed('TypeError: no')).toBe('TypeError: no');
    expect(await failed('<tool_use_error>no</tool_use_error>')).toBe('<tool_use_error>no</tool_use_error>');
    expect(await failed(undefined)).toBe('Error');
    expect(await failed([text('No'), text('way')])).toBe('Error: No\nway');
    expect(await failed([image])).toEqual([text('Error:'), picture]);
    for (const is_error of [false, null])
      expect(await toolContent(result('toolu_a', 'Fine', { is_error }))).toBe('Fine');
  });

  test('[MSG-16] what is wrong in a result is named', async () => {
    const wrong = (block: object, model = 'seer') =>
      refusal([...hello, assistant([call('toolu_a')]), user([block])], { model });
    expect(await wrong({ type: 'tool_result' })).toBe('messages[2].content[0].tool_use_id is required');
    expect(await wrong(result('toolu_a', [{ type: 'document' }]))).toMatch(
      /^messages\[2\].content\[0\].content\[0\].type /,
    );
    expect(await wrong(result('toolu_a', [image]), 'plain')).toMatch(
      /^messages\[2\].content\[0\].content\[0\].source.url/,
    );
    expect(await wrong(result('toolu_a', 'x', { is_error: 'yes' }))).toMatch(/is_error must be /);
  });

  test('the input of a call is an object, and nothing is an empty one', async () => {
    const turns = (input: unknown) => [
      ...hello,
      assistant([call('toolu_a', input)]),
      user([result('toolu_a')]),
    ];
    expect((await messagesOf(turns(null)))[1]).toMatchObject({ toolCalls: [{ arguments: '{}' }] });
    expect(await refusal(turns('text'))).toMatch(/^messages\[1\].content\[0\].input must be /);
  });
});

describe('thoughts that come back', () => {
  const thought = (thinking: unknown, signature: unknown) => ({ type: 'thinking', thinking, signature });
  const turns = (...blocks: object[]) => [
    ...hello,
    assistant([...blocks, call('toolu_a')]),
    user([result('toolu_a', 'x')]),
  ];
  const reasoningOf = async (...blocks: object[]) => {
    const message = (await messagesOf(turns(...blocks)))[1];
    return message?.role === 'assistant' ? message.reasoning : 'not the assistant';
  };

  test('[MSG-61] those that we have signed are given to the model again', async () => {
    expect(await reasoningOf(thought('Hm', signatureOf('Hm')))).toBe('Hm');
    expect(await reasoningOf(thought('Hm. ', signatureOf('Hm. ')), thought('Yes', signatureOf('Yes')))).toBe(
      'Hm. Yes',
    );
  });

  test('[MSG-61] others are left out, and nothing about them is a 400', async () => {
    const odd = [
      thought('Hm', signatureOf('Other')),
      thought('Hm', ''),
      thought('Hm', undefined),
      thought('', signatureOf('Hm')),
      thought(undefined, signatureOf('Hm')),
      thought(7, { a: 1 }),
      thought(null, null),
      { type: 'redacted_thinking' },
      { type: 'redacted_thinking', data: 'EqQB…' },
      { type: 'redacted_thinking', data: 7 },
    ];
    for (const block of odd) expect(await reasoningOf(block), JSON.stringify(block)).toBeUndefined();
    expect(await reasoningOf(thought('Hm', signatureOf('Hm')), ...odd)).toBe('Hm');
    expect(await messagesOf([user([text('a'), ...odd])])).toEqual([user('a')]);
    expect((await shell.request({ messages: [...hello, assistant(odd)] })).messages).toEqual(hello);
  });

  test('[MSG-61] a continued message keeps them', async () => {
    const asked = await shell.request({
      messages: [...hello, assistant([thought('Hm', signatureOf('Hm')), text('Well')])],
    });
    expect(asked.messages.at(-1)).toEqual({ role: 'assistant', content: 'Well', reasoning: 'Hm' });
  });
});
