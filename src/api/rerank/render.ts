/** Scores as a ranking. Pure. */
import type { Ranking, RerankBody } from './schema.ts';

export interface AnswerHead {
  /** `rerank-…` */
  readonly id: string;
  readonly model: string;
  readonly usage: Ranking['usage'];
}

/** The best first, and of equals the one that was sent first. */
export function toRanking(
  { id, model, usage }: AnswerHead,
  scores: readonly number[],
  documents: readonly string[],
  { top_n: most, return_documents: withDocuments }: RerankBody,
): Ranking {
  const ranked = scores
    .map((score, index) => ({ index, relevance_score: score }))
    .sort((one, other) => other.relevance_score - one.relevance_score || one.index - other.index)
    .slice(0, most ?? scores.length);
  const results =
    withDocuments === false
      ? ranked
      : ranked.map((result) => ({ ...result, document: { text: documents[result.index] ?? '' } }));
  return { id, model, results, usage };
}
