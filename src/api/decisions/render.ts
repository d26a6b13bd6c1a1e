/** Distributions as the answers of `/systemone`. Pure. */
import type { Answer, Question } from './schema.ts';
import { toVerdict } from './score.ts';

export function toAnswer(question: Question, given: readonly number[]): Answer {
  const { probabilities, best, confidence, mean } = toVerdict(given);
  switch (question.type) {
    case 'noul':
      return { type: 'noul', noul: probabilities[0]! };
    case 'choice': {
      const options = Object.keys(question.criteria);
      return {
        type: 'choice',
        choice: options[best]!,
        probabilities: keyed(options, probabilities),
        confidence,
      };
    }
    case 'score': {
      // By the level's index: labels may be long, structured, or the same twice.
      const levels = probabilities.map((_, index) => String(index));
      return {
        type: 'score',
        score: mean,
        legend: keyed(levels, question.criteria),
        probabilities: keyed(levels, probabilities),
        confidence,
      };
    }
  }
}

/** `fromEntries` makes an own field of any name, `__proto__` included. */
function keyed<T>(names: readonly string[], values: readonly T[]): Record<string, T> {
  return Object.fromEntries(names.map((name, index) => [name, values[index]!]));
}
