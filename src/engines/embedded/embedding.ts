/** Embeddings by a model of the onnx process. */
import type { EmbeddingInput, EmbeddingPort } from '../contract/embedding.ts';
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
      return embedAll(host, files, input, signal);
    },
  };
}

/** Of one task. Both bounds are about half a second of a small model, so that others soon get their turn. */
const taskInputs = 64;
const taskTokens = 2_048;
const charactersPerToken = 4;

/** In tasks of bounded work, one after the other: those of different requests take turns in the model's line. */
export async function embedAll(
  host: ModelHost,
  model: ModelFiles,
  { inputs, ...settings }: EmbedInput,
  signal: AbortSignal,
): Promise<{ vectors: Float32Array[]; promptTokens: number }> {
  const vectors: Float32Array[] = [];
  let promptTokens = 0;
  for (let start = 0; start < inputs.length; ) {
    const end = taskEnd(inputs, start, settings.maxTokens);
    const input: EmbedInput = { ...settings, inputs: inputs.slice(start, end), firstIndex: start };
    const task = { model, kind: 'embed', input, isContinued: start > 0 };
    const output = await host.run<EmbedOutput>(task, signal);
    vectors.push(...toVectors(output));
    promptTokens += output.tokens;
    start = end;
  }
  return { vectors, promptTokens };
}

/** At least one input, however long. */
function taskEnd(inputs: readonly EmbeddingInput[], start: number, maxTokens: number): number {
  let tokens = 0;
  let end = start;
  while (end < inputs.length && end - start < taskInputs) {
    const input = inputs[end] as EmbeddingInput;
    tokens += Math.min(
      maxTokens,
      typeof input === 'string' ? input.length / charactersPerToken : input.length,
    );
    if (end > start && tokens > taskTokens) break;
    end += 1;
  }
  return end;
}

/** Views on the one buffer that came from the process. */
export function toVectors({ vectors, dimensions }: EmbedOutput): Float32Array[] {
  return Array.from({ length: vectors.length / dimensions }, (_, index) =>
    vectors.subarray(index * dimensions, (index + 1) * dimensions),
  );
}
