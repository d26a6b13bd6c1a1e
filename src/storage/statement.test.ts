import { describe, expect, it } from 'vitest';
import { checkNotification, countParameters, toBoundValues } from './statement.ts';

describe('a statement', () => {
  it.each([
    ['select 1', 0],
    ['select 1;', 0],
    ['select 1; -- the end', 0],
    ['select $1, $2, $1', 2],
    [`select $1 -- not $2\n`, 1],
    [`select '$2 it''s; $3', "odd $4", $1 /* $5; */`, 1],
  ])('%s takes its parameters', (text, count) => {
    expect(countParameters(text)).toBe(count);
  });

  it('is one statement', () => {
    expect(() => countParameters('select 1; select 2')).toThrow('use script()');
    expect(() => countParameters(`delete from t where a = ';'; drop table t`)).toThrow('use script()');
  });

  it('uses its parameters without a gap', () => {
    expect(() => countParameters('select $1, $3')).toThrow('$3');
  });
});

describe('values', () => {
  it('turn booleans into 0 and 1 and pass the rest', () => {
    const blob = new Uint8Array([1]);
    expect(toBoundValues([true, false, 'a', 1.5, 2n, null, blob])).toEqual([1, 0, 'a', 1.5, 2n, null, blob]);
  });

  it.each([[undefined], [Number.NaN], [Number.POSITIVE_INFINITY], [{}], [new Date()], [['a']]])(
    'refuse %s',
    (value) => {
      expect(() => toBoundValues(['fine', value as never])).toThrow('$2');
    },
  );
});

describe('a notification', () => {
  it('keeps the limits of PostgreSQL', () => {
    expect(() => checkNotification('keys', 'ä'.repeat(3_999))).not.toThrow();
    expect(() => checkNotification('keys', 'ä'.repeat(4_000))).toThrow('8,000 bytes');
    expect(() => checkNotification('No such', '')).toThrow('channel');
  });
});
