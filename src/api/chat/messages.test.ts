/** Messages: roles, parts, history, continuation, and what is attached to them. */
import { describe, expect, test } from 'vitest';
import { createChatShell, hello } from '../../../test/support/chat-shell.ts';
import type { ContentPart } from '../../engines/contract/chat.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Attachment } from '../../platform/attachments/index.ts';

/** Loads everything as if it were there; documents become their address in capitals. */
const loaded: Attachment[] = [];
const attachments = {
  load: async (wanted: readonly Attachment[]): Promise<ContentPart[]> => {
    loaded.splice(0, Infinity, ...wanted);
    return wanted.map(({ kind, source, detail }) =>
      kind === 'document'
        ? { type: 'text', text: source.toUpperCase() }
        : { type: kind, mediaType: `${kind}/x`, base64: source, ...(detail === undefined ? {} : { detail }) },
    );
  },
};
const shell = createChatShell({ attachments });
const { request } = shell;

async function refused(messages: unknown, named: string, fields: object = {}): Promise<string> {
  const answer = await shell.post({ messages, ...fields });
  expect(answer.status).toBe(400);
  const { error } = answer.json();
  expect(error.message).toContain(named);
  expect(error.param).toContain(named);
  return error.message;
}

const user = (...content: unknown[]) => [{ role: 'user', content }];
const see = (...content: unknown[]) => request({ model: 'seer', messages: user(...content) });

describe('messages', () => {
  test('[CHAT-51] [ERR-4] [ERR-42] messages is required with at least 1 item', async () => {
    await refused(undefined, 'messages');
    await refused([], 'messages');
    await refused('Hi', 'messages');
    await refused(null, 'messages');
    expect((await request({ messages: hello })).messages).toEqual([{ role: 'user', content: 'Hi' }]);
  });

  test('[CHAT-52] roles system, user, assistant, tool and developer are accepted, another is a 400', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: 'Hi', name: 'Ann' },
      { role: 'assistant', content: 'Hello', name: null },
      { role: 'tool', content: '42', tool_call_id: 'call_1' },
    ];
    expect((await request({ messages })).messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: 'Hi', name: 'Ann' },
      { role: 'assistant', content: 'Hello' },
      { role: 'tool', content: '42', toolCallId: 'call_1' },
    ]);
    for (const role of ['function', 'bot', '', 1, null])
      await refused([...hello, { role, content: 'x' }], 'messages[1].role');
    await refused([{ content: 'x' }], 'messages[0].role');
  });

  test('[CHAT-53] content may be a string or an array of parts, text parts kept in order', async () => {
    const texts = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    expect((await request({ messages: user(...texts) })).messages[0]?.content).toEqual(texts);
    for (const role of ['system', 'developer'])
      expect((await request({ messages: [{ role, content: texts }, ...hello] })).messages[0]?.content).toBe(
        'one\ntwo',
      );
    const called = [...hello, { role: 'tool', tool_call_id: 'call_1', content: texts }];
    expect((await request({ messages: called })).messages[1]?.content).toBe('one\ntwo');
  });

  test('[ERR-5] a content of the wrong type, or none at all, is a 400 by its path', async () => {
    await refused([...hello, { role: 'user', content: 5 }], 'messages[1].content');
    await refused([{ role: 'user' }], 'messages[0].content');
    await refused([{ role: 'user', content: null }], 'messages[0].content');
    await refused([{ role: 'system', content: null }, ...hello], 'messages[0].content');
    await refused(user({ type: 'text', text: 5 }), 'messages[0].content[0].text');
    await refused(user({ type: 'poem' }), 'messages[0].content[0].type');
    await refused([...hello, { role: 'tool', content: 'x' }], 'messages[1].tool_call_id');
    await refused([...hello, { role: 'assistant' }, ...hello], 'messages[1].content');
  });

  test('[CHAT-62] cache_control and prompt_cache_breakpoint on a text part are ignored', async () => {
    const part = {
      type: 'text',
      text: 'Hi',
      cache_control: { type: 'ephemeral' },
      prompt_cache_breakpoint: {},
    };
    expect((await request({ messages: user(part) })).messages[0]?.content).toEqual([
      { type: 'text', text: 'Hi' },
    ]);
  });
});

