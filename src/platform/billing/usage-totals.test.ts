import { describe, expect, it } from 'vitest';
import type { LedgerRow } from './types.ts';
import { toTotals } from './usage-totals.ts';

const noon = Date.UTC(2026, 10, 15, 12);

function row(changes: Partial<LedgerRow> = {}): LedgerRow {
  return {
    id: 'gen_1',
    subscriptionId: 'sub_b',
    keyId: 'key_1',
    modelId: 'qwen',
    operation: 'chat',
    at: noon,
    durationMs: 3,
    streamed: false,
    outcome: 'stop',
    quantities: { promptTokens: 10, completionTokens: 5, cachedTokens: 2, reasoningTokens: 1 },
    costPicoUsd: 2n ** 60n,
    ...changes,
  };
}

describe('what rows add up to', () => {
  it('is one sum for all that have subscription, day, model and operation in common', () => {
    expect(
      toTotals([row(), row({ id: 'gen_2', quantities: { seconds: 1.5, megapixels: 0.25 } })]).toLists(),
    ).toEqual([['sub_b', '2026-11-15', 'qwen', 'chat', 2, 10, 5, 2, 1, 0.25, 1.5, (2n ** 61n).toString()]]);
  });

  it('is kept apart where one of the four differs, and sorted by them', () => {
    const lists = toTotals([
      row(),
      row({ operation: 'messages' }),
      row({ modelId: 'gemma' }),
      row({ at: noon - 24 * 3600 * 1000 }),
      row({ subscriptionId: 'sub_a' }),
      row({ at: noon + 11 * 3600 * 1000 }),
    ]).toLists();
    expect(lists.map((list) => list.slice(0, 5))).toEqual([
      ['sub_a', '2026-11-15', 'qwen', 'chat', 1],
      ['sub_b', '2026-11-14', 'qwen', 'chat', 1],
      ['sub_b', '2026-11-15', 'gemma', 'chat', 1],
      ['sub_b', '2026-11-15', 'qwen', 'chat', 2],
      ['sub_b', '2026-11-15', 'qwen', 'messages', 1],
    ]);
  });

  it('takes a report that is no number for none', () => {
    const [list] = toTotals([row({ quantities: { promptTokens: Number.NaN, seconds: Infinity } })]).toLists();
    expect(list?.slice(4, 11)).toEqual([1, 0, 0, 0, 0, 0, 0]);
  });
});
