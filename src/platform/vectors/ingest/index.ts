/** The public face of ingest. */
export { createEmbedBatch, type EmbedBatch, type EmbedBatchParts } from './embed-batch.ts';
export { createIngest, type Ingest, type IngestLimits, type IngestParts } from './ingest.ts';
export type { IngestStore } from './types.ts';
