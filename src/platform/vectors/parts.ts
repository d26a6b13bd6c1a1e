/** What the parts of `vectors` hand to each other: read files, pieces of them, and the index over all pieces. */
import type { Sql } from '../../storage/database.ts';
import type { Operation } from '../inference/types.ts';
import type { Attributes, Filter } from './types.ts';

/** What a file is counted in. */
export type PlaceUnit = 'page' | 'slide' | 'row' | 'line';

/** A stretch of a file's text and where it stands. */
export interface Passage {
  readonly text: string;
  /** From the outermost heading to the innermost. */
  readonly headings: readonly string[];
  /** From 1. */
  readonly place?: { readonly unit: PlaceUnit; readonly at: number } | undefined;
  /** How it may be cut when it is too long: prose by sentences, the others by lines. */
  readonly form?: 'prose' | 'code' | 'rows' | undefined;
  /** What every part of it begins with when it is cut: the header of a table. */
  readonly repeated?: string | undefined;
}

/** A piece that becomes an item. */
export interface Chunk {
  readonly text: string;
  /** Where it stands, in words. */
  readonly description: string;
}

/** Numbers instead of ids: they order and group the rows of the index; see the migration. */
export interface IndexedItem {
  readonly number: number;
  readonly collectionNumber: number;
  readonly fileNumber: number;
  readonly description: string;
  readonly text: string;
  /** Of length 1. */
  readonly vector: Float32Array;
}

export interface IndexQuery {
  readonly collectionNumber: number;
  readonly vector: Float32Array;
  readonly text: string;
  /** Of each of the two ways. */
  readonly limit: number;
  readonly fileIds?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
}

export interface Candidate {
  /** The item's number. */
  readonly number: number;
  /** −1 to 1. */
  readonly similarity: number | undefined;
  /** From 1 among those that were found by their words. */
  readonly textRank: number | undefined;
}

/** What a search finds with: kept in step with the items, inside their transactions. */
export interface ItemIndex {
  /** Makes what it needs in the database, and brings in what was added while it was not there. */
  open(): Promise<void>;
  add(tx: Sql, items: readonly IndexedItem[]): Promise<void>;
  /** Its description has changed, and with it the vector. */
  change(tx: Sql, item: IndexedItem): Promise<void>;
  remove(tx: Sql, numbers: readonly number[]): Promise<void>;
  /** Of items whose files are there. Those found by vector come first, the nearest first. */
  search(query: IndexQuery): Promise<Candidate[]>;
  /** After items were added: a large collection may want an index of its own. Never rejects. */
  grown(collectionNumber: number): Promise<void>;
  /** After a collection and all its items have gone. */
  forget(collectionNumber: number): Promise<void>;
  close(): Promise<void>;
}

/** Billed to the operation's caller, on the collection's model. */
export type Embed = (
  operation: Operation,
  modelId: string,
  texts: readonly string[],
  kind: 'query' | 'passage',
) => Promise<{
  readonly vectors: readonly Float32Array[];
  readonly promptTokens: number;
  readonly costPicoUsd: bigint;
}>;

export type { Attributes };
