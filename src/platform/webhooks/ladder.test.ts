import { expect, it } from 'vitest';
import { nextAttemptAt } from './ladder.ts';

it('[HOOK-27] resends come after 30 s, 2 min, 10 min, 1 h and 6 h; after the sixth attempt there is none', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7].map((attempts) => nextAttemptAt(attempts, 1_000));
  expect(waits).toEqual([31_000, 121_000, 601_000, 3_601_000, 21_601_000, undefined, undefined]);
});
