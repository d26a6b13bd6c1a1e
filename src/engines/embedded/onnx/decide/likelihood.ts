/**
 * From vectors to how likely each answer is. Pure: the same vectors always give the same numbers. The constants
 * were fitted on labelled decisions (`docs/decisions/0015-embedded-decisions.md`) and are in units of what is
 * ordinary for the model at hand, so that they carry over to other models.
 */
import type { DecisionQuestion } from '../../../contract/decision.ts';
import { dot, normalize } from '../vectors.ts';
import { toAnswerPhrases, toNamed, toNoulPhrases } from './phrases.ts';

/** How much better an answer must fit to be e times as likely. */
const choiceTemperature = 0.45;
const noulTemperature = 0.5;
/** A state that stands out by one ordinary deviation is as likely a yes as a no. */
const noulThreshold = 1;
/** Against the bare question, and of it half against the other description. */
const descriptionWeight = 0.85;
const contrastWeight = 0.5;
/** How pleased the state sounds counts where the answers differ in that: fully from the second number on. */
const feelingSpread = [3.6, 5.4] as const;
const feelingWeight = 0.6;
/** The feeling of a state, in ordinary deviations, from which on it is as strong as can be. */
const strongFeeling = 3;
const noulFeelingWeight = 0.6;
const strongNoulFeeling = 1.8;

/** A sentence that states are compared with. */
export interface Sentence {
  readonly vector: Float32Array;
  /** How near ordinary texts are to it. */
  readonly ordinary: Ordinary;
}

export interface Ordinary {
  readonly mean: number;
  readonly deviation: number;
}

export interface Likelihood {
  toSentence(vector: Float32Array): Sentence;
  /** For each option of the question; they add up to 1. */
  of(
    question: DecisionQuestion,
    sentenceOf: (text: string) => Sentence,
    passages: readonly Float32Array[],
  ): number[];
}

/** Vectors of the texts in `reference.ts`. */
export interface Reference {
  readonly ordinary: readonly Float32Array[];
  readonly pleased: readonly Float32Array[];
  readonly displeased: readonly Float32Array[];
}

export function createLikelihood({ ordinary, pleased, displeased }: Reference): Likelihood {
  const axis = toAxis(pleased, displeased);
  const ordinaryTo = (vector: Float32Array) => toOrdinary(ordinary.map((each) => dot(each, vector)));
  const ordinaryFeeling = ordinaryTo(axis);
  const feelingOf = (vector: Float32Array) => standout(dot(vector, axis), ordinaryFeeling);

  const choice: Likelihood['of'] = (question, sentenceOf, passages) => {
    const answers = question.options.map((option) => toAnswerPhrases(question, option).map(sentenceOf));
    // One scale for all answers: a rare word is no better an answer for varying less.
    const deviation = toMean(answers.flat().map((sentence) => sentence.ordinary.deviation));
    const nearness = answers.map((sentences) =>
      toMean(
        sentences.map(({ vector, ordinary: { mean } }) =>
          standout(similarity(passages, vector), { mean, deviation }),
        ),
      ),
    );
    const feelings = question.options.map((option) => feelingOf(sentenceOf(toNamed(option)).vector));
    const misfits = toMisfits(feelings, toMean(passages.map(feelingOf)));
    return softmax(nearness.map((near, i) => (near - (misfits[i] as number)) / choiceTemperature));
  };

  const noul: Likelihood['of'] = (question, sentenceOf, passages) => {
    const phrases = toNoulPhrases(question);
    const nearness = ({ vector, ordinary: usual }: Sentence) => standout(similarity(passages, vector), usual);
    const asked = phrases.asked.map(sentenceOf);
    const yes = phrases.yes === undefined ? undefined : sentenceOf(phrases.yes);
    const no = phrases.no === undefined ? undefined : sentenceOf(phrases.no);

    const bare = toMean(asked.map(nearness));
    const affirmed = yes === undefined ? bare : nearness(yes);
    const contrast = no === undefined ? affirmed - noulThreshold : affirmed - nearness(no);
    const described = contrastWeight * contrast + (1 - contrastWeight) * (affirmed - noulThreshold);
    const evidence = descriptionWeight * described + (1 - descriptionWeight) * (bare - noulThreshold);

    const askedFeeling = feelingOf((yes ?? (asked[0] as Sentence)).vector);
    const otherFeeling = no === undefined ? 0 : feelingOf(no.vector);
    const agreement =
      clip((askedFeeling - otherFeeling) / strongNoulFeeling) *
      clip(toMean(passages.map(feelingOf)) / strongNoulFeeling);
    return softmax([(evidence + noulFeelingWeight * agreement) / noulTemperature, 0]);
  };

  return {
    toSentence: (vector) => ({ vector, ordinary: ordinaryTo(vector) }),
    of: (question, ...rest) => (question.type === 'noul' ? noul : choice)(question, ...rest),
  };
}

/** By how many ordinary deviations a similarity stands out. */
function standout(cosine: number, { mean, deviation }: Ordinary): number {
  return (cosine - mean) / deviation;
}

/** A long state answers by the passage that fits best, held back by the rest. */
function similarity(passages: readonly Float32Array[], vector: Float32Array): number {
  const cosines = passages.map((passage) => dot(passage, vector));
  return (Math.max(...cosines) + toMean(cosines)) / 2;
}

/** How far each answer's feeling is from the state's; nothing where the answers are about something else. */
function toMisfits(feelings: readonly number[], feeling: number): number[] {
  const spread = Math.max(...feelings) - Math.min(...feelings);
  const [from, to] = feelingSpread;
  const share = Math.min(1, (spread - from) / (to - from));
  if (share <= 0) return feelings.map(() => 0);
  const stated = clip(feeling / strongFeeling);
  return feelings.map((each) => share * feelingWeight * (stated - each / (spread / 2)) ** 2);
}

/** The direction from displeased to pleased, of length 1. */
function toAxis(pleased: readonly Float32Array[], displeased: readonly Float32Array[]): Float32Array {
  const axis = new Float32Array((pleased[0] as Float32Array).length);
  for (let i = 0; i < axis.length; i += 1) {
    for (const vector of pleased) axis[i] = (axis[i] as number) + (vector[i] as number);
    for (const vector of displeased) axis[i] = (axis[i] as number) - (vector[i] as number);
  }
  normalize(axis);
  return axis;
}

function toOrdinary(values: readonly number[]): Ordinary {
  const mean = toMean(values);
  return { mean, deviation: Math.sqrt(toMean(values.map((value) => (value - mean) ** 2))) };
}

function toMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function clip(value: number): number {
  return Math.max(-1, Math.min(1, value));
}

function softmax(values: readonly number[]): number[] {
  const largest = Math.max(...values);
  const weights = values.map((value) => Math.exp(value - largest));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
