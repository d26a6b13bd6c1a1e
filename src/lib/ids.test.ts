import { describe, expect, it } from 'vitest';
import { createTimedId } from './ids.ts';

describe('an id with its time in front', () => {
  it('sorts by time and is never the same twice', () => {
    const now = Date.UTC(2026, 10, 15);
    const ids = [0, 1, 255, 256, 2 ** 33].map((later) => createTimedId('resp', now + later));
    expect(ids.toSorted()).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^resp_[0-9a-f]{32}$/);
    const same = new Set(Array.from({ length: 10_000 }, () => createTimedId('msg', now)));
    expect(same.size).toBe(10_000);
  });
});
