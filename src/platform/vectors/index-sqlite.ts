/**
 * The index on SQLite: exact, in a thread that only reads. A small collection is read row by row with sqlite-vec's
 * distance function; a large one has its vectors a second time in a vec0 table, where 1,024 of them lie together:
 * 100,000 of 384 values take half the time there. Words are found by FTS5 and ranked by bm25.
 *
 * All vectors have length 1, so the order by Euclidean distance is that by cosine, and sqlite-vec is faster at it:
 * similarity = 1 − distance² / 2.
 */
import assert from 'node:assert';
import type { Log } from '../../lib/log.ts';
import type { Database, Sql } from '../../storage/database.ts';
import { createSqliteReader, type SqliteReader } from '../../storage/sqlite-reader.ts';
import { isPart, toFileCondition } from './filter.ts';
import { toCandidates } from './fuse.ts';
import { pickTerms, toTerms } from './index-words.ts';
import type { IndexedItem, IndexQuery, ItemIndex } from './parts.ts';
import { insertRows, rangeOf, toBytes } from './store-rows.ts';

export interface SqliteIndexParts {
  readonly database: Database;
  readonly log: Log;
  /** From how many items on a collection gets a table of its own kind. */
  readonly largeFrom?: number;
  readonly reader?: SqliteReader;
  /** Words are looked up while vectors are compared: in a thread of their own they cost no time. */
  readonly wordsReader?: SqliteReader;
}

/** Row by row these take 2 ms. */
const defaultLargeFrom = 2_000;
/** About 5 ms of the one writer's time. */
const rowsPerStep = 200;
/** vec0 gives no more at once. */
const maxNearest = 4_096;
/** bm25 ranks a thousand items in a millisecond. */
const maxMatches = 5_000;

const stateOf = { none: 0, building: 1, ready: 2 } as const;

const tableOf = (dimensions: number) => `vector_points_${dimensions}`;

interface Near {
  number: number;
  distance: number;
  is_there: number;
}

