/** Writes down what was heard, token by token, and tries again with more chance where a model got lost. */
import { setImmediate as turn } from 'node:timers/promises';
import { loopedTokens } from './loops.ts';
import { type Choice, choose, createDice } from './sampling.ts';
import type { Decoding } from './speech-decoder.ts';

export interface Writing {
  readonly tokens: readonly number[];
  /** The mean over the tokens, the end included. */
  readonly logprob: number;
  /** It went in circles. */
  readonly isLooped: boolean;
}

export interface WritingParts {
  readonly decoding: Decoding;
  /** What stands before the first token that is written. */
  readonly start: readonly number[];
  readonly endToken: number;
  readonly mostTokens: number;
  readonly temperature: number;
  /** Puts down the scores of tokens that are not to be written. `count` is how many there are already. */
  prepare?(scores: Float32Array, count: number): void;
  /** Hears the scores behind every token of the start. */
  onStart?(rows: Float32Array): void;
  /** A sign of life, for the host whose patience is with silence. */
  onStep?(): void;
}

/** Ends at the first sign of a loop, which is cut off. */
export async function write(parts: WritingParts, signal: AbortSignal): Promise<Writing> {
  const { decoding, start, endToken, mostTokens, temperature, prepare, onStart, onStep } = parts;
  const dice = createDice(start.length);
  const tokens: number[] = [];
  let sum = 0;
  let next: readonly number[] = start;
  for (;;) {
    // Each step is a few milliseconds of native work; in between the process hears of a cancel.
    await turn();
    signal.throwIfAborted();
    const rows = await decoding.step(next);
    if (next === start) onStart?.(rows);
    const scores = rows.subarray(rows.length - rows.length / next.length);
    prepare?.(scores, tokens.length);
    const { token, logprob }: Choice = choose(scores, temperature, dice);
    sum += logprob;
    onStep?.();
    const mean = sum / (tokens.length + 1);
    if (token === endToken) return { tokens, logprob: mean, isLooped: false };
    tokens.push(token);
    const looped = loopedTokens(tokens);
    if (looped > 0) return { tokens: tokens.slice(0, -looped), logprob: mean, isLooped: true };
    if (tokens.length >= mostTokens) return { tokens, logprob: mean, isLooped: false };
    next = [token];
  }
}

/** How much is left to chance when the model got lost before, as OpenAI's own program goes about it, in larger steps. */
const fallbackStep = 0.4;
/** What is less likely than this on average is a guess. */
const lowestLogprob = -1;

export function toTemperatures(first: number): number[] {
  const temperatures = [first];
  while (temperatures.at(-1)! + fallbackStep <= 1) temperatures.push(temperatures.at(-1)! + fallbackStep);
  return temperatures;
}

export function isLost({ logprob, isLooped }: Writing): boolean {
  return isLooped || logprob < lowestLogprob;
}

/** Of several attempts: one without a loop, and of those the likeliest. */
export function better(one: Writing, other: Writing): Writing {
  if (one.isLooped !== other.isLooped) return one.isLooped ? other : one;
  return one.logprob >= other.logprob ? one : other;
}
