import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chatModel } from '../../../test/support/chat-shell.ts';
import type { ChatRequest } from '../../engines/contract/chat.ts';
import { cutToWindow, promptBound, surelyFits, wantedMaxTokens } from './window.ts';

const small = chatModel('small');
const request = (changes: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  continueFinal: false,
  n: 1,
  maxTokens: 10,
  affinity: '',
  ...changes,
});

test('[CHAT-23] [CHAT-24] the limit is 32768 unless given, and cut to window minus prompt minus 32', () => {
  expect(wantedMaxTokens(small, undefined)).toBe(32_768);
  expect(wantedMaxTokens(small, 7)).toBe(7);
  expect(wantedMaxTokens(chatModel('tuned'), undefined)).toBe(500);
  expect(cutToWindow(small, 32_768, 468)).toBe(500);
  expect(cutToWindow(small, 100, 468)).toBe(100);
  expect(cutToWindow(small, 100, 967)).toBe(1);
});

test('[CHAT-26] a prompt that leaves less than one token fills the window', () => {
  expect(() => cutToWindow(small, 1, 968)).toThrow('messages fill the context window: 968 tokens of 1000');
});

test('the bound is never less than the bytes of what a model reads', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 5 }), (texts) => {
      const messages = texts.map((content) => ({ role: 'user' as const, content }));
      const inParts = texts.map((text) => ({
        role: 'user' as const,
        content: [{ type: 'text' as const, text }],
      }));
      const bytes = Buffer.byteLength(texts.join(''));
      expect(promptBound(request({ messages }))).toBeGreaterThanOrEqual(bytes);
      expect(promptBound(request({ messages: inParts }))).toBe(promptBound(request({ messages })));
    }),
  );
});

test('tools, calls, thoughts, schemas, names and media count', () => {
  const plain = promptBound(request());
  const tools = [{ name: 'f', parameters: { type: 'object', description: 'x'.repeat(100) } }];
  const schema = { description: 'x'.repeat(100) };
  const calls = [{ id: 'call_1', name: 'f', arguments: 'x'.repeat(100) }];
  for (const more of [
    request({ tools }),
    request({ responseFormat: { type: 'json_schema', name: 'x', schema } }),
    request({ messages: [{ role: 'assistant', content: null, toolCalls: calls }] }),
    request({ messages: [{ role: 'assistant', content: null, reasoning: 'x'.repeat(100) }] }),
    request({ messages: [{ role: 'user', content: 'Hi', name: 'x'.repeat(100) }] }),
    request({
      messages: [{ role: 'user', content: [{ type: 'image', mediaType: 'image/png', base64: '' }] }],
    }),
  ])
    expect(promptBound(more)).toBeGreaterThanOrEqual(plain + 98);
});

test('a limit surely fits up to the last token of the window, the margin taken off', () => {
  const room = 1000 - 32 - promptBound(request());
  expect(surelyFits(small, request({ maxTokens: room }))).toBe(true);
  expect(surelyFits(small, request({ maxTokens: room + 1 }))).toBe(false);
  expect(surelyFits(small, request({ maxTokens: 32_768 }))).toBe(false);
});
