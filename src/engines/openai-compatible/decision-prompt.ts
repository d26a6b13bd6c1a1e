/**
 * What a chat model is asked so that its first token is the answer, and in which orders of the options. Pure.
 *
 * Options have letters, because a letter is one token everywhere. Models prefer some letters whatever stands
 * behind them, so a question is asked in several orders. There are letters for sixteen options, which engines can
 * all show among their twenty likeliest tokens; more options are asked in groups, and then the groups' winners
 * among each other, which reaches to 256.
 */
import type { DecisionOption, DecisionQuestion } from '../contract/decision.ts';

export const letters = 'ABCDEFGHIJKLMNOP';
/** Up to here every option stands behind every letter once, and no preference for one is left. */
const mostRotated = 4;

export function toDecisionPrompt(
  state: string,
  { type, instructions }: DecisionQuestion,
  options: readonly DecisionOption[],
  isRising: boolean,
): string {
  const list = options.map((option, index) => `${letters[index] ?? index + 1}. ${toLine(option)}`);
  const direction = isRising ? 'from the lowest to the highest' : 'from the highest to the lowest';
  // The state comes first: engines keep what questions about one state have in common.
  return `Decide about the text below by choosing one of the options.

Text:
"""
${state}
"""

Question: ${instructions.trim() || usualQuestion[type]}

${type === 'score' ? `Levels, ${direction}` : 'Options'}:
${list.join('\n')}

Answer with the letter of the ${type === 'score' ? 'level' : 'option'} that fits best, and nothing else.`;
}

const usualQuestion: Readonly<Record<DecisionQuestion['type'], string>> = {
  noul: 'Is it so?',
  choice: 'Which option fits the text best?',
  score: 'Which level fits the text best?',
};

function toLine({ label, description }: DecisionOption): string {
  const text = description === undefined ? label : `${label}: ${description}`;
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The places of a question's options in groups of what one request can ask for, about equally large. */
export function toGroups({ type, options }: DecisionQuestion): number[][] {
  const places = options.map((_, index) => index);
  // By what they say: then the order in which they came does not matter. Levels are in their order.
  if (type === 'choice') places.sort((one, other) => compare(options[one]!, options[other]!));
  const count = Math.ceil(places.length / letters.length);
  return Array.from({ length: count }, (_, group) =>
    places.slice(
      Math.floor((group * places.length) / count),
      Math.floor(((group + 1) * places.length) / count),
    ),
  );
}

function compare(one: DecisionOption, other: DecisionOption): number {
  const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The orders in which these places are shown. One alone needs none. */
export function toOrders(type: DecisionQuestion['type'], places: readonly number[]): number[][] {
  if (places.length === 1) return [];
  if (type === 'score' || places.length > mostRotated) return [[...places], places.toReversed()];
  return places.map((_, by) => [...places.slice(by), ...places.slice(0, by)]);
}
