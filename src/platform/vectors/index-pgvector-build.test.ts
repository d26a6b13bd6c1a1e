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
  async function open(...meanwhile: (() => Promise<void>)[]) {
    const paused = Promise.withResolvers<void>();
    let pauses = 0;
    const index = createPostgresIndex({
      database,
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
});