describe('assistant history', () => {
  const history = async (message: object) =>
    (await request({ messages: [...hello, { role: 'assistant', ...message }, ...hello] })).messages[1];

  test('[CHAT-63] it may hold refusal parts, and content null beside tool_calls', async () => {
    expect(await history({ content: [{ type: 'refusal', refusal: 'No.' }] })).toEqual({
      role: 'assistant',
      content: 'No.',
    });
    expect(await history({ content: null, refusal: 'No.' })).toEqual({ role: 'assistant', content: 'No.' });
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    const expected = {
      role: 'assistant',
      content: null,
      toolCalls: [{ id: 'call_1', name: 'f', arguments: '{"a":1}' }],
    };
    expect(await history({ content: null, tool_calls: [call] })).toEqual(expected);
    expect(await history({ tool_calls: [call] })).toEqual(expected);
    expect(await history({ content: 'Hm', tool_calls: [] })).toEqual({ role: 'assistant', content: 'Hm' });
    await refused(
      [...hello, { role: 'assistant', content: null, tool_calls: [] }, ...hello],
      'messages[1].content',
    );
  });

  test('[CHAT-64] reasoning, reasoning_content and reasoning_details are accepted and ignored', async () => {
    const thought = {
      content: 'Hello',
      reasoning: 'why',
      reasoning_content: 'why',
      reasoning_details: [{ type: 'reasoning.text', text: 'why' }],
      refusal: null,
      audio: null,
      annotations: [],
    };
    expect(await history(thought)).toEqual({ role: 'assistant', content: 'Hello' });
  });
});

describe('what is attached', () => {
  const image = { type: 'image_url', image_url: { url: 'https://x.example/a.png', detail: 'high' } };

  test('[CHAT-54] an image part on a user message reaches the engine', async () => {
    const text = { type: 'text', text: 'What is it?' };
    expect((await see(text, image, text)).messages[0]?.content).toEqual([
      text,
      { type: 'image', mediaType: 'image/x', base64: 'https://x.example/a.png', detail: 'high' },
      text,
    ]);
    expect(loaded).toEqual([
      {
        kind: 'image',
        source: 'https://x.example/a.png',
        detail: 'high',
        param: 'messages[0].content[1].image_url',
      },
    ]);
  });

  test('[CHAT-55] image_url as a bare string is accepted', async () => {
    await see({ type: 'image_url', image_url: 'data:image/png;base64,AAAA' });
    expect(loaded).toMatchObject([{ kind: 'image', source: 'data:image/png;base64,AAAA' }]);
  });

  test('[CHAT-56] input_audio and audio_url reach the engine', async () => {
    const { messages } = await see(
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { type: 'audio_url', audio_url: { url: 'https://x.example/a.mp3' } },
    );
    expect(messages[0]?.content).toMatchObject([{ type: 'audio' }, { type: 'audio' }]);
    expect(loaded).toEqual([
      { kind: 'audio', source: 'UklGRg==', isBase64: true, param: 'messages[0].content[0].input_audio' },
      { kind: 'audio', source: 'https://x.example/a.mp3', param: 'messages[0].content[1].audio_url' },
    ]);
  });

  test('[CHAT-57] video_url and legacy input_video reach the engine', async () => {
    const video_url = { url: 'https://x.example/a.mp4' };
    const { messages } = await see({ type: 'video_url', video_url }, { type: 'input_video', video_url });
    expect(messages[0]?.content).toMatchObject([{ type: 'video' }, { type: 'video' }]);
  });

  test('[CHAT-58] [CHAT-59] a document is loaded and stands as text in its place, on any model', async () => {
    const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'https://x.example/a.pdf' } };
    const { messages } = await request({ messages: user({ type: 'text', text: 'Read:' }, file) });
    expect(messages[0]?.content).toEqual([
      { type: 'text', text: 'Read:' },
      { type: 'text', text: 'HTTPS://X.EXAMPLE/A.PDF' },
    ]);
    expect(loaded).toEqual([
      {
        kind: 'document',
        source: 'https://x.example/a.pdf',
        filename: 'a.pdf',
        param: 'messages[0].content[1].file',
      },
    ]);
  });

  test('[CHAT-60] a document with file_id, or with nothing, is a 400', async () => {
    const said = await refused(
      user({ type: 'file', file: { file_id: 'file_1' } }),
      'messages[0].content[0].file',
    );
    expect(said).toContain('file_id');
    await refused(user({ type: 'file', file: { filename: 'x.pdf' } }), 'messages[0].content[0].file');
  });

  test('[CHAT-61] a media part on a message that is not user is a 400', async () => {
    const parts = [
      image,
      { type: 'file', file: { file_data: 'x' } },
      { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } },
      { type: 'video_url', video_url: 'x' },
    ];
    for (const content of parts.map((part) => [{ type: 'text', text: 'x' }, part]))
      for (const role of ['system', 'developer', 'assistant', 'tool'])
        await refused([{ role, content, tool_call_id: 'call_1' }, ...hello], 'messages[0].content[1]', {
          model: 'seer',
        });
  });

  test('media that the model does not take is a 400 by its path', async () => {
    await refused(user(image), 'messages[0].content[0].image_url', { model: 'plain' });
    await refused(user(image), 'messages[0].content[0].image_url', { model: 'plain', stream: true });
  });

  test('what cannot be loaded is the failure of the request, streamed or not', async () => {
    const failing = createChatShell({
      attachments: { load: () => Promise.reject(new GatewayError('too_large', 'larger than 20 MB')) },
    });
    for (const stream of [true, false]) {
      const answer = await failing.post({ model: 'seer', messages: user(image), stream });
      expect(answer.status).toBe(413);
      expect(answer.json().error.message).toContain('20 MB');
    }
    expect(failing.requests).toHaveLength(0);
  });

  test('a prompt with media is counted when it may not fit', async () => {
    const counting = createChatShell({ attachments, promptTokens: 1000 });
    await counting.request({ model: 'seer', messages: user(image) });
    expect(counting.counted).toHaveLength(0);
    await counting.request({ model: 'seer', messages: user(...Array(30).fill(image)) });
    expect(counting.counted).toHaveLength(1);
    expect(counting.counted[0]?.messages[0]?.content).toHaveLength(30);
  });
});

