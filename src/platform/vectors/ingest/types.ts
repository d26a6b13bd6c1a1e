/** What ingest asks of the store: files to work at, places for their pieces, and one atomic step for each batch. */
import type { LedgerRow } from '../../billing/types.ts';
import type { Chunk } from '../parts.ts';
import type { CollectionFile } from '../types.ts';

/** A file that this worker holds until `leaseUntil`. */
export interface LeasedFile {
  readonly id: string;
  readonly collectionId: string;
  readonly subscriptionId: string;
  /** Whose key pays for the embeddings. */
  readonly keyId: string;
  /** The collection's embedding model. */
  readonly modelId: string;
  readonly filename: string;
  readonly objectKey: string;
  /** How many pieces are saved already: cutting goes on behind them. */
  readonly chunkCount: number;
  /** Whether the file was read to its end: only embedding is left. */
  readonly isCut: boolean;
  /** How often it was leased and never given back, this time included: each is a process that died. */
  readonly attempts: number;
}

/** Says who asks: what a worker lost to another one does not change the file any more. */
export interface LeaseHold {
  readonly fileId: string;
  readonly workerId: string;
}

export interface LeaseRequest {
  readonly workerId: string;
  readonly subscriptionId: string;
  readonly now: number;
  readonly leaseUntil: number;
  /** Only a file of at most so many bytes. */
  readonly maxBytes?: number | undefined;
}

/** A piece that has no vector yet. */
export interface BareItem {
  readonly id: string;
  readonly index: number;
  readonly description: string;
  readonly text: string;
}

/**
 * Whatever changes a file answers false when it is not held any more: it was removed with its collection, or another
 * worker has taken it over.
 */
export interface IngestStore {
  /** Those with a file that waits (`in_progress`, not leased, its time come), in any order. */
  waitingSubscriptions(now: number): Promise<string[]>;
  /** The subscription's file whose turn is next: the one that was given back longest ago. Counts the attempt. */
  leaseFile(request: LeaseRequest): Promise<LeasedFile | undefined>;
  /** Answers which of them are still held. */
  renewLeases(workerId: string, fileIds: readonly string[], leaseUntil: number): Promise<string[]>;
  /** In one transaction with the file's chunk count. Item ids are made of the file's id and the index. */
  saveChunks(hold: LeaseHold, firstIndex: number, chunks: readonly Chunk[]): Promise<boolean>;
  /** The file was read to its end. */
  markCut(hold: LeaseHold): Promise<boolean>;
  /** Pieces without a vector, by index. */
  bareItems(fileId: string, limit: number): Promise<BareItem[]>;
  /** In one transaction with the bill. An item that was removed, or has a vector by now, is left as it is. */
  saveVectors(
    hold: LeaseHold,
    vectors: readonly { readonly itemId: string; readonly vector: Float32Array }[],
    bill: LedgerRow,
  ): Promise<boolean>;
  finishFile(hold: LeaseHold): Promise<boolean>;
  /** With its pieces, which go. */
  failFile(hold: LeaseHold, error: NonNullable<CollectionFile['lastError']>): Promise<boolean>;
  /** To the end of the line, from `retryAt` on; the attempt is not counted. */
  giveBack(hold: LeaseHold, retryAt: number): Promise<boolean>;
}
