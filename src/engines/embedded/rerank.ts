/**
 * Reranking without a reranker: query and documents are embedded apart and compared. It cannot see how the one
 * answers the other, as a cross-encoder does, but it puts related documents first.
 */
import type { RerankPort } from '../contract/rerank.ts';
import { type TextPortParts, toVectors } from './embedding.ts';
import type { EmbedInput, EmbedOutput } from './onnx/types.ts';
import { dot } from './onnx/vectors.ts';

export function createRerankPort({ host, resolve }: TextPortParts): RerankPort {
  return {
    async rerank({ model, query, documents, maxTokens }, signal) {
      const files = await resolve(model);
      const { queryInstruction } = files.options;
      const instruction = typeof queryInstruction === 'string' ? queryInstruction : '';
      const input: EmbedInput = { inputs: [instruction + query, ...documents], maxTokens };
      const output = await host.run<EmbedOutput>({ model: files, kind: 'embed', input }, signal);
      const [asked, ...offered] = toVectors(output);
      return {
        scores: offered.map((vector) => toScore(dot(asked as Float32Array, vector))),
        promptTokens: output.tokens,
      };
    },
  };
}

/** From 0 to 1, in the same order; rounding may carry a cosine past its ends. */
function toScore(cosine: number): number {
  return Math.min(1, Math.max(0, (1 + cosine) / 2));
}
