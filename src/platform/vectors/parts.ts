/** What the parts of `vectors` hand to each other: read files, pieces of them, and the index over all pieces. */
import type { Attributes, Filter } from './types.ts';

/** A stretch of a file's text and where it stands. */
export interface Passage {
  readonly text: string;
  /** From the outermost heading to the innermost. */
  readonly headings: readonly string[];
  /** From 1, in files that have pages, slides or sheets. */
  readonly page?: number;
}

/** A piece that becomes an item. */
export interface Chunk {
  readonly text: string;
  /** Where it stands, in words. */
  readonly description: string;
}

export interface IndexedItem {
  readonly id: string;
  readonly collectionId: string;
  readonly fileId: string;
  readonly index: number;
  readonly description: string;
  readonly text: string;
  /** Of length 1. */
  readonly vector: Float32Array;
}

export interface IndexQuery {
  readonly collectionId: string;
  readonly vector: Float32Array;
  readonly text: string;
  /** Of each of the two ways. */
  readonly limit: number;
  readonly fileIds?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
}

export interface Candidate {
  readonly itemId: string;
  /** −1 to 1. */
  readonly similarity: number | undefined;
  /** From 1 among those that were found by their words. */
  readonly textRank: number | undefined;
}

export type { Attributes };
