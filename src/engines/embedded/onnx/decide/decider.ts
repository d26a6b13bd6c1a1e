/**
 * Decisions by an embedding model: an answer is as likely as its sentences are near to the state. The model
 * writes nothing and has no reasons.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { GatewayError } from '../../../../lib/errors.ts';
import type { DecisionQuestion, DecisionResult } from '../../../contract/decision.ts';
import type { DecideInput } from '../types.ts';
import { createLikelihood, type Likelihood, type Sentence } from './likelihood.ts';
import { toPassages, toQuestionText, toSentences } from './phrases.ts';
import { displeasedTexts, ordinaryTexts, pleasedTexts } from './reference.ts';

/** What the decider needs of the model; both hear the signal of the request. */
export interface DecidingModel {
  /**
   * Each by itself and not in a batch, so that what else is asked, or is known already, does not change the
   * last digit of an answer.
   */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  /** Tokens without marks; `limit + 1` for a text that has more. */
  count(texts: readonly string[], limit: number): Promise<number[]>;
  /** How many marks the model puts around one input. */
  readonly marks: number;
}

export interface Decider {
  decide(input: DecideInput, model: DecidingModel): Promise<DecisionResult>;
}

/** Sentences that are kept, since the same questions come again and again: 6 MB at 384 dimensions. */
const keptSentences = 4_096;

export function createDecider(): Decider {
  const kept = new Map<string, Sentence>();
  let likelihood: Likelihood | undefined;

  async function sentencesOf(
    questions: readonly DecisionQuestion[],
    made: Likelihood,
    model: DecidingModel,
  ): Promise<Map<string, Sentence>> {
    const texts = [...new Set(questions.flatMap(toSentences))];
    const sentences = new Map<string, Sentence>();
    const missing: string[] = [];
    for (const text of texts) {
      const known = kept.get(text);
      if (known === undefined) missing.push(text);
      else sentences.set(text, known);
    }
    const vectors = await model.embed(missing);
    missing.forEach((text, i) => {
      sentences.set(text, made.toSentence((vectors[i] as Float32Array).slice()));
    });
    for (const [text, sentence] of sentences) keep(kept, text, sentence);
    return sentences;
  }

  return {
    async decide({ state, questions, maxTokens }, model) {
      const counts = await countPrompts(state, questions, maxTokens, model);
      const long = counts.findIndex((tokens) => tokens > maxTokens);
      if (long !== -1) throw tooLong(long, maxTokens);

      // Two first requests may both learn it: neither then depends on the other, which may be cancelled.
      likelihood ??= await learnReference(model);
      const made = likelihood;
      const passages = await model.embed(toPassages(state));
      const sentences = await sentencesOf(questions, made, model);
      const probabilities: number[][] = [];
      for (const question of questions) {
        await turn();
        probabilities.push(made.of(question, (text) => sentences.get(text) as Sentence, passages));
      }
      return { probabilities, promptTokens: counts.reduce((sum, tokens) => sum + tokens, 0) };
    },
  };
}

/** The tokens of each question's whole prompt: the state is read once, and counts for every question. */
async function countPrompts(
  state: string,
  questions: readonly DecisionQuestion[],
  maxTokens: number,
  model: DecidingModel,
): Promise<number[]> {
  const [ofState = 0, ...ofQuestions] = await model.count(
    [state, ...questions.map(toQuestionText)],
    maxTokens,
  );
  return ofQuestions.map((ofQuestion) => ofState + ofQuestion + model.marks);
}

async function learnReference(model: DecidingModel): Promise<Likelihood> {
  return createLikelihood({
    ordinary: await model.embed(ordinaryTexts),
    pleased: await model.embed(pleasedTexts),
    displeased: await model.embed(displeasedTexts),
  });
}

/** The latest used stay. */
function keep(kept: Map<string, Sentence>, text: string, sentence: Sentence): void {
  kept.delete(text);
  kept.set(text, sentence);
  const oldest = kept.size > keptSentences ? kept.keys().next().value : undefined;
  if (oldest !== undefined) kept.delete(oldest);
}

function tooLong(question: number, maxTokens: number): GatewayError {
  const message = `The prompt of question ${question + 1} (state, question and options) is longer than the model's maximum of ${maxTokens} tokens`;
  return new GatewayError('invalid_request', message, { param: 'state' });
}
