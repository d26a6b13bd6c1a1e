/** What the two ways of PostgreSQL to find the nearest vectors have in common. */
import type { Sql } from '../../storage/database.ts';
import type { IndexedItem, IndexQuery } from './parts.ts';

/** How vectors are compared. */
export interface VectorWay {
  /** Makes what it needs, and brings in what was added without it. */
  open(): Promise<void>;
  add(tx: Sql, items: readonly IndexedItem[]): Promise<void>;
  remove(tx: Sql, numbers: readonly number[]): Promise<void>;
  /** The nearest first. */
  nearest(query: IndexQuery): Promise<{ number: number; similarity: number }[]>;
  grown(collectionNumber: number): Promise<void>;
  forget(collectionNumber: number): Promise<void>;
  close(): Promise<void>;
}

/** The version of pgvector, and the schema that has its names. */
export interface Extension {
  readonly version: string;
  readonly schema: string;
}

/** What an index of pgvector can order by. */
export type IndexedType = 'vector' | 'halfvec';
