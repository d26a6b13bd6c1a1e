/**
 * Decisions by an embedding model: an answer is as likely as its sentences are near to the state. The model
 * writes nothing and has no reasons.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { GatewayError } from '../../../../lib/errors.ts';
import type { DecisionQuestion, DecisionResult } from '../../../contract/decision.ts';
import type { DecideInput } from '../types.ts';
import { createLikelihood, type Likelihood, type Sentence } from './likelihood.ts';
import { toPassages, toQuestionText, toSentences, toSentenceTokens } from './phrases.ts';
import { displeasedTexts, ordinaryTexts, pleasedTexts } from './reference.ts';

/** What the decider needs of the model; its work hears the signal of the request. */
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
  /** The most tokens of one text that it reads. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
}

export interface Decider {
  decide(input: DecideInput, model: DecidingModel): Promise<DecisionResult>;
}

/** Sentences that are kept, since the same questions come again and again: 6 MB at 384 dimensions. */
const keptSentences = 4_096;

/**
 * Tokens of all sentences of one request, which are more than it is billed for: the instructions are read again
 * with every option. About seven seconds of MiniLM on one core.
 */
const mostSentenceTokens = 32_768;
/** More than any prose has. */
const charactersPerToken = 8;

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
      const { prompts, sentenceTokens } = await count(state, questions, maxTokens, model);
      const long = prompts.findIndex((tokens) => tokens > maxTokens);
      if (long !== -1) throw tooLong(long, maxTokens);
      if (sentenceTokens > mostSentenceTokens) throw tooMuch();

      // Two first requests may both learn it: neither then depends on the other, which may be cancelled.
      likelihood ??= await learnReference(model);
      const made = likelihood;
      const passages = await model.embed(toPassages(state));
      const sentences = await sentencesOf(questions, made, model);
      const probabilities: number[][] = [];
      for (const question of questions) {
        await turn();
        model.signal.throwIfAborted();
        probabilities.push(made.of(question, (text) => sentences.get(text) as Sentence, passages));
      }
      return { probabilities, promptTokens: prompts.reduce((sum, tokens) => sum + tokens, 0) };
    },
  };
}

interface Counts {
  /** Of each question's whole prompt: the state is read once, and counts for every question. */
  readonly prompts: readonly number[];
  /** What the model would have to read of the questions, at most. */
  readonly sentenceTokens: number;
}

async function count(
  state: string,
  questions: readonly DecisionQuestion[],
  maxTokens: number,
  model: DecidingModel,
): Promise<Counts> {
  const wholes = questions.map(toQuestionText);
  const [ofState = 0, ...ofWholes] = await model.count([state, ...wholes], maxTokens);
  const ofInstructions = await model.count(
    questions.map(({ instructions }) => instructions),
    maxTokens,
  );
  const sentenceTokens = questions.reduce((sum, question, i) => {
    const asked = toEffort(question.instructions, ofInstructions[i] ?? 0);
    const whole = toEffort(wholes[i] ?? '', ofWholes[i] ?? 0);
    return sum + toSentenceTokens(question, asked, whole, model.maxTokens);
  }, 0);
  return { prompts: ofWholes.map((ofWhole) => ofState + ofWhole + model.marks), sentenceTokens };
}

/** Spaces are no tokens, and are read all the same. */
function toEffort(text: string, tokens: number): number {
  return Math.max(tokens, Math.ceil(text.length / charactersPerToken));
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

function tooMuch(): GatewayError {
  const message =
    `The questions are too much work for one request: with the instructions before every option they are more ` +
    `than ${mostSentenceTokens} tokens. Ask fewer questions at once, or with shorter instructions`;
  return new GatewayError('invalid_request', message, { param: 'questions' });
}
