import { describe, expect, it } from 'vitest';
import { parseDurationSeconds } from './duration.ts';
import { UsageError } from './errors.ts';

describe('a length of time', () => {
  it.each([
    ['90s', 90],
    ['15m', 900],
    ['12h', 43_200],
    ['30d', 2_592_000],
    ['2w', 1_209_600],
  ])('%s is %i seconds', (text, seconds) => {
    expect(parseDurationSeconds(text, '--expires-in')).toBe(seconds);
  });

  it.each(['', '30', 'd', '0d', '-1d', '1.5h', '30 d', '30D', '1y', '999999999w'])(
    '"%s" is not one',
    (text) => {
      expect(() => parseDurationSeconds(text, '--expires-in')).toThrowError(UsageError);
    },
  );
});
