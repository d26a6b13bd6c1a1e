/**
 * What a search in a large collection takes, and what it holds up: 100,000 items of 384 values in clusters, with words as
 * common as in real texts. On SQLite in a folder of its own, and on PostgreSQL when DATABASE_URL is set.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { createLog } from '../src/lib/log.ts';
import { fuse } from '../src/platform/vectors/fuse.ts';
import { createItemIndex } from '../src/platform/vectors/index-choice.ts';
import { selectFound } from '../src/platform/vectors/items.ts';
import type { ItemIndex } from '../src/platform/vectors/parts.ts';
import { createIngestStore } from '../src/platform/vectors/store-ingest.ts';
import { toItemNumber } from '../src/platform/vectors/store-rows.ts';
import type { Database } from '../src/storage/database.ts';
import { migrate } from '../src/storage/migrate.ts';
import { openSqlite } from '../src/storage/sqlite.ts';
import { createTestDatabase } from '../test/support/database.ts';
import { bruteForce, createPoints, fillCollection, type Point } from '../test/support/vector-points.ts';

export interface VectorsOptions {
  readonly items: number;
  readonly dimensions: number;
  readonly searches: number;
}

export interface VectorsResult {
  readonly database: 'sqlite' | 'postgres';
  readonly items: number;
  readonly dimensions: number;
  /** Stored, indexed and found by words, without the time that embedding takes. */
  readonly ingestItemsPerSecond: number;
  /** From the end of the ingest until the index of a large collection is there. */
  readonly indexMs: number;
  readonly searchP50Ms: number;
  readonly searchP95Ms: number;
  /** Of the ten nearest. */
  readonly recall: number;
  /** The longest that anything else in the process had to wait while searches ran. */
  readonly loopDelayMaxMs: number;
  /** A query by key beside the searches. */
  readonly queryBesideP95Ms: number;
}

export const vectorBudgets = {
  sqlite: { searchP95Ms: 100, recall: 1, loopDelayMaxMs: 20 },
  postgres: { searchP95Ms: 15, recall: 0.95, loopDelayMaxMs: 20 },
} as const;

const migrations = fileURLToPath(new URL('../migrations', import.meta.url));

export async function measureVectors(
  options: Partial<VectorsOptions>,
  tell: (message: string) => void,
): Promise<VectorsResult[]> {
  const plan: VectorsOptions = { items: 100_000, dimensions: 384, searches: 200, ...options };
  const results = [await onSqlite(plan, tell)];
  if (process.env['DATABASE_URL']) {
    const place = await createTestDatabase({ dialect: 'postgres' });
    try {
      results.push(await measure(place.database, plan, tell));
    } finally {
      await place.close();
    }
  }
  return results;
}

async function onSqlite(plan: VectorsOptions, tell: (message: string) => void): Promise<VectorsResult> {
  const folder = await mkdtemp(join(tmpdir(), 'roundhouse-bench-'));
  const database = await openSqlite({ folder });
  try {
    return await measure(database, plan, tell);
  } finally {
    await database.close();
    await rm(folder, { recursive: true });
  }
}

/** A database of the caller's own, such as one with pgvector. */
export async function measure(
  database: Database,
  { items, dimensions, searches }: VectorsOptions,
  tell: (message: string) => void,
): Promise<VectorsResult> {
  await migrate(database, { folder: migrations });
  const index = createItemIndex({ database, log: createLog('warn') });
  await index.open();
  try {
    const store = createIngestStore({ database, index, now: Date.now });
    // The same ones every time. They are not kept while searches are measured: a hundred thousand objects of our own
    // would make the collector's pauses, which are taken for the gateway's.
    const make = () => {
      const next = createPoints({ dimensions, clusters: Math.max(10, Math.round(items / 500)) });
      return {
        points: Array.from({ length: items }, next),
        questions: Array.from({ length: searches }, next),
      };
    };
    tell(`vectors on ${database.dialect}: ${items} items of ${dimensions} values`);
    const parts = toParts(make().points);
    const startedAt = performance.now();
    const collection = await fillCollection(database, store, parts);
    parts.length = 0;
    const filledAt = performance.now();
    await index.grown(collection.number);
    // As autovacuum does within a minute: how common a word is decides which ones are looked for.
    if (database.dialect === 'postgres') await database.script('vacuum analyze');
    const indexedAt = performance.now();
    tell(`vectors on ${database.dialect}: ${searches} searches`);
    const { questions } = make();
    return {
      database: database.dialect,
      items,
      dimensions,
      ingestItemsPerSecond: Math.round((items / (filledAt - startedAt)) * 1_000),
      indexMs: Math.round(indexedAt - filledAt),
      ...(await measureSearches(database, index, collection, questions)),
      recall: await measureRecall(index, collection, make().points, questions.slice(0, 30)),
    };
  } finally {
    await index.close();
  }
}

function toParts(points: readonly Point[]): { points: readonly Point[] }[] {
  return Array.from({ length: Math.ceil(points.length / 1_000) }, (_, part) => ({
    points: points.slice(part * 1_000, (part + 1) * 1_000),
  }));
}

async function measureSearches(
  database: Database,
  index: ItemIndex,
  { id, number }: { id: string; number: number },
  questions: readonly Point[],
): Promise<Pick<VectorsResult, 'searchP50Ms' | 'searchP95Ms' | 'loopDelayMaxMs' | 'queryBesideP95Ms'>> {
  const search = async ({ vector, text }: Point) => {
    // The words of a question: its topic and a few more.
    const query = {
      collectionNumber: number,
      vector,
      text: text.split(' ').slice(0, 8).join(' '),
      limit: 50,
    };
    const ranked = fuse(await index.search(query), 10);
    await selectFound(
      database,
      id,
      ranked.map((one) => one.number),
    );
  };
  for (const question of questions.slice(0, 5)) await search(question);
  const searchMs: number[] = [];
  const besideMs: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let isOver = false;
  const beside = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await database.query('select name from vector_collections where id = $1', [id]);
      besideMs.push(performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  for (const question of questions) {
    const startedAt = performance.now();
    await search(question);
    searchMs.push(performance.now() - startedAt);
  }
  isOver = true;
  await beside;
  delay.disable();
  return {
    searchP50Ms: quantile(searchMs, 0.5),
    searchP95Ms: quantile(searchMs, 0.95),
    loopDelayMaxMs: rounded(delay.max / 1e6),
    queryBesideP95Ms: quantile(besideMs, 0.95),
  };
}

async function measureRecall(
  index: ItemIndex,
  { number }: { number: number },
  points: readonly Point[],
  questions: readonly Point[],
): Promise<number> {
  let found = 0;
  for (const { vector } of questions) {
    const candidates = await index.search({ collectionNumber: number, vector, text: '', limit: 50 });
    const nearest = new Set(candidates.slice(0, 10).map((one) => one.number));
    const wanted = bruteForce(points, vector, 10);
    found += wanted.filter((place) => nearest.has(toItemNumber(number, place))).length / wanted.length;
  }
  return Math.round((found / questions.length) * 10_000) / 10_000;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
