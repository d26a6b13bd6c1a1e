import { describe, expect, it } from 'vitest';
import { readLlamaVocabulary } from './llama-vocabulary.ts';
import { loopedTokens } from './loops.ts';
import { choose, createDice, probabilityOf } from './sampling.ts';
import { better, isLost, toTemperatures, write } from './writing.ts';

const end = 0;
const { signal } = new AbortController();

/** A decoder that gives these tokens the highest score, one after the other. */
function createDecoding(tokens: readonly number[], lead = 10) {
  const asked: (readonly number[])[] = [];
  return {
    asked,
    async step(given: readonly number[]) {
      const rows = new Float32Array(given.length * 100);
      rows[rows.length - 100 + (tokens[asked.length] ?? end)] = lead;
      asked.push(given);
      return rows;
    },
    dispose() {},
  };
}

const writeAll = (tokens: readonly number[], changes: object = {}) =>
  write(
    {
      decoding: createDecoding(tokens) as never,
      start: [90, 91],
      endToken: end,
      mostTokens: 50,
      temperature: 0,
      ...changes,
    },
    signal,
  );

describe('what a model writes', () => {
  it('ends with the end token, and says how sure the model was', async () => {
    const { tokens, logprob, isLooped } = await writeAll([5, 6, 7, end]);
    expect([tokens, isLooped]).toEqual([[5, 6, 7], false]);
    expect(logprob).toBeCloseTo(-Math.log(1 + 99 * Math.exp(-10)), 5);
  });

  it('is given to the model token by token behind the start', async () => {
    const decoding = createDecoding([5, 6, end]);
    await writeAll([], { decoding });
    expect(decoding.asked).toEqual([[90, 91], [5], [6]]);
  });

  it('ends after so many tokens at the latest', async () => {
    const tokens = Array.from({ length: 99 }, (_, i) => i + 1);
    expect((await writeAll(tokens, { mostTokens: 20 })).tokens).toEqual(tokens.slice(0, 20));
  });

  it('never has a token that is put down', async () => {
    const prepare = (scores: Float32Array) => {
      scores[6] = Number.NEGATIVE_INFINITY;
    };
    expect((await writeAll([5, 6, 7, end], { prepare })).tokens[1]).not.toBe(6);
  });

  it('is cut where it goes in circles, and no longer waited for', async () => {
    const loop = Array.from({ length: 60 }, (_, i) => 10 + (i % 5));
    const decoding = createDecoding([1, 2, 3, ...loop]);
    const writing = await writeAll([], { decoding });
    expect(writing).toMatchObject({ tokens: [1, 2, 3, 10, 11, 12, 13, 14], isLooped: true });
    expect(decoding.asked.length).toBeLessThan(30);
    expect(isLost(writing)).toBe(true);
  });

  it('stops when nobody waits for it any more', async () => {
    const controller = new AbortController();
    const decoding = createDecoding([1, 2, 3, 4]);
    const parts = {
      decoding: decoding as never,
      start: [90],
      endToken: end,
      mostTokens: 50,
      temperature: 0,
      onStep: () => decoding.asked.length === 2 && controller.abort(new Error('left')),
    };
    await expect(write(parts, controller.signal)).rejects.toThrow('left');
    expect(decoding.asked).toHaveLength(2);
  });

  it('is tried again with more chance, up to a temperature of 1', () => {
    expect(toTemperatures(0)).toEqual([0, 0.4, 0.8]);
    expect(toTemperatures(0.5)).toEqual([0.5, 0.9]);
    expect(toTemperatures(1)).toEqual([1]);
  });

  it('is the attempt without a loop, and of those the likeliest', () => {
    const looped = { tokens: [1], logprob: -0.1, isLooped: true };
    const guess = { tokens: [2], logprob: -2, isLooped: false };
    const sure = { tokens: [3], logprob: -0.3, isLooped: false };
    expect([better(looped, guess), better(guess, sure), better(sure, looped)]).toEqual([guess, sure, sure]);
  });
});

describe('a loop', () => {
  it('is a phrase that is said four times and more', () => {
    const phrase = [4, 5, 6, 7, 8];
    expect(loopedTokens([1, ...phrase, ...phrase, ...phrase])).toBe(0);
    expect(loopedTokens([1, ...phrase, ...phrase, ...phrase, ...phrase])).toBe(15);
  });

  it('is not what people do say several times', () => {
    expect(loopedTokens([9, 9, 9, 9, 9, 9])).toBe(0);
    expect(loopedTokens(Array(16).fill(9))).toBe(15);
    expect(loopedTokens([])).toBe(0);
  });
});

describe('the choice of a token', () => {
  const scores = Float32Array.from([1, 3, 2, Number.NEGATIVE_INFINITY]);

  it('is the likeliest one without chance', () => {
    const { token, logprob } = choose(scores, 0, () => 0.99);
    expect(token).toBe(1);
    expect(Math.exp(logprob)).toBeCloseTo(probabilityOf(scores, 1), 6);
  });

  it('follows the odds with it, and never falls on what is impossible', () => {
    const dice = createDice(1);
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 4_000; i++) counts[choose(scores, 1, dice).token]! += 1;
    expect(counts[3]).toBe(0);
    for (const token of [0, 1, 2]) {
      expect(counts[token]! / 4_000).toBeCloseTo(probabilityOf(scores, token), 1);
    }
    expect(choose(scores, 1, () => 0.999_999_999).token).toBeLessThan(3);
  });

  it('is the same when the dice begin anew', () => {
    const throwAll = () => {
      const dice = createDice(7);
      return Array.from({ length: 5 }, dice);
    };
    expect(throwAll()).toEqual(throwAll());
  });
});

describe('LLaMA’s vocabulary', () => {
  const tokens = ['<unk>', '<s>', '</s>', '<0xE2>', '<0x82>', '<0xAC>', '▁the', '▁fox', 's', '▁'];
  const source = `export x; const llama_vocab_base64 = "${Buffer.from(tokens.join('\n')).toString('base64')}";`;

  it('is read out of a source text that is never executed', () => {
    const decode = readLlamaVocabulary(source)!;
    expect(decode([1, 6, 7, 8, 9, 3, 4, 5, 2])).toBe(' the foxs €');
    expect(decode([99, -1])).toBe('');
    expect(readLlamaVocabulary('nothing here')).toBeUndefined();
  });
});
