import { expect, test } from 'vitest';
import { type FileValue, parseFileRows, toFileRow } from './row-file.ts';

const rows: FileValue[][] = [
  ['resp_1', 1763164800000, null, '', '{"a":"\\n"}\n[1]'],
  ['é ✓ 𝄞', -1.5, 'x\ny', '"', '\u0000'],
  [],
];
const parse = (text: string) => parseFileRows(Buffer.from(text));

test('rows come back as they were written, whatever is in their texts', () => {
  expect(parse(rows.map(toFileRow).join(''))).toEqual({ rows, unread: 0 });
  expect(parse('')).toEqual({ rows: [], unread: 0 });
});

test('what follows the last whole row is told, wherever the file ends', () => {
  const whole = toFileRow(rows[0]!);
  const next = Buffer.from(toFileRow(rows[1]!));
  for (let end = 0; end < next.length; end++) {
    const bytes = Buffer.concat([Buffer.from(whole), next.subarray(0, end)]);
    expect(parseFileRows(bytes)).toEqual({ rows: [rows[0]], unread: end });
  }
  for (const damaged of ['\0'.repeat(10), 'x\n', '{}\n\n', '["x"]\n\n', '["9"]\n1\n'])
    expect(parse(whole + damaged)).toEqual({ rows: [rows[0]], unread: damaged.length });
});
