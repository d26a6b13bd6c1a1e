import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../engines/contract/chat.ts';
import { toQuery } from './rag-query.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const system: ChatMessage = { role: 'system', content: 'Be brief.' };

const first = 'How do I grease the bearings of the lathe?';

describe('what a collection is searched for', () => {
  it('is the last question, when it stands on its own', () => {
    const next = 'Which oil does the hydraulic press need in winter?';
    expect(toQuery([system, user(first)])).toBe(first);
    expect(toQuery([user(first), assistant('With a gun.'), user(next)])).toBe(next);
    // What tools have said since does not change the question.
    const call = { id: 'call_1', name: 'f', arguments: '{}' };
    expect(
      toQuery([
        user(next),
        { role: 'assistant', content: null, toolCalls: [call] },
        { role: 'tool', content: 'x', toolCallId: 'call_1' },
      ]),
    ).toBe(next);
    expect(toQuery([user(next), assistant('The press needs')])).toBe(next);
  });

  it.each([
    'How often?',
    'Und im Winter?',
    'What happens to a lathe when nobody ever does that to its bearings?',
  ])('has the question before it in front, when it is short or refers back: %s', (question) => {
    expect(toQuery([user(first), assistant('With a gun.'), user(question)])).toBe(`${first}\n${question}`);
  });

  it('is the text of parts, without pictures and without what a database cannot take', () => {
    const picture = { type: 'image', mediaType: 'image/png', base64: 'AA' } as const;
    const text = (said: string) => ({ type: 'text', text: said }) as const;
    const content = [text('What is\0this'), picture, text('\ud83d kind of machine, and who made this?')];
    expect(toQuery([{ role: 'user', content }])).toBe(
      'What is this\n\ufffd kind of machine, and who made this?',
    );
  });

  it('is what was said last, when no user has spoken, and nothing when nobody has', () => {
    expect(toQuery([system])).toBe('Be brief.');
    expect(toQuery([user('  ')])).toBe('');
    expect(toQuery([user(first), user(' ')])).toBe(first);
  });

  it('is of bounded length: of a long turn its beginning and its end', () => {
    const long = `${'a'.repeat(50_000)} question?`;
    const query = toQuery([user(long)]);
    expect([query.length, query.endsWith('question?'), query.startsWith('aaa')]).toEqual([2001, true, true]);
    expect(toQuery([user(long), user('Why?')]).length).toBeLessThan(600);
    expect(toQuery([user(`${'a'.repeat(999)}😀${'b'.repeat(1999)}`)]).isWellFormed()).toBe(true);
  });
});
