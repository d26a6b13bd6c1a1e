/** Distributions as the answers of `/decisions`. Pure. */
import type { ListAnswer, ListDecision, ListQuestion } from './list-schema.ts';
import { toVerdict } from './score.ts';

export function toListAnswer(question: ListQuestion, given: readonly number[]): ListAnswer {
  const { probabilities, best, confidence, mean } = toVerdict(given);
  const name = question.name ?? null;
  switch (question.type) {
    case 'predicate':
      return { type: 'predicate', name, probability: probabilities[0]! };
    case 'choice':
      return {
        type: 'choice',
        name,
        choice: question.choices[best]!.value,
        confidence,
        probabilities: question.choices.map(({ value }, index) => ({
          value,
          probability: probabilities[index]!,
        })),
      };
    case 'score':
      return {
        type: 'score',
        name,
        score: mean,
        confidence,
        probabilities: question.levels.map(({ label }, index) => ({
          value: index,
          label,
          probability: probabilities[index]!,
        })),
      };
  }
}

export function toListUsage(inputTokens: number, cost: number): ListDecision['usage'] {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens,
    cost,
  };
}
