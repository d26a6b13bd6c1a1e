/** What an embedding model is shown of a decision: sentences for its answers, and passages of its state. Pure. */
import type { DecisionOption, DecisionQuestion } from '../../../contract/decision.ts';

/** The sentences of one answer; their similarities to the state are averaged. */
export type AnswerPhrases = readonly string[];

export interface NoulPhrases {
  /** The question as a statement. */
  readonly asked: AnswerPhrases;
  /** What the criteria say, where there are any. */
  readonly yes: string | undefined;
  readonly no: string | undefined;
}

/** An option alone, and as the answer to its question: the best pair on the tuning questions, by little. */
export function toAnswerPhrases({ instructions }: DecisionQuestion, option: DecisionOption): AnswerPhrases {
  const named = toNamed(option);
  return [named, `${instructions} ${named}.`.trim()];
}

export function toNamed({ label, description }: DecisionOption): string {
  return description === undefined ? toWords(label) : `${toWords(label)}: ${description}`;
}

export function toNoulPhrases({ instructions, options }: DecisionQuestion): NoulPhrases {
  const matter = toMatter(instructions);
  return {
    asked: [matter, `This is ${matter}.`],
    yes: options[0]?.description,
    no: options[1]?.description,
  };
}

/** As it is billed, and held against the model's maximum. */
export function toQuestionText({ instructions, options }: DecisionQuestion): string {
  return [instructions, ...options.map(toNamed)].join('\n');
}

/** Labels are often identifiers: `track_order`, `trackOrder`. */
function toWords(label: string): string {
  return label.replaceAll('_', ' ').replace(/(?<=\p{Ll})(?=\p{Lu}\p{Ll})/gu, ' ');
}

const opening =
  /^(?:is|are|was|were|does|do|did|has|have|had|can|could|should|would|will|must)\s+(?:(?:this|that|the|these|those|an?|my|our|your|their|his|her)\s+[\p{L}-]+|it|there|they|he|she|you|we|i)\s+(?=\S)/iu;

/**
 * What a question asks about, without how it asks: "Is this message urgent?" is about "urgent". A question that
 * opens otherwise, or in another language, stays whole.
 */
export function toMatter(instructions: string): string {
  const words = instructions.replace(/\s+/gu, ' ');
  let end = words.length;
  // A loop: the expression for it takes the square of a run's length.
  while (end > 0 && '?.! '.includes(words.charAt(end - 1))) end -= 1;
  return words.slice(0, end).trimStart().replace(opening, '');
}

/** About a hundred tokens: these models are trained on sentences, and blur what is much longer. */
const passageCharacters = 500;

/** A long state in pieces that end where sentences or at least words do. */
export function toPassages(state: string): string[] {
  const passages: string[] = [];
  let rest = state.trim();
  while (rest.length > passageCharacters) {
    const end = passageEnd(rest.slice(0, passageCharacters));
    passages.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  if (rest !== '' || passages.length === 0) passages.push(rest);
  return passages;
}

function passageEnd(text: string): number {
  for (const end of [/[.!?。！？\n](?=\s|$)/gu, /[\s,;]/gu]) {
    const last = [...text.matchAll(end)].at(-1);
    // A piece that ends too early would leave crumbs.
    if (last !== undefined && last.index > passageCharacters / 3) return last.index + 1;
  }
  return text.length;
}

/** At most so many tokens go through the model for a question's sentences, of which each is cut at `mostTokens`. */
export function toSentenceTokens(
  { type, options }: DecisionQuestion,
  ofInstructions: number,
  ofWhole: number,
  mostTokens: number,
): number {
  const asked = Math.min(ofInstructions, mostTokens);
  const ofOptions = Math.max(0, ofWhole - ofInstructions);
  return type === 'noul' ? 2 * asked + ofOptions : options.length * asked + 2 * ofOptions;
}

/** Every sentence that a question is compared by. */
export function toSentences(question: DecisionQuestion): string[] {
  if (question.type === 'noul') {
    const { asked, yes, no } = toNoulPhrases(question);
    return [...asked, yes, no].filter((sentence) => sentence !== undefined);
  }
  return question.options.flatMap((option) => [...toAnswerPhrases(question, option), toNamed(option)]);
}
