/**
 * When a large collection gets its HNSW index, and how. One that is being filled waits for it: an item that comes into an
 * index takes 3 ms, one of many that an index is built over 0.5 (100,000 items of 384 values). Until the index is valid
 * the collection is compared in full. It is built without holding up anybody, and one after the other: of two that are
 * built or dropped at once on one table, PostgreSQL ends one as a deadlock.
 *
 * vector_collections.indexed: none → building → ready; back to none when it fails.
 */
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import { createTurns } from '../../storage/transaction.ts';
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
  /** What a process that died has left half built, waiting or to be dropped. */
  open(): Promise<void>;
  /** Once the collection's index is there, or it needs none. Never rejects. */
  grown(collectionNumber: number): Promise<void>;
  /** Of a collection that is gone. Drops its index when no other one is being built; does not wait for that. */
  forget(collectionNumber: number): Promise<void>;
  close(): Promise<void>;
}

export const stateOf = { none: 0, building: 1, ready: 2 } as const;

/** A collection that has not changed for so long is not being filled any more. */
const quietMs = 10_000;
/** One that is never quiet gets its index after ten minutes, or when it is ten times as large as large ones are. */
const maxWaits = 60;
const maxTimesLarge = 10;
/** What failed once may have met the index of another process. */
const maxTries = 3;

const indexPrefix = 'vector_hnsw_';
const indexOf = (collectionNumber: number) => `${indexPrefix}${collectionNumber}`;

export function createIndexBuilder(parts: IndexBuilderParts): IndexBuilder {
  const { database, log, timers, schema, largeFrom, typeOf } = parts;
  const underWay = new Map<number, Promise<void>>();
  const dropping = new Set<Promise<void>>();
  const inTurn = createTurns();
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

  /** Those of this process wait in line; of others the server tells whether they are at it. */
  async function waitForOthers(): Promise<void> {
    for (;;) {
      closing.signal.throwIfAborted();
      const busy = await database.query(
        `select 1 from pg_stat_progress_create_index
         where datname = current_database() and relid = 'vector_points'::regclass`,
      );
      if (busy.length === 0) return;
      await timers.pause(quietMs, closing.signal);
    }
  }

  async function build(collectionNumber: number): Promise<void> {
    await waitUntilQuiet(collectionNumber);
    await inTurn(async () => {
      for (let tries = 1; ; tries++) {
        await waitForOthers();
        try {
          await claimAndCreate(collectionNumber);
          return;
        } catch (error) {
          await letGo(collectionNumber);
          if (tries === maxTries) throw error;
          await timers.pause(quietMs, closing.signal);
        }
      }
    });
  }

  async function claimAndCreate(collectionNumber: number): Promise<void> {
    const [row] = await database.query<{ dimensions: number }>(
      `update vector_collections set indexed = $2 where number = $1 and indexed = $3 and item_count >= $4
       returning dimensions`,
      [collectionNumber, stateOf.building, stateOf.none, largeFrom],
    );
    const type = row === undefined ? undefined : typeOf(row.dimensions);
    if (row === undefined || type === undefined) return;
    // What a process that died has left is of no use.
    await drop(collectionNumber);
    await database.script(
      `create index concurrently ${indexOf(collectionNumber)} on vector_points
       using hnsw ((point::${schema}.${type}(${row.dimensions})) ${schema}.${type}_ip_ops)
       where collection_no = ${collectionNumber}`,
    );
    const [there] = await database.query(
      'update vector_collections set indexed = $2 where number = $1 returning number',
      [collectionNumber, stateOf.ready],
    );
    // Deleted meanwhile, perhaps by another process, which found no index yet.
    if (there === undefined) await drop(collectionNumber);
  }

  /** The plain way would hold up every search until those that are under way have ended. */
  async function drop(collectionNumber: number): Promise<void> {
    await database.script(`drop index concurrently if exists ${indexOf(collectionNumber)}`);
  }

  async function letGo(collectionNumber: number): Promise<void> {
    await database.query('update vector_collections set indexed = $2 where number = $1 and indexed = $3', [
      collectionNumber,
      stateOf.none,
      stateOf.building,
    ]);
    // Half an index would be kept up to date, for nothing.
    await drop(collectionNumber);
  }

  /** Never rejects. What fails because we are closing is no news. */
  function toldOf(work: Promise<void>, failure: string): Promise<void> {
    return work.catch((error) => {
      if (!closing.signal.aborted) log.warn({ err: error }, failure);
    });
  }

  function watch(collectionNumber: number, work: Promise<void>): Promise<void> {
    const failure = 'the index of a large collection could not be built: it is compared in full';
    const watched = toldOf(work, failure).finally(() => underWay.delete(collectionNumber));
    underWay.set(collectionNumber, watched);
    return watched;
  }

  function dropInTurn(collectionNumber: number): void {
    const work = inTurn(async () => {
      await waitForOthers();
      await drop(collectionNumber);
    });
    const failure = 'an index that nobody needs could not be dropped: the next start tries it';
    const dropped = toldOf(work, failure).finally(() => dropping.delete(dropped));
    dropping.add(dropped);
  }

  const grown = (collectionNumber: number) =>
    underWay.get(collectionNumber) ?? watch(collectionNumber, build(collectionNumber));

  return {
    async open() {
      await database.query(
        `update vector_collections c set indexed = $2 where indexed = $1 and not exists (
           select 1 from pg_stat_progress_create_index p join pg_class i on i.oid = p.index_relid
           where i.relname = '${indexPrefix}' || c.number)`,
        [stateOf.building, stateOf.none],
      );
      const waiting = await database.query<{ number: number }>(
        'select number from vector_collections where indexed = $1 and item_count >= $2',
        [stateOf.none, largeFrom],
      );
      const left = await database.query<{ number: number }>(
        `select o.number from (
           select cast(substr(i.relname, ${indexPrefix.length + 1}) as bigint) as number from pg_class i
           where i.relnamespace = current_schema()::regnamespace and i.relname ~ '^${indexPrefix}[0-9]+$') o
         where not exists (select 1 from vector_collections c where c.number = o.number)`,
      );
      if (closing.signal.aborted) return;
      for (const { number } of left) dropInTurn(number);
      for (const { number } of waiting) void grown(number);
    },

    grown,

    async forget(collectionNumber) {
      const [found] = await database.query<{ name: string | null }>(
        `select to_regclass(quote_ident(current_schema()) || '.${indexOf(collectionNumber)}')::text as name`,
      );
      if (typeof found?.name === 'string') dropInTurn(collectionNumber);
    },

    async close() {
      closing.abort();
      await Promise.all([...underWay.values(), ...dropping]);
    },
  };
}