describe('continuation', () => {
  const ending = (content: unknown, more: object = {}) => [...hello, { role: 'assistant', content, ...more }];

  test('[CHAT-66] a final assistant message is continued without any flag', async () => {
    const sent = await request({ messages: ending('Once upon') });
    expect(sent).toMatchObject({ continueFinal: true });
    expect(sent.messages.at(-1)).toEqual({ role: 'assistant', content: 'Once upon' });
    const flagged = await request({ messages: ending('Once upon'), continue_final_message: false });
    expect(flagged.continueFinal).toBe(true);
  });

  test('[CHAT-67] continue_final_message defaults to false; true continues the final assistant message', async () => {
    expect((await request()).continueFinal).toBe(false);
    const sent = await request({ messages: ending('Once'), continue_final_message: true });
    expect(sent.continueFinal).toBe(true);
    expect((await request({ continue_final_message: false })).continueFinal).toBe(false);
    await refused(hello, 'continue_final_message', { continue_final_message: 'yes' });
  });

  test('[CHAT-69] trailing whitespace of the given text is trimmed, and only that', async () => {
    const sent = await request({ messages: ending('  Once upon \n\t ') });
    expect(sent.messages.at(-1)?.content).toBe('  Once upon');
    const parts = [
      { type: 'text', text: 'Once ' },
      { type: 'text', text: 'upon ' },
    ];
    expect((await request({ messages: ending(parts) })).messages.at(-1)?.content).toBe('Once \nupon');
  });

  test('[CHAT-70] a continuation disables thinking', async () => {
    const asked = { model: 'thinker', messages: ending('So'), reasoning_effort: 'high' };
    expect((await request(asked)).thinking).toEqual({ enabled: false });
    expect((await request({ model: 'ponderer', messages: ending('So') })).thinking).toEqual({
      enabled: false,
    });
    expect(await request({ model: 'plain', messages: ending('So') })).not.toHaveProperty('thinking');
  });

  test('[CHAT-71] a continuation of empty text, or with tool_calls, is a 400', async () => {
    for (const content of ['', '   \n', []]) await refused(ending(content), 'messages[1].content');
    const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }];
    await refused(ending('So', { tool_calls }), 'messages[1].tool_calls');
    await refused(ending(null, { tool_calls }), 'messages[1].tool_calls');
  });

  test('[CHAT-72] continue_final_message with a final message that is not assistant is a 400', async () => {
    await refused(hello, 'continue_final_message', { continue_final_message: true });
    await refused(
      [...ending('So'), { role: 'tool', content: '1', tool_call_id: 'call_1' }],
      'continue_final_message',
      { continue_final_message: true },
    );
  });
});
