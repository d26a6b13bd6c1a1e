/** The public face of the cutting of passages. */
export { type Chunker, type ChunkLimits, chunkLimits, createChunker } from './chunker.ts';
export { weightOf } from './weigh.ts';
