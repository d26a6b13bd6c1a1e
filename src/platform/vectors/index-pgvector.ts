/**
 * Vectors by pgvector: `vector_points` has them a second time, as its own type. A small collection is compared in full;
 * one of 10,000 items or more gets an HNSW index over its rows alone (`index-pgvector-build.ts`), so that neither the size of
 * other collections nor a filter on the collection costs it anything found. A search in a few files compares their items
 * in full too; in many, the index is walked until enough belong to them (`hnsw.iterative_scan`, pgvector 0.8).
 */
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import type { Timers } from '../jobs/timers.ts';
import { isPart, toFileCondition } from './filter.ts';
import { createIndexBuilder, stateOf } from './index-pgvector-build.ts';
import type { Extension, IndexedType, VectorWay } from './index-way.ts';
import type { IndexedItem, IndexQuery } from './parts.ts';
import { insertRows, parametersOf, toBytes, toCollectionNumber } from './store-rows.ts';

export interface PgvectorParts {
  readonly database: Database;
  readonly log: Log;
  readonly largeFrom: number;
  readonly extension: Extension;
  readonly timers: Pick<Timers, 'pause'>;
}

/** How many rows are brought in at once where the extension came later than they. */
const rowsPerStep = 500;
/** pgvector's own limits for an index: of `vector`, and of `halfvec`, whose order is then looked at again in full. */
const maxVectorDimensions = 2_000;
const maxHalfDimensions = 4_000;
/** At the top of each layer's search so many are kept: recall 0.99 at 10 of 100,000. */
const minSearchWidth = 200;
const maxSearchWidth = 1_000;

interface Near {
  number: number;
  similarity: number;
}

