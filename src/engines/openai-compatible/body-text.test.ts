import { expect, test } from 'vitest';
import { toBodyText } from './body-text.ts';

test('half a character becomes the replacement character; everything else stays', () => {
  const messages = [{ content: 'a\ud800b' }, { content: '\\ud800 is written out, 𝄞 is whole' }];
  expect(JSON.parse(toBodyText({ messages }))).toEqual({
    messages: [{ content: 'a\ufffdb' }, { content: '\\ud800 is written out, 𝄞 is whole' }],
  });
  expect(toBodyText({ text: 'é 𝄞 "q"' })).toBe(JSON.stringify({ text: 'é 𝄞 "q"' }));
});
