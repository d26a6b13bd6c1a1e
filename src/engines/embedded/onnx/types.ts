/** What the text models of the onnx program are asked and answer. The gateway's process reads this, so no native code. */
import type { DecisionQuestion } from '../../contract/decision.ts';
import type { EmbeddingInput } from '../../contract/embedding.ts';

/** Input of the task `embed`. */
export interface EmbedInput {
  readonly inputs: readonly EmbeddingInput[];
  /** The most tokens of one input, the model's own marks included; the model may read fewer. */
  readonly maxTokens: number;
  readonly dimensions?: number;
  /** Which of a request's inputs the first one is, for messages. */
  readonly firstIndex?: number;
  /** Every input goes through the model by itself: bit for bit the same vector, whatever its neighbours are. */
  readonly isIsolated?: boolean;
}

export interface EmbedOutput {
  /** All vectors one after the other, each of length 1 (L2): one buffer crosses processes as it is. */
  readonly vectors: Float32Array;
  readonly dimensions: number;
  /** Tokens that went through the model, its own marks included. */
  readonly tokens: number;
}

/** Input of the task `decide`, which answers a `DecisionResult`. */
export interface DecideInput {
  readonly state: string;
  readonly questions: readonly DecisionQuestion[];
  readonly maxTokens: number;
}
