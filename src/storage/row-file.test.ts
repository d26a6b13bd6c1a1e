import { expect, test } from 'vitest';
import { type FileValue, parseFileRows, toFileRow } from './row-file.ts';

const rows: FileValue[][] = [
  ['resp_1', 1763164800000, null, '', '{"a":"\\n"}\n[1]'],
  ['é ✓ 𝄞', -1.5, 'x\ny', '"', '\u0000'],
  [],
];
const text = rows.map(toFileRow).join('');

test('rows come back as they were written, whatever is in their texts', () => {
  expect(parseFileRows(text)).toEqual({ rows, unread: 0 });
  expect(parseFileRows('')).toEqual({ rows: [], unread: 0 });
});

test('what follows the last whole row is told, wherever the file ends', () => {
  const whole = toFileRow(rows[0]!);
  const next = toFileRow(rows[1]!);
  for (let end = 0; end < next.length; end++) {
    expect(parseFileRows(whole + next.slice(0, end))).toEqual({ rows: [rows[0]], unread: end });
  }
  for (const damaged of ['\0'.repeat(10), 'x\n', '{}\n\n', '["x"]\n\n', '["9"]\n1\n'])
    expect(parseFileRows(whole + damaged)).toEqual({ rows: [rows[0]], unread: damaged.length });
});
