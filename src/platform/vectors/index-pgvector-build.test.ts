import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPgliteDatabase } from '../../../test/support/pglite.ts';
import { migrationsFolder } from '../../../test/support/vector-house.ts';
import { createPoints, fillCollection } from '../../../test/support/vector-points.ts';
import { createLog } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import { migrate } from '../../storage/migrate.ts';
import { createPostgresIndex } from './index-postgres.ts';
import type { ItemIndex } from './parts.ts';
import { createIngestStore } from './store-ingest.ts';

const largeFrom = 20;
const nextPoint = createPoints({ dimensions: 8 });

describe('the index of a large collection', () => {
  let database: Database;
  beforeAll(async () => {
    database = await createPgliteDatabase();
    await migrate(database, { folder: migrationsFolder });
  }, 60_000);
  afterAll(() => database.close());

  /** Each pause runs what is to happen meanwhile; the one after the last lasts until the index is closed. */
  function open(...meanwhile: (() => Promise<void>)[]) {
    return openOn(database, ...meanwhile);
  }

  async function openOn(used: Database, ...meanwhile: (() => Promise<void>)[]) {
    const paused = Promise.withResolvers<void>();
    let pauses = 0;
    const index = createPostgresIndex({
      database: used,
      log: createLog('silent'),
      largeFrom,
      timers: {
        async pause(_ms, signal) {
          const work = meanwhile[pauses++];
          if (work !== undefined) return work();
          paused.resolve();
          await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
        },
      },
    });
    await index.open();
    return { index, paused: paused.promise, pauses: () => pauses };
  }

  const fill = async (index: ItemIndex, items: number) => {
    const store = createIngestStore({ database, index, now: () => 10 });
    return fillCollection(database, store, [{ points: Array.from({ length: items }, nextPoint) }]);
  };
  const grow = (number: number, items: number) =>
    database.query(
      'update vector_collections set version = version + 1, item_count = item_count + $2 where number = $1',
      [number, items],
    );
  const stateOf = async (number: number) =>
    (
      await database.query<{ indexed: number }>('select indexed from vector_collections where number = $1', [
        number,
      ])
    )[0]?.indexed;

  test('waits while the collection is being filled', async () => {
    let number = 0;
    const states: (number | undefined)[] = [];
    const growing = async () => {
      states.push(await stateOf(number));
      await grow(number, 0);
    };
    const { index, pauses } = await open(growing, growing, async () => {});
    number = (await fill(index, largeFrom - 1)).number;
    await index.grown(number);
    expect(pauses()).toBe(0);
    await grow(number, 1);
    await index.grown(number);
    expect(states).toEqual([0, 0]);
    expect(pauses()).toBe(3);
    expect(await stateOf(number)).toBe(2);
    await index.close();
  }, 60_000);

  test('does not wait when the collection has become too large to be compared in full', async () => {
    const { index, pauses } = await open();
    const { number } = await fill(index, largeFrom - 1);
    await grow(number, largeFrom * 9 + 1);
    await index.grown(number);
    expect(pauses()).toBe(0);
    expect(await stateOf(number)).toBe(2);
    await index.close();
  }, 60_000);

  test('does not wait for ever for a collection that is never quiet', async () => {
    let number = 0;
    const { index, pauses } = await open(
      ...Array.from({ length: 60 }, () => () => grow(number, 0).then(() => {})),
    );
    number = (await fill(index, largeFrom - 1)).number;
    await grow(number, 1);
    await index.grown(number);
    expect(pauses()).toBe(60);
    expect(await stateOf(number)).toBe(2);
    await index.close();
  }, 60_000);

  test('is waited for by the next process when this one ends meanwhile', async () => {
    const first = await open();
    const { number } = await fill(first.index, largeFrom);
    await first.paused;
    await first.index.close();
    expect(await stateOf(number)).toBe(0);
    // Without a word of growth: it has looked for itself.
    const second = await open();
    await second.paused;
    await second.index.close();
  }, 60_000);

  const rest = async () => {};
  const indexes = async () =>
    (
      await database.query<{ name: string }>(
        `select relname as name from pg_class where relname like 'vector_hnsw_%' order by 1`,
      )
    ).map(({ name }) => name);
  /** Runs `instead` where an index would be built. */
  const whereBuilt = (instead: (build: () => Promise<void>) => Promise<void>): Database => ({
    ...database,
    script: (text) =>
      text.startsWith('create index concurrently vector_hnsw_')
        ? instead(() => database.script(text))
        : database.script(text),
  });

  test('is built by itself: two at once on one table are a deadlock on PostgreSQL', async () => {
    let atOnce = 0;
    let most = 0;
    const used = whereBuilt(async (build) => {
      most = Math.max(most, ++atOnce);
      await build();
      atOnce--;
    });
    const { index } = await openOn(used, ...Array.from({ length: 6 }, () => rest));
    const numbers = [];
    for (let i = 0; i < 3; i++) {
      const { number } = await fill(index, largeFrom - 1);
      await grow(number, 1);
      numbers.push(number);
    }
    await Promise.all(numbers.map((number) => index.grown(number)));
    expect(await Promise.all(numbers.map(stateOf))).toEqual([2, 2, 2]);
    expect(most).toBe(1);
    await index.close();
  }, 60_000);

  test('holds up neither searches nor another process that starts meanwhile', async () => {
    const scripts: string[] = [];
    const used: Database = {
      ...database,
      script(text) {
        scripts.push(text);
        return database.script(text);
      },
    };
    const { index } = await openOn(used, ...Array.from({ length: 6 }, () => rest));
    const { number } = await fill(index, largeFrom - 1);
    await grow(number, 1);
    await index.grown(number);
    await index.close();
    // Whatever else is done to the table or its indexes waits for the one that is built, and all others for that.
    expect(scripts.length).toBeGreaterThanOrEqual(2);
    for (const text of scripts) expect(text).toMatch(/^(create|drop) index concurrently /);
  }, 60_000);

  test('that fails is tried again, and leaves nothing behind when it fails every time', async () => {
    const before = await indexes();
    let failures = 0;
    let mostFailures = 1;
    const used = whereBuilt(async (build) => {
      await build();
      if (failures++ < mostFailures) throw new Error('deadlock detected');
    });
    const { index } = await openOn(used, ...Array.from({ length: 8 }, () => rest));
    const { number } = await fill(index, largeFrom - 1);
    await grow(number, 1);
    await index.grown(number);
    expect([failures, await stateOf(number)]).toEqual([2, 2]);
    const { number: other } = await fill(index, largeFrom - 1);
    await grow(other, 1);
    mostFailures = Number.POSITIVE_INFINITY;
    failures = 0;
    await index.grown(other);
    expect([failures, await stateOf(other)]).toEqual([3, 0]);
    expect(await indexes()).toEqual([...before, `vector_hnsw_${number}`].sort());
    await index.close();
    await database.query('delete from vector_collections where number = $1', [other]);
  }, 60_000);

  test('goes with its collection, also when that is deleted while it is built or its process has died', async () => {
    const before = await indexes();
    let number = 0;
    const remove = () => database.query('delete from vector_collections where number = $1', [number]);
    const used = whereBuilt(async (build) => {
      await build();
      await remove();
    });
    const { index } = await openOn(used, rest, rest);
    number = (await fill(index, largeFrom - 1)).number;
    await grow(number, 1);
    await index.grown(number);
    expect(await indexes()).toEqual(before);
    await index.close();

    const next = await open(...Array.from({ length: 8 }, () => rest));
    number = (await fill(next.index, largeFrom - 1)).number;
    await grow(number, 1);
    await next.index.grown(number);
    expect(await indexes()).toContain(`vector_hnsw_${number}`);
    await remove();
    await next.index.close();
    const last = await open(...Array.from({ length: 8 }, () => rest));
    await expect.poll(indexes).toEqual(before);
    await last.index.close();

    const again = await open(...Array.from({ length: 8 }, () => rest));
    number = (await fill(again.index, largeFrom - 1)).number;
    await grow(number, 1);
    await again.index.grown(number);
    await remove();
    await again.index.forget(number);
    await expect.poll(indexes).toEqual(before);
    await again.index.close();
  }, 60_000);
});