export function createSqliteIndex({
  database,
  log,
  largeFrom = defaultLargeFrom,
  reader = openReader(database),
  wordsReader = openReader(database),
}: SqliteIndexParts): ItemIndex {
  const tables = new Set<number>();
  const building = new Map<number, Promise<void>>();
  let isClosed = false;

  async function insertPoints(tx: Sql, dimensions: number, items: readonly IndexedItem[]): Promise<void> {
    await insertRows(tx, 'sqlite', {
      into: `${tableOf(dimensions)} (rowid, collection, point)`,
      values: '?, ?, ?',
      rows: items.map(({ number, collectionNumber, vector }) => [number, collectionNumber, toBytes(vector)]),
    });
  }

  async function isLarge(tx: Sql, collectionNumber: number): Promise<boolean> {
    const [row] = await tx.query<{ indexed: number }>(
      'select indexed from vector_collections where number = $1',
      [collectionNumber],
    );
    return row !== undefined && row.indexed !== stateOf.none;
  }

  async function add(tx: Sql, items: readonly IndexedItem[]): Promise<void> {
    const [first] = items;
    if (first === undefined) return;
    await insertRows(tx, 'sqlite', {
      into: 'vector_embeddings (number, file_no, version, embedding)',
      values: '?, ?, (select version from vector_collections where number = ?), ?',
      rows: items.map(({ number, fileNumber, collectionNumber, vector }) => [
        number,
        fileNumber,
        collectionNumber,
        toBytes(vector),
      ]),
    });
    await insertRows(tx, 'sqlite', {
      into: 'vector_words (rowid, description, text)',
      values: '?, ?, ?',
      rows: items.map(({ number, description, text }) => [number, description, text]),
    });
    if (await isLarge(tx, first.collectionNumber)) await insertPoints(tx, first.vector.length, items);
  }

  async function remove(tx: Sql, numbers: readonly number[]): Promise<void> {
    const lists = numbers.map((number) => [number]);
    await tx.each('delete from vector_words where rowid = $1', lists);
    await tx.each('delete from vector_embeddings where number = $1', lists);
    for (const dimensions of tables) {
      await tx.each(`delete from ${tableOf(dimensions)} where rowid = $1`, lists);
    }
  }

  /** From the first statement on new items go to both tables; then the old ones follow, a few at a time. */
  async function build(collectionNumber: number): Promise<void> {
    const [row] = await database.query<{ dimensions: number; indexed: number; item_count: number }>(
      'select dimensions, indexed, item_count from vector_collections where number = $1',
      [collectionNumber],
    );
    if (row === undefined || row.indexed === stateOf.ready || row.item_count < largeFrom) return;
    const { dimensions } = row;
    await database.transaction(async (tx) => {
      await createTable(tx, dimensions);
      await tx.query('update vector_collections set indexed = $2 where number = $1', [
        collectionNumber,
        stateOf.building,
      ]);
    });
    tables.add(dimensions);
    const [first, last] = rangeOf(collectionNumber);
    let next: number | undefined = first;
    while (next !== undefined && !isClosed) {
      const from: number = next;
      next = await database.transaction((tx) => copy(tx, collectionNumber, dimensions, from, last));
    }
  }

  /** Answers where to go on; at the end, in the same transaction, the collection is told to be ready. */
  async function copy(
    tx: Sql,
    collectionNumber: number,
    dimensions: number,
    from: number,
    last: number,
  ): Promise<number | undefined> {
    const rows = await tx.query<{ number: number }>(
      'select number from vector_embeddings where number between $1 and $2 order by number limit $3',
      [from, last, rowsPerStep],
    );
    const end = rows.at(-1)?.number;
    if (end !== undefined) {
      const table = tableOf(dimensions);
      await tx.query(
        `insert into ${table} (rowid, collection, point) select e.number, $1, e.embedding from vector_embeddings e
         where e.number between $2 and $3 and not exists (select 1 from ${table} p where p.rowid = e.number)`,
        [collectionNumber, from, end],
      );
    }
    if (end !== undefined && rows.length === rowsPerStep) return end + 1;
    await tx.query('update vector_collections set indexed = $2 where number = $1', [
      collectionNumber,
      stateOf.ready,
    ]);
    return undefined;
  }

  function grown(collectionNumber: number): Promise<void> {
    const running = building.get(collectionNumber);
    if (running !== undefined) return running;
    const started = build(collectionNumber)
      .catch((error) => log.warn({ err: error }, 'the index of a large collection could not be built'))
      .finally(() => building.delete(collectionNumber));
    building.set(collectionNumber, started);
    return started;
  }

  async function nearest(query: IndexQuery): Promise<Near[]> {
    const { collectionNumber, vector, limit } = query;
    if (isPart(query)) return nearestOfFiles(query);
    const [row] = await reader.query<{ indexed: number; dimensions: number }>(
      'select indexed, dimensions from vector_collections where number = $1',
      [collectionNumber],
    );
    if (row?.indexed !== stateOf.ready || row.dimensions !== vector.length) return nearestOfAll(query);
    // Some of what is found may belong to files that are being swept up: then more are asked for.
    for (let count = Math.min(limit, maxNearest); ; count = Math.min(count * 4, maxNearest)) {
      const rows = await reader.query<Near>(
        `with near as materialized (select rowid as number, distance from ${tableOf(vector.length)}
           where point match $1 and k = $2 and collection = $3)
         select n.number, n.distance, f.number is not null as is_there from near n
           left join vector_embeddings e on e.number = n.number
           left join vector_files f on f.number = e.file_no and f.status <> 'failed'
         order by n.distance, n.number`,
        [toBytes(vector), count, collectionNumber],
      );
      const there = rows.filter(({ is_there }) => is_there === 1);
      if (there.length >= limit || rows.length < count || count === maxNearest) return there.slice(0, limit);
    }
  }

  /** In the order of their places in the file. */
  function nearestOfAll({ collectionNumber, vector, limit }: IndexQuery): Promise<Near[]> {
    return reader.query(
      `select e.number, vec_distance_l2(e.embedding, $1) as distance, 1 as is_there from vector_embeddings e
       where e.number between $2 and $3 and e.file_no in (
         select f.number from vector_files f where f.collection_no = $4 and f.status <> 'failed')
       order by distance, e.number limit $5`,
      [toBytes(vector), ...rangeOf(collectionNumber), collectionNumber, limit],
    );
  }

  /** File by file. */
  function nearestOfFiles(query: IndexQuery): Promise<Near[]> {
    const { text, values } = toFileCondition('sqlite', query, 3);
    return reader.query(
      `select e.number, vec_distance_l2(e.embedding, $1) as distance, 1 as is_there
       from vector_files f cross join vector_embeddings e on e.file_no = f.number where ${text}
       order by distance, e.number limit $2`,
      [toBytes(query.vector), query.limit, ...values],
    );
  }

  async function said(query: IndexQuery): Promise<number[]> {
    const terms = toTerms(query.text).map((term) => `"${term}"`);
    if (terms.length === 0) return [];
    const [first, last] = rangeOf(query.collectionNumber);
    // Counting stops where a term is too common to matter.
    const counts = terms.map(
      (_, place) => `select ${place} as place, count(*) as count from (select 1 from vector_words
         where vector_words match $${place + 4} and rowid between $1 and $2 limit $3)`,
    );
    const counted = await wordsReader.query<{ place: number; count: number }>(counts.join(' union all '), [
      first,
      last,
      maxMatches,
      ...terms,
    ]);
    const picked = pickTerms(
      counted.map(({ place, count }) => ({ term: terms[place] as string, count })),
      maxMatches,
    );
    if (picked.length === 0) return [];
    const words = picked.join(' OR ');
    const { text, values } = toFileCondition('sqlite', query, 5);
    const isFiltered = isPart(query);
    // To look up the file of every match takes twice as long as to rank it. Where all files will do, only the first few
    // are looked at: some may belong to a file that is being swept up.
    const rows = await wordsReader.query<{ number: number }>(
      isFiltered
        ? `select w.rowid as number from vector_words w where vector_words match $1 and w.rowid between $2 and $3
             and (select i.file_no from vector_items i where i.number = w.rowid) in (
               select f.number from vector_files f where ${text})
           order by bm25(vector_words), w.rowid limit $4`
        : `with said as materialized (
             select rowid as number, bm25(vector_words) as rank from vector_words
             where vector_words match $1 and rowid between $2 and $3 order by rank, number limit $4 * 2)
           select s.number from said s join vector_items i on i.number = s.number
             join vector_files f on f.number = i.file_no where ${text} order by s.rank, s.number limit $4`,
      [words, first, last, query.limit, ...values],
    );
    return rows.map(({ number }) => number);
  }

  return {
    async open() {
      const rows = await database.query<{ name: string }>(
        `select name from sqlite_master where type = 'table' and sql like 'create virtual table%vec0%'`,
      );
      for (const { name } of rows) tables.add(Number(name.slice(tableOf(0).length - 1)));
      // Those that a process left half built.
      const left = await database.query<{ number: number }>(
        'select number from vector_collections where indexed = $1',
        [stateOf.building],
      );
      for (const { number } of left) void grown(number);
    },

    add,
    remove,

    async change(tx, item) {
      await remove(tx, [item.number]);
      await add(tx, [item]);
    },

    async search(query) {
      const [near, words] = await Promise.all([nearest(query), said(query)]);
      return toCandidates(
        near.map(({ number, distance }) => ({ number, similarity: 1 - (distance * distance) / 2 })),
        words,
      );
    },

    grown,
    async forget() {},

    async close() {
      isClosed = true;
      await Promise.all(building.values());
      await Promise.all([reader.close(), wordsReader.close()]);
    },
  };
}

function openReader({ source }: Database): SqliteReader {
  assert('folder' in source, 'a SQLite database has a folder');
  return createSqliteReader({ folder: source.folder });
}

async function createTable(tx: Sql, dimensions: number): Promise<void> {
  await tx.script(
    `create virtual table if not exists ${tableOf(dimensions)} using vec0(
       collection integer partition key, point float[${dimensions}])`,
  );
}
