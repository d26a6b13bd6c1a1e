/** What the parts of `vectors` hand to each other: read files, pieces of them, and the index over all pieces. */
import type { Sql } from '../../storage/database.ts';
import type { Operation } from '../inference/types.ts';
import type { Attributes, CollectionFile, Filter } from './types.ts';

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

/** A run's proof that a file is its own to read. The attempt never falls, so no earlier run can have the same. */
export interface FileToken {
  readonly fileId: string;
  readonly owner: string;
  readonly attempt: number;
}

/** A file that is to be read, as far as it has come. */
export interface FileLease extends FileToken {
  readonly collectionId: string;
  readonly subscriptionId: string;
  readonly keyId: string;
  readonly modelId: string;
  readonly filename: string;
  readonly objectKey: string;
  readonly bytes: number;
  /** How many attempts have failed, this one not counted; one whose process died is among them. */
  readonly failures: number;
  /** Chunks that are kept already; the next one has this index. */
  readonly chunksCut: number;
  /** The file was read to its end. */
  readonly isCut: boolean;
  readonly chunksEmbedded: number;
}

export interface PendingChunk extends Chunk {
  /** The item's id, decided when the chunk is kept. */
  readonly id: string;
  readonly index: number;
}

/**
 * The steps of a file from its upload to its end. Each is one transaction. Those that take a token answer `false` when
 * the file is no longer the run's own (its lease went to another, it was deleted): then the run ends without a word.
 */
export interface IngestStore {
  /** The oldest file that waits and is due, or whose lease is over. */
  leaseFile(claim: { owner: string; leaseMs: number }): Promise<FileLease | undefined>;
  renewLease(token: FileToken, leaseMs: number): Promise<boolean>;
  /** Gives it back: it is anybody's after `delayMs`. */
  releaseFile(token: FileToken, left: { delayMs: number; failures: number }): Promise<boolean>;
  /** `from` is the index of the first; chunks that are kept already are passed over, so that a repeated run adds nothing twice. */
  saveChunks(token: FileToken, from: number, chunks: readonly Chunk[]): Promise<boolean>;
  /** Says that no more follow. */
  finishCutting(token: FileToken): Promise<boolean>;
  /** The next in order that have no vector. */
  pendingChunks(token: FileToken, limit: number): Promise<readonly PendingChunk[]>;
  /** From here on they are items: found, listed and counted. */
  saveVectors(
    token: FileToken,
    vectors: readonly { readonly id: string; readonly vector: Float32Array }[],
  ): Promise<boolean>;
  finishFile(token: FileToken): Promise<boolean>;
  /** Its items and chunks go; the record stays and says why. */
  failFile(token: FileToken, error: NonNullable<CollectionFile['lastError']>): Promise<boolean>;
  /** Called when files may be waiting, in this process or another. Answers what ends it. */
  onWaiting(listener: () => void): Promise<() => Promise<void>>;
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
