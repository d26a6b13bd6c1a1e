import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { createPgliteDatabase } from '../../../test/support/pglite.ts';
import { migrationsFolder } from '../../../test/support/vector-house.ts';
import { bruteForce, createPoints, fillCollection, type Point } from '../../../test/support/vector-points.ts';
import { createLog } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import { migrate } from '../../storage/migrate.ts';
import { createPostgresIndex } from './index-postgres.ts';
import { createScanWay } from './index-scan.ts';
import { createSqliteIndex } from './index-sqlite.ts';
import type { ItemIndex } from './parts.ts';
import { deleteFile } from './store-files.ts';
import { createIngestStore } from './store-ingest.ts';
import { toItemNumber } from './store-rows.ts';
import type { Filter } from './types.ts';

const dimensions = 48;
const log = createLog('silent');
/** A collection is quiet at once. */
const timers = { pause: async () => {} };
const nextPoint = createPoints({ dimensions, clusters: 12, seed: 7 });
const take = (count: number) => Array.from({ length: count }, nextPoint);

interface Opened {
  database: Database;
  close(): Promise<void>;
}

interface Kind {
  name: string;
  isThere: boolean;
  recall: number;
  open(): Promise<Opened>;
  /** Collections of 500 items are large ones here. */
  createIndex(database: Database): ItemIndex;
}

const kinds: Kind[] = [
  {
    name: 'sqlite-vec',
    isThere: true,
    recall: 1,
    open: () => createTestDatabase({ dialect: 'sqlite' }),
    createIndex: (database) => createSqliteIndex({ database, log, largeFrom: 500 }),
  },
  {
    name: 'pgvector',
    isThere: true,
    recall: 0.95,
    async open() {
      const database = await createPgliteDatabase();
      return { database, close: () => database.close() };
    },
    createIndex: (database) =>
      createPostgresIndex({ database, log, largeFrom: 500, maxMatches: 100, timers }),
  },
  {
    name: 'PostgreSQL alone',
    isThere: Boolean(process.env['DATABASE_URL']),
    recall: 1,
    open: () => createTestDatabase({ dialect: 'postgres' }),
    createIndex: (database) =>
      createPostgresIndex({ database, log, largeFrom: 500, maxMatches: 100, timers }),
  },
];

