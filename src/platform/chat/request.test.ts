import { expect, test } from 'vitest';
import { checkToolChoice } from './request.ts';

test('a tool that is not among the tools is named, in part when the name is long', () => {
  const tools = [{ name: 'f', description: '', parameters: {} }];
  expect(() => checkToolChoice({ name: 'g' }, tools)).toThrow(
    'tool_choice names "g", which is not among tools',
  );
  expect(() => checkToolChoice({ name: `\n${'x'.repeat(20_000_000)}` }, tools)).toThrow(
    `tool_choice names "\\u{a}${'x'.repeat(99)}…", which is not among tools`,
  );
});
