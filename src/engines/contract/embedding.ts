/** The embedding port: texts, or tokens that the caller has made of them, to vectors. */
export type EmbeddingInput = string | readonly number[];

export interface EmbeddingRequest {
  /** What the engine calls the model. */
  readonly model: string;
  /** Any number: an engine splits them as it needs. Longer ones than the model reads are cut at the end. */
  readonly inputs: readonly EmbeddingInput[];
  /** The most tokens of one input that the model reads. */
  readonly maxTokens: number;
  /** Only for models that are trained for shorter vectors. */
  readonly dimensions?: number;
  /** How long the model's whole vectors are, where the catalogue says so. */
  readonly fullDimensions?: number;
  /** The model's `script` as it stands in the catalogue, for kinds whose behaviour can be scripted. */
  readonly script?: Readonly<Record<string, unknown>>;
}

export interface EmbeddingResult {
  /** One for each input, in their order, of length 1 (L2). */
  readonly vectors: readonly Float32Array[];
  /** Tokens that were processed. */
  readonly promptTokens: number;
}

export interface EmbeddingPort {
  /** Rejects with a `GatewayError`; the signal ends the work. */
  embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingResult>;
}
