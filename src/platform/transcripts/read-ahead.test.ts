import { describe, expect, it } from 'vitest';
import { readAhead } from './read-ahead.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

function createSource(count: number, failsAfter = Number.POSITIVE_INFINITY) {
  const state = { made: 0, isClosed: false };
  async function* audio() {
    try {
      for (let index = 0; index < count; index++) {
        if (index >= failsAfter) throw new Error('broken');
        state.made += 1;
        yield Int16Array.of(index, index);
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { state, audio: audio() };
}

async function collect(pieces: AsyncIterable<Int16Array>): Promise<number[]> {
  const all: number[] = [];
  for await (const piece of pieces) all.push(piece[0]!);
  return all;
}

describe('reading ahead', () => {
  it('hands everything on in order', async () => {
    const { audio, state } = createSource(100);
    expect(await collect(readAhead(audio, 7))).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(state.isClosed).toBe(true);
  });

  it('takes as much as it may while nobody reads, and no more', async () => {
    const { audio, state } = createSource(100);
    const ahead = readAhead(audio, 20);
    await ahead.next();
    for (let i = 0; i < 50; i++) await turn();
    expect(state.made).toBe(11);
    await ahead.next();
    for (let i = 0; i < 50; i++) await turn();
    expect(state.made).toBe(12);
    await ahead.return(undefined);
    expect(state.isClosed).toBe(true);
  });

  it('tells a failure before what came ahead of it', async () => {
    const { audio, state } = createSource(100, 5);
    const ahead = readAhead(audio, 1_000);
    await ahead.next();
    for (let i = 0; i < 50; i++) await turn();
    await expect(ahead.next()).rejects.toThrow('broken');
    expect(state.isClosed).toBe(true);
  });

  it('lets go of what it reads when nobody wants more, also while it waits for it', async () => {
    const { audio, state } = createSource(3);
    for await (const _ of readAhead(audio, 1)) break;
    expect(state.isClosed).toBe(true);
  });
});
