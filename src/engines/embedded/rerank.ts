/**
 * Reranking without a reranker: query and documents are embedded apart and compared. It cannot see how the one
 * answers the other, as a cross-encoder does, but it puts related documents first.
 */
import type { RerankPort } from '../contract/rerank.ts';
import { embedAll, type TextPortParts } from './embedding.ts';
import type { EmbedInput } from './onnx/types.ts';
import { dot } from './onnx/vectors.ts';

export function createRerankPort({ host, resolve }: TextPortParts): RerankPort {
  return {
    async rerank({ model, query, documents, maxTokens }, signal) {
      const files = await resolve(model);
      const { queryInstruction } = files.options;
      const instruction = typeof queryInstruction === 'string' ? queryInstruction : '';
      const input: EmbedInput = { inputs: [instruction + query, ...documents], maxTokens };
      const { vectors, promptTokens } = await embedAll(host, files, input, signal);
      const [asked, ...offered] = vectors;
      return {
        scores: offered.map((vector) => toScore(dot(asked as Float32Array, vector))),
        promptTokens,
      };
    },
  };
}

/** From 0 to 1, in the same order; rounding may carry a cosine past its ends. */
function toScore(cosine: number): number {
  return Math.min(1, Math.max(0, (1 + cosine) / 2));
}
