/**
 * When a large collection gets its HNSW index, and how. One that is being filled waits for it: an item that comes into an
 * index takes 3 ms, one of many that an index is built over 0.5 (100,000 items of 384 values). Until the index is valid
 * the collection is compared in full. It is built without holding up anybody.
 *
 * vector_collections.indexed: none → building → ready; back to none when it fails.
 */
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import type { Timers } from '../jobs/timers.ts';
import type { IndexedType } from './index-way.ts';

export interface IndexBuilderParts {
  readonly database: Database;
  readonly log: Log;
  readonly timers: Pick<Timers, 'pause'>;
  /** Of the extension. */
  readonly schema: string;
  readonly largeFrom: number;
  /** What can be indexed of vectors of so many values, if anything. */
  readonly typeOf: (dimensions: number) => IndexedType | undefined;
}

export interface IndexBuilder {
  /** What a process that died has left half built or waiting. */
  open(): Promise<void>;
  /** Once the collection's index is there, or it needs none. Never rejects. */
  grown(collectionNumber: number): Promise<void>;
  forget(collectionNumber: number): Promise<void>;
  close(): Promise<void>;
}

export const stateOf = { none: 0, building: 1, ready: 2 } as const;

/** A collection that has not changed for so long is not being filled any more. */
const quietMs = 10_000;
/** One that is never quiet gets its index after ten minutes, or when it is ten times as large as large ones are. */
const maxWaits = 60;
const maxTimesLarge = 10;

const indexOf = (collectionNumber: number) => `vector_hnsw_${collectionNumber}`;

export function createIndexBuilder(parts: IndexBuilderParts): IndexBuilder {
  const { database, log, timers, schema, largeFrom, typeOf } = parts;
  const underWay = new Map<number, Promise<void>>();
  const closing = new AbortController();

  async function waitUntilQuiet(collectionNumber: number): Promise<void> {
    let lastVersion: number | undefined;
    for (let waits = 0; waits < maxWaits; waits++) {
      const [row] = await database.query<{ item_count: number; version: number }>(
        'select item_count, version from vector_collections where number = $1 and indexed = $2',
        [collectionNumber, stateOf.none],
      );
      if (row === undefined || row.item_count < largeFrom || row.version === lastVersion) return;
      if (row.item_count >= largeFrom * maxTimesLarge) return;
      lastVersion = row.version;
      await timers.pause(quietMs, closing.signal);
    }
  }

  async function build(collectionNumber: number): Promise<void> {
    await waitUntilQuiet(collectionNumber);
    const [row] = await database.query<{ dimensions: number }>(
      `update vector_collections set indexed = $2 where number = $1 and indexed = $3 and item_count >= $4
       returning dimensions`,
      [collectionNumber, stateOf.building, stateOf.none, largeFrom],
    );
    if (row !== undefined) await createIndex(collectionNumber, row.dimensions);
  }

  async function createIndex(collectionNumber: number, dimensions: number): Promise<void> {
    const type = typeOf(dimensions);
    if (type === undefined) return;
    const name = indexOf(collectionNumber);
    // What a process that died has left is of no use.
    await database.script(`drop index if exists ${name}`);
    await database.script(
      `create index concurrently ${name} on vector_points
       using hnsw ((point::${schema}.${type}(${dimensions})) ${schema}.${type}_ip_ops)
       where collection_no = ${collectionNumber}`,
    );
    await database.query('update vector_collections set indexed = $2 where number = $1', [
      collectionNumber,
      stateOf.ready,
    ]);
  }

  function watch(collectionNumber: number, work: Promise<void>): Promise<void> {
    const watched = work
      .catch(async (error) => {
        if (closing.signal.aborted) return;
        log.warn(
          { err: error },
          'the index of a large collection could not be built: it is compared in full',
        );
        await database.query(
          'update vector_collections set indexed = $2 where number = $1 and indexed = $3',
          [collectionNumber, stateOf.none, stateOf.building],
        );
      })
      .catch(() => {})
      .finally(() => underWay.delete(collectionNumber));
    underWay.set(collectionNumber, watched);
    return watched;
  }

  const grown = (collectionNumber: number) =>
    underWay.get(collectionNumber) ?? watch(collectionNumber, build(collectionNumber));

  return {
    async open() {
      const half = await database.query<{ number: number; dimensions: number }>(
        `select number, dimensions from vector_collections c where indexed = $1 and not exists (
           select 1 from pg_stat_progress_create_index p join pg_class i on i.oid = p.index_relid
           where i.relname = '${indexOf(0).slice(0, -1)}' || c.number)`,
        [stateOf.building],
      );
      const waiting = await database.query<{ number: number }>(
        'select number from vector_collections where indexed = $1 and item_count >= $2',
        [stateOf.none, largeFrom],
      );
      if (closing.signal.aborted) return;
      for (const { number, dimensions } of half) watch(number, createIndex(number, dimensions));
      for (const { number } of waiting) void grown(number);
    },

    grown,

    async forget(collectionNumber) {
      await underWay.get(collectionNumber);
      await database.script(`drop index if exists ${indexOf(collectionNumber)}`);
    },

    async close() {
      closing.abort();
      await Promise.all(underWay.values());
    },
  };
}
