import { expect, it } from 'vitest';
import { quoted, shown } from './quoted.ts';

it('shows a text as it is, in quotation marks', () => {
  expect(quoted('openai/gpt-5 é 東京 😀')).toBe('"openai/gpt-5 é 東京 😀"');
  expect(quoted('a "b" \\n')).toBe('"a \\"b\\" \\\\n"');
  expect(shown('a "b"')).toBe('a "b"');
});

it('cuts a long one, never through a character', () => {
  expect(quoted('x'.repeat(20_000_000))).toBe(`"${'x'.repeat(100)}…"`);
  expect(quoted('"'.repeat(20_000_000))).toBe(`"${'\\"'.repeat(100)}…"`);
  expect(shown('x'.repeat(100))).toBe('x'.repeat(100));
  expect(shown(`${'x'.repeat(99)}😀😀`)).toBe(`${'x'.repeat(99)}…`);
});

it('makes visible what would steer a terminal or turn the line around', () => {
  expect(quoted('a\n\u001b[31m\0\u202e\u2028\ud800')).toBe(
    '"a\\u{a}\\u{1b}[31m\\u{0}\\u{202e}\\u{2028}\\u{d800}"',
  );
});
