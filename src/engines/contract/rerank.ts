/** The rerank port: how well each of some documents answers a query. */
export interface RerankRequest {
  /** What the engine calls the model. */
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** The most tokens of query and document together that the model reads; what is longer is cut at the end. */
  readonly maxTokens: number;
  /** The model's `script` as it stands in the catalogue, for kinds whose behaviour can be scripted. */
  readonly script?: Readonly<Record<string, unknown>>;
}

export interface RerankResult {
  /** One for each document, in their order; a higher one answers better. From 0 to 1. */
  readonly scores: readonly number[];
  readonly promptTokens: number;
}

export interface RerankPort {
  rerank(request: RerankRequest, signal: AbortSignal): Promise<RerankResult>;
}