describe.each(kinds.filter(({ isThere }) => isThere))(
  'an index on $name',
  ({ name, recall, open, createIndex }) => {
    let opened: Opened;
    let index: ItemIndex;
    let database: Database;
    let store: ReturnType<typeof createIngestStore>;
    beforeAll(async () => {
      opened = await open();
      database = opened.database;
      await migrate(database, { folder: migrationsFolder });
      index = createIndex(database);
      await index.open();
      store = createIngestStore({ database, index, now: () => 10 });
    }, 60_000);
    afterAll(async () => {
      await index.close();
      await opened.close();
    });

    /** How many of the ten nearest are found, on average over some questions. */
    async function measure(
      collection: { number: number },
      points: readonly Point[],
      extra: { fileIds?: readonly string[]; filter?: Filter; numberOf?: (place: number) => number } = {},
    ): Promise<number> {
      const { numberOf = (place) => toItemNumber(collection.number, place), ...query } = extra;
      let found = 0;
      const questions = take(20);
      for (const { vector } of questions) {
        const candidates = await index.search({
          collectionNumber: collection.number,
          vector,
          text: '',
          limit: 10,
          ...query,
        });
        const wanted = new Set(bruteForce(points, vector, 10).map(numberOf));
        expect(candidates).toHaveLength(Math.min(10, points.length));
        found += candidates.filter(({ number }) => wanted.has(number)).length / wanted.size;
      }
      return found / questions.length;
    }

    const stateOf = async (number: number) =>
      (
        await database.query<{ indexed: number }>(
          'select indexed from vector_collections where number = $1',
          [number],
        )
      )[0]?.indexed;

    test('finds exactly the nearest of a small collection, with their similarity', async () => {
      const points = take(300);
      const collection = await fillCollection(database, store, [{ points }]);
      await index.grown(collection.number);
      expect(await stateOf(collection.number)).toBe(0);
      expect(await measure(collection, points)).toBe(1);
      const { vector } = points[42] as Point;
      const [best, ...rest] = await index.search({
        collectionNumber: collection.number,
        vector,
        text: '',
        limit: 10,
      });
      expect(best).toEqual({
        number: toItemNumber(collection.number, 42),
        similarity: expect.closeTo(1, 5),
        textRank: undefined,
      });
      const similarities = rest.map(({ similarity = 2 }) => similarity);
      expect(similarities).toEqual([...similarities].sort((one, other) => other - one));
      expect(similarities.every((similarity) => similarity < 1 && similarity > -1)).toBe(true);
    }, 60_000);

    test('finds the nearest of a large collection, in all files, in some, and after files have gone', async () => {
      const first = take(700);
      const second = take(300);
      const collection = await fillCollection(database, store, [
        { points: first, attributes: { part: 1 } },
        { points: second, attributes: { part: 2 } },
      ]);
      const other = await fillCollection(database, store, [{ points: take(50) }]);
      const before = [...first, ...second];
      await index.grown(collection.number);
      if (name !== 'PostgreSQL alone') expect(await stateOf(collection.number)).toBe(2);
      expect(await measure(collection, before)).toBeGreaterThanOrEqual(recall);
      expect(
        await measure(collection, first, { filter: { type: 'eq', key: 'part', value: 1 } }),
      ).toBeGreaterThanOrEqual(recall);
      expect(
        await measure(collection, before, { filter: { type: 'gte', key: 'part', value: 1 } }),
      ).toBeGreaterThanOrEqual(recall);
      expect(
        await measure(collection, second, {
          fileIds: collection.fileIds.slice(1),
          numberOf: (place) => toItemNumber(collection.number, 700 + place),
        }),
      ).toBe(1);
      // Its items are still in the tables; nobody has swept up.
      await database.transaction((tx) =>
        deleteFile(tx, 'sub_points', collection.id, collection.fileIds[0] as string, 11),
      );
      expect(
        await measure(collection, second, {
          numberOf: (place) => toItemNumber(collection.number, 700 + place),
        }),
      ).toBeGreaterThanOrEqual(recall);
      expect(await stateOf(other.number)).toBe(0);
    }, 120_000);

    test('takes what is added, changed and removed after a large collection was indexed', async () => {
      const points = take(600);
      const collection = await fillCollection(database, store, [{ points }]);
      await index.grown(collection.number);
      const number = toItemNumber(collection.number, 5);
      const [item] = await database.query<{ file_no: number }>(
        'select file_no from vector_items where number = $1',
        [number],
      );
      const [wish, later] = take(2) as [Point, Point];
      const nearest = async ({ vector }: Point, text = '') =>
        (await index.search({ collectionNumber: collection.number, vector, text, limit: 5 }))[0];
      const moved = {
        number,
        collectionNumber: collection.number,
        fileNumber: item?.file_no ?? 0,
        description: 'moved',
        text: 'here',
      };
      const raise =
        'update vector_collections set version = version + 1, removals = removals + $2 where number = $1';
      await database.transaction(async (tx) => {
        await tx.query(raise, [collection.number, 0]);
        await index.change(tx, { ...moved, vector: wish.vector });
      });
      expect(await nearest(wish, 'moved')).toEqual({ number, similarity: expect.closeTo(1, 5), textRank: 1 });
      await database.transaction(async (tx) => {
        await tx.query(raise, [collection.number, 1]);
        await tx.query('delete from vector_items where number = $1', [number]);
        await index.remove(tx, [number]);
      });
      expect((await nearest(wish, 'moved'))?.number).not.toBe(number);
      await database.transaction(async (tx) => {
        await tx.query(raise, [collection.number, 0]);
        await tx.query(
          `insert into vector_items (number, id, file_no, position, is_ready, created_at, updated_at, description, text)
         values ($1, $2, $3, 10000, 1, 1, 1, '', '')`,
          [number, `item_${collection.number}`, moved.fileNumber],
        );
        await index.add(tx, [{ ...moved, vector: later.vector }]);
      });
      expect(await nearest(later)).toMatchObject({ number, similarity: expect.closeTo(1, 5) });
    }, 60_000);

    test('ranks by words: those that are rare count, in whatever form they stand', async () => {
      const points = take(400).map((point, place) => ({
        ...point,
        text: place === 123 ? 'every installation of the flywheel' : `every ordinary text ${place}`,
      }));
      const collection = await fillCollection(database, store, [{ points }]);
      const { vector } = points[0] as Point;
      const said = async (text: string) =>
        (await index.search({ collectionNumber: collection.number, vector, text, limit: 10 })).filter(
          ({ textRank }) => textRank !== undefined,
        );
      const [best] = (await said('How is every flywheel installed?')).filter(
        ({ textRank }) => textRank === 1,
      );
      expect(best?.number).toBe(toItemNumber(collection.number, 123));
      expect(await said('zeppelin')).toEqual([]);
      expect(await said('ordinary')).toHaveLength(10);
      if (database.dialect === 'sqlite') return;
      // Once the server has counted the words, the rare ones alone are looked for.
      await database.script('analyze vector_words');
      const counted = createPostgresIndex({ database, log, maxMatches: 20, timers });
      await counted.open();
      const query = {
        collectionNumber: collection.number,
        vector,
        text: 'every ordinary flywheel',
        limit: 10,
      };
      const found = await counted.search(query);
      await counted.close();
      expect(found.filter(({ textRank }) => textRank !== undefined).map(({ number }) => number)).toEqual([
        toItemNumber(collection.number, 123),
      ]);
    }, 60_000);

    test('opened again, it knows what it had', async () => {
      const points = take(550);
      const collection = await fillCollection(database, store, [{ points }]);
      await index.grown(collection.number);
      // As a process leaves it that dies while it builds.
      await database.query('update vector_collections set indexed = 1 where number = $1 and indexed = 2', [
        collection.number,
      ]);
      if (name === 'pgvector')
        await database.query('delete from vector_points where collection_no = $1', [collection.number]);
      const again = createIndex(database);
      await again.open();
      await again.grown(collection.number);
      await again.close();
      if (name !== 'PostgreSQL alone') expect(await stateOf(collection.number)).toBe(2);
      if (name === 'pgvector') {
        const [row] = await database.query<{ count: number }>(
          'select count(*) as count from vector_points where collection_no = $1',
          [collection.number],
        );
        expect(row?.count).toBe(550);
      }
      expect(await measure(collection, points)).toBeGreaterThanOrEqual(recall);
    }, 60_000);
  },
);

describe.runIf(process.env['DATABASE_URL'])('a scan that may keep almost nothing', () => {
  test('finds the same, page by page', async () => {
    const opened = await createTestDatabase({ dialect: 'postgres' });
    const { database } = opened;
    await migrate(database, { folder: migrationsFolder });
    const index = createPostgresIndex({ database, log });
    await index.open();
    const store = createIngestStore({ database, index, now: () => 10 });
    const points = take(2_500);
    const collection = await fillCollection(database, store, [{ points }], { batch: 500 });
    const way = createScanWay({ database, maxBytes: 1_000 });
    const { vector } = nextPoint();
    const query = { collectionNumber: collection.number, vector, text: '', limit: 10 };
    const found = await way.nearest(query);
    expect(found.map(({ number }) => number)).toEqual(
      bruteForce(points, vector, 10).map((place) => toItemNumber(collection.number, place)),
    );
    await way.close();
    await index.close();
    await opened.close();
  }, 60_000);
});
