/**
 * Vectors by pgvector: `vector_points` has them a second time, as its own type. A small collection is compared in full;
 * one of 10,000 items or more gets an HNSW index over its rows alone, so that neither the size of other collections nor a
 * filter on the collection costs it anything found. The index is built without holding up anybody, and until it is valid
 * the collection is compared in full. A search in a few files compares their items in full too; in many, the
 * index is walked until enough belong to them (`hnsw.iterative_scan`, pgvector 0.8).
 */
import type { Log } from '../../lib/log.ts';
import type { Database, Sql } from '../../storage/database.ts';
import { toFileCondition } from './filter.ts';
import type { Extension, VectorWay } from './index-way.ts';
import type { IndexedItem, IndexQuery } from './parts.ts';
import { insertRows, parametersOf, toCollectionNumber } from './store-rows.ts';

export interface PgvectorParts {
  readonly database: Database;
  readonly log: Log;
  readonly largeFrom: number;
  readonly extension: Extension;
}

const stateOf = { none: 0, building: 1, ready: 2 } as const;

/** How many rows are brought in at once where the extension came later than they. */
const rowsPerStep = 500;
/** pgvector's own limits for an index: of `vector`, and of `halfvec`, whose order is then looked at again in full. */
const maxVectorDimensions = 2_000;
const maxHalfDimensions = 4_000;
/** At the top of each layer's search so many are kept: recall 0.99 at 10 of 100,000. */
const minSearchWidth = 200;
const maxSearchWidth = 1_000;

const indexOf = (collectionNumber: number) => `vector_hnsw_${collectionNumber}`;

interface Near {
  number: number;
  similarity: number;
}