export function createPgvectorWay({ database, log, largeFrom, extension, timers }: PgvectorParts): VectorWay {
  const { schema } = extension;
  const hasIterativeScan = isAtLeast(extension.version, 0, 8);
  const builder = createIndexBuilder({ database, log, timers, schema, largeFrom, typeOf: indexedType });
  /** Collections whose index is known to be there: it stays as long as they do. */
  const ready = new Set<number>();
  let filling = Promise.resolve();
  let isClosed = false;

  /** What the index orders by, where there can be one. */
  function indexedType(dimensions: number): IndexedType | undefined {
    if (dimensions <= maxVectorDimensions) return 'vector';
    return dimensions <= maxHalfDimensions && isAtLeast(extension.version, 0, 7) ? 'halfvec' : undefined;
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
      const lists = rows.map((_, place) => {
        const [number, collection, file, point] = [1, 2, 3, 4].map((offset) => `$${place * 4 + offset}`);
        return `(${number}::bigint, ${collection}::bigint, ${file}::bigint, ${point}::${schema}.vector)`;
      });
      await database.query(
        `insert into vector_points (number, collection_no, file_no, point)
         select v.number, v.collection_no, v.file_no, v.point
         from (values ${lists.join(', ')}) as v (number, collection_no, file_no, point)
         where exists (select 1 from vector_embeddings e where e.number = v.number) on conflict (number) do nothing`,
        rows.flatMap(({ number, file_no, embedding }) => [
          number,
          toCollectionNumber(number),
          file_no,
          toPoint(embedding),
        ]),
      );
    }
  }

  /** By the index. Some may belong to files that are being swept up: twice as many are asked for. */
  function nearestByIndex(query: IndexQuery, type: IndexedType): Promise<Near[]> {
    const { vector, limit, collectionNumber } = query;
    const isFiltered = isPart(query);
    const files = toFileCondition('postgres', query, 4);
    const width = Math.min(Math.max(minSearchWidth, limit * 2), maxSearchWidth);
    const among = isFiltered
      ? `and p.file_no in (select f.number from vector_files f where ${files.text})`
      : '';
    return database.transaction(
      (tx) =>
        tx.query<Near>(
          `with near as materialized (
             select p.number, p.file_no, p.point from vector_points p
             where p.collection_no = ${collectionNumber} ${among}
             order by p.point::${schema}.${type}(${vector.length}) operator(${schema}.<#>)
               $1::${schema}.vector::${schema}.${type} limit $2)
           select n.number, -(n.point operator(${schema}.<#>) $1::${schema}.vector) as similarity from near n
           where n.file_no in (select f.number from vector_files f where ${files.text})
           order by similarity desc, n.number limit $3`,
          [toPoint(toBytes(vector)), isFiltered ? limit : limit * 2, limit, ...files.values],
        ),
      {
        settings: {
          'hnsw.ef_search': width,
          // The index gives the order: a sort of everything must not look cheaper.
          enable_sort: 'off',
          // What is sorted after all then counts as dear enough to be compiled, which takes longer than all the rest.
          jit: 'off',
          ...(hasIterativeScan && isFiltered ? { 'hnsw.iterative_scan': 'relaxed_order' } : {}),
        },
      },
    );
  }

  function nearestInFull(query: IndexQuery): Promise<Near[]> {
    const files = toFileCondition('postgres', query, 3);
    return database.query<Near>(
      `select p.number, -(p.point operator(${schema}.<#>) $1::${schema}.vector) as similarity
       from vector_points p where p.collection_no = ${query.collectionNumber}
         and p.file_no in (select f.number from vector_files f where ${files.text})
       order by similarity desc, p.number limit $2`,
      [toPoint(toBytes(query.vector)), query.limit, ...files.values],
    );
  }

  async function countOf(query: IndexQuery): Promise<{ items: number; indexed: number }> {
    const files = toFileCondition('postgres', query, 1);
    const [row] = await database.query<{ items: number; indexed: number }>(
      `select c.indexed, ${
        isPart(query)
          ? `(select coalesce(sum(f.item_count), 0) from vector_files f where ${files.text})`
          : 'c.item_count'
      } as items from vector_collections c where c.number = $1`,
      isPart(query) ? files.values : [query.collectionNumber],
    );
    return row ?? { items: 0, indexed: stateOf.none };
  }

  async function isForIndex(query: IndexQuery): Promise<boolean> {
    if (!isPart(query) && ready.has(query.collectionNumber)) return true;
    const { items, indexed } = await countOf(query);
    if (indexed === stateOf.ready) ready.add(query.collectionNumber);
    return indexed === stateOf.ready && items >= largeFrom;
  }

  return {
    async open() {
      // Asked first: `if not exists` waits for an index that another process builds, and everybody who writes for it.
      const [found] = await database.query<{ name: string | null }>(
        `select to_regclass(quote_ident(current_schema()) || '.vector_points_by_file')::text as name`,
      );
      if (typeof found?.name !== 'string')
        await database.script(
          `create table if not exists vector_points (number bigint primary key, collection_no bigint not null,
             file_no bigint not null, point ${schema}.vector not null);
           create index if not exists vector_points_by_collection on vector_points (collection_no);
           create index if not exists vector_points_by_file on vector_points (file_no);`,
        );
      // An index is built over all of them at once.
      filling = fill()
        .then(builder.open)
        .catch((error) => {
          if (!isClosed) log.warn({ err: error }, 'older vectors could not be brought to pgvector');
        });
    },

    async add(tx, items: readonly IndexedItem[]) {
      await insertRows(tx, 'postgres', {
        into: 'vector_points (number, collection_no, file_no, point)',
        values: `?, ?, ?, ?::${schema}.vector`,
        rows: items.map(({ number, collectionNumber, fileNumber, vector }) => [
          number,
          collectionNumber,
          fileNumber,
          toPoint(toBytes(vector)),
        ]),
      });
    },

    async remove(tx, numbers) {
      await tx.query(`delete from vector_points where number in (${parametersOf(numbers)})`, numbers);
    },

    async nearest(query) {
      const type = indexedType(query.vector.length);
      if (type !== undefined && (await isForIndex(query))) {
        const found = await nearestByIndex(query, type);
        // Fewer, though there are more: all that the index gave had been removed, or is of other files.
        if (found.length === query.limit || found.length >= (await countOf(query)).items) return found;
      }
      return nearestInFull(query);
    },

    async grown(collectionNumber) {
      await filling;
      await builder.grown(collectionNumber);
    },

    async forget(collectionNumber) {
      ready.delete(collectionNumber);
      await builder.forget(collectionNumber);
    },

    async close() {
      isClosed = true;
      await builder.close();
      await filling;
    },
  };
}

/**
 * pgvector's own binary form: how many values, two bytes of nothing, and the values, all big-endian. As text a vector is
 * five times as long, and takes ten times as long to write and to read.
 */
function toPoint(littleEndian: Uint8Array): Uint8Array {
  const point = Buffer.alloc(4 + littleEndian.byteLength);
  point.writeInt16BE(littleEndian.byteLength / 4, 0);
  point.set(littleEndian, 4);
  point.subarray(4).swap32();
  return point;
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split('.').map(Number);
  return first > major || (first === major && second >= minor);
}
