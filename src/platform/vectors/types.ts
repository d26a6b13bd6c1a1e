/**
 * Collections that a subscription fills with files and asks questions of. A file is stored first and read, cut and
 * embedded afterwards, piece by piece, so that a process that dies in between goes on where it was. Without the
 * database nothing can be read or changed; without embeddings files wait and searches are a 503.
 */
import type { Operation } from '../inference/types.ts';

/** Text, numbers and booleans by name. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface FileCounts {
  readonly inProgress: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

export interface Collection {
  /** `vs_` and 24 hex characters. */
  readonly id: string;
  readonly subscriptionId: string;
  readonly name: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The embedding model, decided when it is made: vectors of two models cannot be compared. */
  readonly modelId: string;
  /** Unix milliseconds, all of them. */
  readonly createdAt: number;
  readonly lastActiveAt: number;
  readonly usageBytes: number;
  readonly itemCount: number;
  readonly fileCounts: FileCounts;
}

export type FileStatus = 'in_progress' | 'completed' | 'failed' | 'cancelled';

export interface CollectionFile {
  /** `file_` and 24 hex characters. */
  readonly id: string;
  readonly collectionId: string;
  readonly filename: string;
  readonly bytes: number;
  /** What its items take: text and vectors. */
  readonly usageBytes: number;
  readonly status: FileStatus;
  /** Why it failed, for people: scanned, empty, encrypted, damaged, of no accepted kind. */
  readonly lastError:
    | { readonly code: 'unsupported_file' | 'invalid_file' | 'server_error'; readonly message: string }
    | undefined;
  readonly attributes: Attributes;
  readonly itemCount: number;
  readonly createdAt: number;
}

/** A piece of a file, as it is found and read. */
export interface Item {
  /** `item_` and 24 hex characters. */
  readonly id: string;
  readonly collectionId: string;
  readonly fileId: string;
  readonly filename: string;
  /** Its place among the file's items, from 0. */
  readonly index: number;
  /** What it is about: at first where it stands (`Guide › Installing, page 3`), then what a client writes. Embedded with the text. */
  readonly description: string;
  readonly text: string;
  readonly attributes: Attributes;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Page<T> {
  readonly entries: readonly T[];
  readonly hasMore: boolean;
}

export interface Listing {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

export type FilterValue = string | number | boolean | readonly (string | number)[];

/** By an attribute, or several filters together. */
export type Filter =
  | {
      readonly type: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'nin';
      readonly key: string;
      readonly value: FilterValue;
    }
  | { readonly type: 'and' | 'or'; readonly filters: readonly Filter[] };

export interface SearchRequest {
  readonly text: string;
  readonly limit: number;
  readonly fileIds?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
}

export interface Hit {
  readonly item: Item;
  /** 0 to 1; best first. */
  readonly score: number;
}

export interface SearchAnswer {
  readonly hits: readonly Hit[];
  readonly promptTokens: number;
  readonly costPicoUsd: bigint;
}

export interface NewFile {
  readonly filename: string;
  readonly attributes: Attributes;
  /** Where the upload lies already; it becomes the file's own. */
  readonly objectKey: string;
  readonly bytes: number;
  /** Whose key pays for the embeddings. */
  readonly keyId: string;
}

/** What does not exist for the subscription is `undefined`, whoever else has it. */
export interface Vectors {
  createCollection(
    subscriptionId: string,
    collection: Pick<Collection, 'name' | 'description' | 'metadata' | 'modelId'>,
  ): Promise<Collection>;
  findCollection(subscriptionId: string, id: string): Promise<Collection | undefined>;
  listCollections(subscriptionId: string, listing: Listing): Promise<Page<Collection>>;
  changeCollection(
    subscriptionId: string,
    id: string,
    change: Partial<Pick<Collection, 'name' | 'description' | 'metadata'>>,
  ): Promise<Collection | undefined>;
  removeCollection(subscriptionId: string, id: string): Promise<boolean>;

  /** A key for an upload. What no file has become after an hour is removed, also when the process dies in between. */
  reserveUpload(): Promise<string>;
  /** Answers once the file cannot be lost. Reading and embedding follow. */
  addFile(subscriptionId: string, collectionId: string, file: NewFile): Promise<CollectionFile | undefined>;
  findFile(subscriptionId: string, collectionId: string, id: string): Promise<CollectionFile | undefined>;
  listFiles(
    subscriptionId: string,
    collectionId: string,
    listing: Listing & { status?: FileStatus | undefined },
  ): Promise<Page<CollectionFile> | undefined>;
  /** With its items. */
  removeFile(subscriptionId: string, collectionId: string, id: string): Promise<boolean>;

  findItem(subscriptionId: string, collectionId: string, id: string): Promise<Item | undefined>;
  listItems(
    subscriptionId: string,
    collectionId: string,
    listing: Listing & { fileId?: string | undefined },
  ): Promise<Page<Item> | undefined>;
  /** Embedded anew, at once. */
  describeItem(
    operation: Operation,
    collectionId: string,
    id: string,
    description: string,
  ): Promise<Item | undefined>;
  removeItem(subscriptionId: string, collectionId: string, id: string): Promise<boolean>;

  /** `unreachable` when embedding fails, `overloaded` when embeddings are not available. */
  search(
    operation: Operation,
    collectionId: string,
    request: SearchRequest,
  ): Promise<SearchAnswer | undefined>;

  /** Begins to read files. */
  start(): void;
  close(): Promise<void>;
}