export function createPgvectorWay({ database, log, largeFrom, extension }: PgvectorParts): VectorWay {
  const { schema } = extension;
  const hasIterativeScan = isAtLeast(extension.version, 0, 8);
  const building = new Map<number, Promise<void>>();
  let filling: Promise<void> | undefined;
  let isClosed = false;

  /** What the index orders by, where there can be one. */
  function indexedType(dimensions: number): 'vector' | 'halfvec' | undefined {
    if (dimensions <= maxVectorDimensions) return 'vector';
    return dimensions <= maxHalfDimensions && isAtLeast(extension.version, 0, 7) ? 'halfvec' : undefined;
  }

  async function insertPoints(sql: Sql, rows: readonly (readonly (number | string)[])[]): Promise<void> {
    await insertRows(sql, 'postgres', {
      into: 'vector_points (number, collection_no, file_no, point)',
      values: `?, ?, ?, ?::text::${schema}.vector`,
      rows,
    });
  }

  /** Items from before the extension, and of processes that did not know of it yet. */
  async function fill(): Promise<void> {
    let after = -1;
    while (!isClosed) {
      const rows = await database.query<{ number: number; file_no: number; embedding: Uint8Array }>(
        `select e.number, e.file_no, e.embedding from vector_embeddings e where e.number > $1 and not exists (
           select 1 from vector_points p where p.number = e.number) order by e.number limit $2`,
        [after, rowsPerStep],
      );
      const last = rows.at(-1)?.number;
      if (last === undefined) return;
      after = last;
      await database.transaction(async (tx) => {
        for (const { number, file_no, embedding } of rows) {
          await tx.query(
            `insert into vector_points (number, collection_no, file_no, point)
             select $1, $2, $3, $4::text::${schema}.vector where exists (
               select 1 from vector_embeddings where number = $1) on conflict (number) do nothing`,
            [number, toCollectionNumber(number), file_no, toText(toFloats(embedding))],
          );
        }
      });
    }
  }

  async function build(collectionNumber: number): Promise<void> {
    const [row] = await database.query<{ dimensions: number }>(
      `update vector_collections set indexed = $2 where number = $1 and indexed = $3 and item_count >= $4
       returning dimensions`,
      [collectionNumber, stateOf.building, stateOf.none, largeFrom],
    );
    if (row !== undefined) await createIndex(collectionNumber, row.dimensions);
  }

  async function createIndex(collectionNumber: number, dimensions: number): Promise<void> {
    const type = indexedType(dimensions);
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

  /** Those whose process died while it built: nothing builds them now. */
  async function rebuildLeft(): Promise<void> {
    const left = await database.query<{ number: number; dimensions: number }>(
      `select number, dimensions from vector_collections c where indexed = $1 and not exists (
         select 1 from pg_stat_progress_create_index p join pg_class i on i.oid = p.index_relid
         where i.relname = '${indexOf(0).slice(0, -1)}' || c.number)`,
      [stateOf.building],
    );
    for (const { number, dimensions } of left) watch(number, createIndex(number, dimensions));
  }

  function watch(collectionNumber: number, work: Promise<void>): Promise<void> {
    const watched = work
      .catch(async (error) => {
        if (isClosed) return;
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
      .finally(() => building.delete(collectionNumber));
    building.set(collectionNumber, watched);
    return watched;
  }

  /** By the index. Some may belong to files that are being swept up: twice as many are asked for. */
  function nearestByIndex(query: IndexQuery, type: 'vector' | 'halfvec'): Promise<Near[]> {
    const { vector, limit, collectionNumber } = query;
    const isFiltered = query.fileIds !== undefined || query.filter !== undefined;
    const files = toFileCondition('postgres', query, 4);
    const width = Math.min(Math.max(minSearchWidth, limit * 2), maxSearchWidth);
    const cast = `${schema}.${type}(${vector.length})`;
    return database.transaction(async (tx) => {
      const settings = [
        `set_config('hnsw.ef_search', '${width}', true)`,
        // The index gives the order: a sort of everything must not look cheaper.
        `set_config('enable_sort', 'off', true)`,
        ...(hasIterativeScan && isFiltered
          ? [`set_config('hnsw.iterative_scan', 'relaxed_order', true)`]
          : []),
      ];
      await tx.query(`select ${settings.join(', ')}`);
      const among = isFiltered
        ? `and p.file_no in (select f.number from vector_files f where ${files.text})`
        : '';
      return tx.query<Near>(
        `with near as materialized (
           select p.number, p.file_no, p.point from vector_points p
           where p.collection_no = ${collectionNumber} ${among}
           order by p.point::${cast} operator(${schema}.<#>) $1::text::${cast} limit $2)
         select n.number, -(n.point operator(${schema}.<#>) $1::text::${schema}.vector) as similarity from near n
         where n.file_no in (select f.number from vector_files f where ${files.text})
         order by similarity desc, n.number limit $3`,
        [toText(vector), isFiltered ? limit : limit * 2, limit, ...files.values],
      );
    });
  }

  function nearestInFull(query: IndexQuery): Promise<Near[]> {
    const files = toFileCondition('postgres', query, 3);
    return database.query<Near>(
      `select p.number, -(p.point operator(${schema}.<#>) $1::text::${schema}.vector) as similarity
       from vector_points p where p.collection_no = ${query.collectionNumber}
         and p.file_no in (select f.number from vector_files f where ${files.text})
       order by similarity desc, p.number limit $2`,
      [toText(query.vector), query.limit, ...files.values],
    );
  }

  async function countOf(query: IndexQuery): Promise<{ items: number; indexed: number }> {
    const files = toFileCondition('postgres', query, 1);
    const [row] = await database.query<{ items: number; indexed: number }>(
      `select c.indexed, ${
        query.fileIds === undefined && query.filter === undefined
          ? 'c.item_count'
          : `(select coalesce(sum(f.item_count), 0) from vector_files f where ${files.text})`
      } as items from vector_collections c where c.number = $1`,
      query.fileIds === undefined && query.filter === undefined ? [query.collectionNumber] : files.values,
    );
    return row ?? { items: 0, indexed: stateOf.none };
  }

  return {
    async open() {
      await database.script(
        `create table if not exists vector_points (number bigint primary key, collection_no bigint not null,
           file_no bigint not null, point ${schema}.vector not null);
         create index if not exists vector_points_by_collection on vector_points (collection_no);
         create index if not exists vector_points_by_file on vector_points (file_no);`,
      );
      await rebuildLeft();
      filling = fill().catch((error) => {
        if (!isClosed) log.warn({ err: error }, 'older vectors could not be brought to pgvector');
      });
    },

    async add(tx, items: readonly IndexedItem[]) {
      await insertPoints(
        tx,
        items.map(({ number, collectionNumber, fileNumber, vector }) => [
          number,
          collectionNumber,
          fileNumber,
          toText(vector),
        ]),
      );
    },

    async remove(tx, numbers) {
      await tx.query(`delete from vector_points where number in (${parametersOf(numbers)})`, numbers);
    },

    async nearest(query) {
      const { items, indexed } = await countOf(query);
      const type = indexedType(query.vector.length);
      if (indexed !== stateOf.ready || type === undefined || items < largeFrom) return nearestInFull(query);
      return nearestByIndex(query, type);
    },

    grown: (collectionNumber) =>
      building.get(collectionNumber) ?? watch(collectionNumber, build(collectionNumber)),

    async forget(collectionNumber) {
      await building.get(collectionNumber);
      await database.script(`drop index if exists ${indexOf(collectionNumber)}`);
    },

    async close() {
      isClosed = true;
      await filling;
      await Promise.all(building.values());
    },
  };
}

/** As pgvector writes it. */
function toText(vector: Float32Array): string {
  return `[${vector.join()}]`;
}

function toFloats(bytes: Uint8Array): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map(Number);
  return first > major || (first === major && second >= minor);
}
