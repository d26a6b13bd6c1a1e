/** Embeddings by a model of the onnx process. */
import type { EmbeddingPort } from '../contract/embedding.ts';
import type { ModelFiles, ModelHost } from './host/types.ts';
import type { EmbedInput, EmbedOutput } from './onnx/types.ts';

/** What every port over the onnx process is made of. */
export interface TextPortParts {
  readonly host: ModelHost;
  /** The files of the model that a request names. */
  resolve(model: string): Promise<ModelFiles>;
}

export function createEmbeddingPort({ host, resolve }: TextPortParts): EmbeddingPort {
  return {
    async embed({ model, inputs, maxTokens, dimensions }, signal) {
      const input: EmbedInput = { inputs, maxTokens, ...(dimensions === undefined ? {} : { dimensions }) };
      const files = await resolve(model);
      const output = await host.run<EmbedOutput>({ model: files, kind: 'embed', input }, signal);
      return { vectors: toVectors(output), promptTokens: output.tokens };
    },
  };
}

/** Views on the one buffer that came from the process. */
export function toVectors({ vectors, dimensions }: EmbedOutput): Float32Array[] {
  return Array.from({ length: vectors.length / dimensions }, (_, index) =>
    vectors.subarray(index * dimensions, (index + 1) * dimensions),
  );
}
