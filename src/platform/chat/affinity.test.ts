import { expect, test } from 'vitest';
import { chatModel } from '../../../test/support/chat-shell.ts';
import type { ChatMessage } from '../../engines/contract/chat.ts';
import { toAffinity } from './affinity.ts';
import { toChatRequest } from './request.ts';

const hello: readonly ChatMessage[] = [{ role: 'user', content: 'Hello' }];
const start: readonly ChatMessage[] = [{ role: 'system', content: 'Be brief.' }, ...hello];

test('the affinity of a conversation stays the same while it grows, and differs between conversations', () => {
  const affinity = toAffinity(start, undefined);
  const grown: readonly ChatMessage[] = [
    ...start,
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'And?' },
  ];
  expect(toAffinity(grown, undefined)).toBe(affinity);
  expect(toAffinity(hello, undefined)).not.toBe(affinity);
  expect(toAffinity(start, [{ name: 'f' }])).not.toBe(affinity);
});

test('only a model with several engines has its conversations named', () => {
  const wish = { messages: start, continueFinal: false, maxTokens: 10 };
  const model = chatModel('plain');
  expect(toChatRequest(model, wish).affinity).toBe('');
  const affinity = toAffinity(start, undefined);
  expect(toChatRequest({ ...model, engines: ['a', 'b'] }, wish).affinity).toBe(affinity);
});
