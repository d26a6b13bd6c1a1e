/** From the probabilities of first tokens to a distribution over options. Pure; everything is in logarithms. */
import { GatewayError } from '../../lib/errors.ts';
import { letters } from './decision-prompt.ts';
import { toLogprobs, type WireAnswer } from './wire.ts';

/** The most that OpenAI, Ollama and, unless it was started otherwise, vLLM tell. */
export const topLogprobs = 20;
/** No answer is called less likely: below it differences mean nothing, and one order could outweigh the rest. */
const leastLogprob = Math.log(1e-6);

export interface LetterOdds {
  /** Of the first letters, in their order; their probabilities add up to 1. */
  readonly logprobs: readonly number[];
  /** How much of the model's probability was on those letters at all. */
  readonly share: number;
}

/** Throws when the answer has no log probabilities. */
export function readLetters(answer: WireAnswer, count: number): LetterOdds {
  const [choice] = Array.isArray(answer.choices) ? answer.choices : [];
  const [first] = toLogprobs(choice ?? {}, { n: 1, topLogprobs }) ?? [];
  if (first === undefined) {
    const message = 'The engine of this model tells no log probabilities, and without them it cannot decide';
    throw new GatewayError('internal', message, { permanent: true });
  }
  // The chosen token stands there a second time, unless it is not among the likeliest.
  const listed = new Map([first, ...first.topLogprobs].map(({ token, logprob }) => [token, logprob]));
  const shares = new Array<number>(count).fill(0);
  let share = 0;
  let all = 0;
  for (const [token, logprob] of listed) {
    const likelihood = Math.exp(Math.min(0, logprob));
    all += likelihood;
    const place = toPlace(token);
    if (place === -1 || place >= count) continue;
    shares[place]! += likelihood;
    share += likelihood;
  }
  const least = Math.exp(Math.min(...listed.values()));
  const missing = shares.filter((value) => value === 0).length;
  // What was not listed is less likely than all that was, and has its part of what is left.
  const rest = Math.min(least, Math.max(0, 1 - all) / Math.max(1, missing));
  const logprobs = shares.map((value) => Math.max(leastLogprob, Math.log(value || rest)));
  return { logprobs: normalize(logprobs), share };
}

/** `A`, ` A` and `▁A` are one answer; `As` is none. */
function toPlace(token: string): number {
  const letter = token.replace(/^[\s▁Ġ]+/u, '').trimEnd();
  return letter.length === 1 ? letters.indexOf(letter) : -1;
}

/** So that the probabilities add up to 1. */
export function normalize(logprobs: readonly number[]): number[] {
  const most = Math.max(...logprobs);
  const sum = logprobs.reduce((total, value) => total + Math.exp(value - most), 0);
  const shift = most + Math.log(sum);
  return logprobs.map((value) => value - shift);
}

/** The mean of several orders' answers: a preference that an order brought in one way, another takes away. */
export function average(answers: readonly (readonly number[])[]): number[] {
  const [first = []] = answers;
  const means = first.map((_, place) => {
    const sum = answers.reduce((total, answer) => total + answer[place]!, 0);
    return sum / answers.length;
  });
  return normalize(means);
}

export interface GroupOdds {
  readonly places: readonly number[];
  readonly logprobs: readonly number[];
}

/** The place of a group's likeliest option within it. */
export function winnerOf(logprobs: readonly number[]): number {
  return logprobs.indexOf(Math.max(...logprobs));
}

/**
 * One distribution over all groups. By Luce's axiom the odds between two options do not depend on what else could
 * be chosen: those within a group hold as they are, and winners of groups tell how one group stands to another.
 */
export function joinGroups(groups: readonly GroupOdds[], winners: readonly number[]): number[] {
  const strengths: number[] = [];
  for (const [group, { places, logprobs }] of groups.entries()) {
    const shift = winners[group]! - logprobs[winnerOf(logprobs)]!;
    for (const [index, place] of places.entries()) strengths[place] = logprobs[index]! + shift;
  }
  const shares = normalize(strengths).map(Math.exp);
  const sum = shares.reduce((total, share) => total + share, 0);
  return shares.map((share) => share / sum);
}
