import { describe, expect, it } from 'vitest';
import type { Sql } from '../../storage/database.ts';
import { toLine } from './line.ts';
import { insertLines } from './store.ts';
import type { LedgerRow } from './types.ts';

function line(id: string, outcome = 'stop'): string {
  const row: LedgerRow = {
    id,
    subscriptionId: 'sub_1',
    keyId: 'key_1',
    modelId: 'qwen',
    operation: 'chat',
    at: 1,
    durationMs: 1,
    streamed: false,
    outcome,
    quantities: {},
    costPicoUsd: 0n,
  };
  return toLine(row);
}

/** A PostgreSQL that answers these ids as the new ones, and a SQLite that says so row by row. */
const postgres = (...ids: string[]) => ({ query: async () => ids.map((id) => ({ id })) }) as unknown as Sql;
const sqlite = (...changes: number[]) => ({ eachJson: async () => changes }) as unknown as Sql;

describe('lines that are brought to the ledger', () => {
  it('are all of them when none was there', async () => {
    const lines = [line('gen_1'), line('gen_2')];
    expect(await insertLines(postgres('gen_2', 'gen_1'), 'postgres', lines)).toBe(lines);
    expect(await insertLines(sqlite(1, 1), 'sqlite', lines)).toBe(lines);
  });

  it('are those that were not there before, and of two with one id the first', async () => {
    const lines = [line('gen_1'), line('gen_2'), line('gen_2', 'length'), line('gen_3')];
    const added = [line('gen_2'), line('gen_3')];
    expect(await insertLines(postgres('gen_3', 'gen_2'), 'postgres', lines)).toEqual(added);
    expect(await insertLines(sqlite(0, 1, 0, 1), 'sqlite', lines)).toEqual(added);
  });
});
