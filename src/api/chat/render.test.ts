/** The two ways in which a whole answer becomes JSON say the same. */
import { describe, expect, it } from 'vitest';
import { answerOf, choiceOf } from '../../../test/support/chat-shell.ts';
import type { ChatResult } from '../../engines/contract/chat.ts';
import { toCompletion, toCompletionText } from './render.ts';

const head = { id: 'chatcmpl-0123456789abcdef01234567', created: 1_794_700_000, model: 'a "model"/é' };

/** As an engine hands on a text that it does not have to read. */
function spliced(text: string, changes: Parameters<typeof choiceOf>[0] = {}): ChatResult {
  const choice = { ...choiceOf({ text, ...changes }), textInJson: JSON.stringify(text).slice(1, -1) };
  return answerOf('', { choices: [choice] });
}

describe('an answer whose text stands in JSON already', () => {
  it.each([
    ['text', 'Hello.'],
    ['escapes', 'C:\\menu "is" there\n\t\u0007'],
    ['other scripts', 'Crème brûlée 🍮 机关车库 \ud83d'],
    ['nothing', ''],
  ])('[CHAT-94] [CHAT-95] is the same JSON: %s', (_, text) => {
    for (const cost of [0n, 1n, 12_345_678n, 10n ** 17n])
      expect(toCompletionText(head, spliced(text), cost)).toBe(
        JSON.stringify(toCompletion(head, spliced(text), cost)),
      );
  });

  it("has the engine's own word for its end", () => {
    const finish = { reason: 'length', native: 'max "tokens"' } as const;
    const result = spliced('x', { finish });
    expect(toCompletionText(head, result, 5n)).toBe(JSON.stringify(toCompletion(head, result, 5n)));
  });

  it('is written the other way when there is more than one of it, or none', () => {
    const [choice] = spliced('x').choices;
    expect(toCompletionText(head, answerOf('', { choices: [choice!, choice!] }), 1n)).toBeUndefined();
    expect(toCompletionText(head, answerOf('x'), 1n)).toBeUndefined();
  });
});
