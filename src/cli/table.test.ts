import { describe, expect, it } from 'vitest';
import { toTable, toTime } from './table.ts';

describe('a table on a terminal', () => {
  it('is aligned, with no blanks at the ends of lines', () => {
    expect(
      toTable(
        ['ID', 'NAME'],
        [
          ['1', 'a'],
          ['long-id', ''],
        ],
      ),
    ).toBe('ID       NAME\n1        a\nlong-id\n');
  });

  it('never passes an escape sequence on', () => {
    expect(toTable(['NAME'], [['\u001b[31mred\u202e\n']])).toBe('NAME\n?[31mred??\n');
  });

  it('shows times in UTC to the minute', () => {
    expect(toTime(1_700_000_000)).toBe('2023-11-14 22:13');
    expect(toTime(null)).toBe('-');
  });
});
