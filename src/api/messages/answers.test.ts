/** The whole answer: its blocks, its usage and why it ended. */
import { describe, expect, test } from 'vitest';
import { answerOf, choiceOf } from '../../../test/support/chat-shell.ts';
import { createMessagesShell, signatureOf } from '../../../test/support/messages-shell.ts';
import type { ChatChoice, Finish } from '../../engines/contract/chat.ts';

const answered = (choice: Partial<ChatChoice>, fields: object = {}) =>
  createMessagesShell({ answer: answerOf('', { choices: [choiceOf(choice)] }) }).message(fields);
const finished = (finish: Finish, fields: object = {}) => answered({ text: 'Hi', finish }, fields);

describe('a message', () => {
  test('[MSG-1] it has an id, a type, a role, the model and its blocks', async () => {
    const message = await createMessagesShell().message({ model: 'thinker' });
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'thinker',
      content: [{ type: 'text', text: 'Hello' }],
    });
    expect(message.id).toMatch(/^msg_[0-9a-f]{24}$/);
  });

  test('[MSG-51] a text block has only its type and its text', async () => {
    const { content } = await answered({ text: 'Hi' });
    expect(content).toEqual([{ type: 'text', text: 'Hi' }]);
  });

  test('[MSG-37] [MSG-38] a thought comes first, and is signed', async () => {
    const { content } = await answered({ text: 'Yes', reasoning: 'Hm …' });
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm …', signature: signatureOf('Hm …') },
      { type: 'text', text: 'Yes' },
    ]);
  });

  test('[MSG-35] display omitted hides the thought and keeps its signature', async () => {
    const thinking = (display: string) => ({ thinking: { type: 'adaptive', display } });
    const choice = { text: 'Yes', reasoning: 'Hm …' };
    const hidden = await answered(choice, thinking('omitted'));
    expect(hidden.content[0]).toEqual({ type: 'thinking', thinking: '', signature: signatureOf('Hm …') });
    expect(JSON.stringify(hidden)).not.toContain('Hm');
    expect((await answered(choice, thinking('summarized'))).content[0]).toMatchObject({ thinking: 'Hm …' });
  });

  test('[MSG-50] a call is a tool_use with an id of its own kind, an object and a direct caller', async () => {
    const toolCalls = [
      { id: 'call_1', name: 'f', arguments: '{"city":"Zürich"}' },
      { id: 'other', name: 'g', arguments: '' },
    ];
    const message = await answered({ toolCalls, finish: { reason: 'tool_calls', native: 'tool_calls' } });
    expect(message.content).toEqual([
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: { city: 'Zürich' }, caller: { type: 'direct' } },
      { type: 'tool_use', id: 'other', name: 'g', input: {}, caller: { type: 'direct' } },
    ]);
  });

  test('[MSG-50] arguments that are no object are handed on as they were written', async () => {
    for (const text of ['{"city": "Par', 'Paris', '["Paris"]', 'null', '"Paris"']) {
      const { content } = await answered({ toolCalls: [{ id: 'call_1', name: 'f', arguments: text }] });
      expect(content[0]).toMatchObject({ input: { _raw: text } });
    }
  });

  test('an answer without anything in it has no blocks', async () => {
    expect((await answered({})).content).toEqual([]);
  });

  test('[MSG-52] [MSG-53] usage counts what was cached apart', async () => {
    const { usage } = await createMessagesShell({ costPicoUsd: 2_500_000n }).message();
    expect(usage).toEqual({
      input_tokens: 16,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 4,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 3 },
      server_tool_use: null,
      service_tier: 'standard',
      cost: 0.0000025,
    });
  });
});

describe('the end', () => {
  const stop = { stop_sequence: null, stop_details: null, container: null };

  test('[MSG-54] [MSG-55] a natural end is end_turn, and nothing else applies', async () => {
    expect(await finished({ reason: 'stop', native: 'eos' })).toMatchObject({
      stop_reason: 'end_turn',
      ...stop,
    });
  });

  test('[MSG-56] a listed stop sequence is named', async () => {
    const finish: Finish = { reason: 'stop', native: 'stop', stopSequence: 'END' };
    expect(await finished(finish, { stop_sequences: ['x', 'END'] })).toMatchObject({
      ...stop,
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
    for (const fields of [{}, { stop_sequences: ['end'] }])
      expect(await finished(finish, fields)).toMatchObject({ stop_reason: 'end_turn', ...stop });
  });

  const length: Finish = { reason: 'length', native: 'length' };

  test('[MSG-57] the limit is max_tokens', async () => {
    expect(await finished(length)).toMatchObject({ stop_reason: 'max_tokens', ...stop });
    // The model's own limit is no matter of the window.
    expect(await finished(length, { model: 'tuned', max_tokens: 5000 })).toMatchObject({
      stop_reason: 'max_tokens',
    });
  });

  test('[MSG-58] the limit that the window has cut is model_context_window_exceeded', async () => {
    const answer = answerOf('', { choices: [choiceOf({ text: 'Hi', finish: length })] });
    const shell = createMessagesShell({ answer, promptTokens: 100 });
    expect(await shell.message({ model: 'small', max_tokens: 869 })).toMatchObject({
      stop_reason: 'model_context_window_exceeded',
      ...stop,
    });
    expect(shell.requests.at(-1)?.maxTokens).toBe(868);
    expect(await shell.message({ model: 'small', max_tokens: 868 })).toMatchObject({
      stop_reason: 'max_tokens',
    });
  });

  test('[MSG-59] a call is tool_use', async () => {
    const toolCalls = [{ id: 'call_1', name: 'f', arguments: '{}' }];
    const message = await answered({ toolCalls, finish: { reason: 'tool_calls', native: 'tool_calls' } });
    expect(message).toMatchObject({ stop_reason: 'tool_use', ...stop });
  });

  test('[MSG-60] a filtered answer is a refusal', async () => {
    expect(await finished({ reason: 'content_filter', native: 'safety' })).toMatchObject({
      ...stop,
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: null },
    });
  });
});
