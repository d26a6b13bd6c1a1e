/** Points in clusters with words, brought into a collection through the steps that files go through. */
import { createId } from '../../src/lib/ids.ts';
import { insertCollection } from '../../src/platform/vectors/collections.ts';
import type { IngestStore } from '../../src/platform/vectors/ingest/types.ts';
import { insertFile } from '../../src/platform/vectors/store-files.ts';
import type { Attributes } from '../../src/platform/vectors/types.ts';
import type { Database } from '../../src/storage/database.ts';
import { createRandom } from './random.ts';

export interface Point {
  readonly vector: Float32Array;
  readonly text: string;
}

export interface PointsOptions {
  readonly dimensions: number;
  readonly clusters?: number;
  readonly seed?: number;
}

/** Half of a point is its cluster's, half its own. Words are as common as in real texts: the n-th as 1 / n. */
export function createPoints({ dimensions, clusters = 100, seed = 1 }: PointsOptions): () => Point {
  const random = createRandom(seed);
  const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const centres = Array.from({ length: clusters }, () => Float32Array.from({ length: dimensions }, gauss));
  return () => {
    const cluster = Math.floor(random() * clusters);
    const centre = centres[cluster] as Float32Array;
    const vector = centre.map((value) => value + gauss());
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    const words = Array.from({ length: 60 }, () => `word${Math.floor(20_000 ** random())}`);
    return { vector: vector.map((value) => value / length), text: `topic${cluster} ${words.join(' ')}` };
  };
}

/** A collection of its own with one file in it for each part; answers its number and the files'. */
export async function fillCollection(
  database: Database,
  store: IngestStore,
  parts: readonly { points: readonly Point[]; attributes?: Attributes }[],
  { subscriptionId = 'sub_points', batch = 100 }: { subscriptionId?: string; batch?: number } = {},
): Promise<{ id: string; number: number; fileIds: string[] }> {
  const { id } = await insertCollection(
    database,
    subscriptionId,
    { name: 'points', description: '', metadata: {}, modelId: 'words' },
    1,
  );
  const fileIds: string[] = [];
  for (const { points, attributes = {} } of parts) {
    const file = {
      filename: 'points.txt',
      attributes,
      objectKey: createId('upload'),
      bytes: 1,
      keyId: 'key_1',
    };
    await database.transaction((tx) => insertFile(tx, subscriptionId, id, file, 1));
    const workerId = createId('worker');
    const leased = await store.leaseFile({ workerId, subscriptionId, now: 2, leaseUntil: 3 });
    if (leased === undefined) throw new Error('no file waits');
    fileIds.push(leased.id);
    const hold = { fileId: leased.id, workerId };
    for (let start = 0; start < points.length; start += batch) {
      const some = points.slice(start, start + batch);
      await store.saveChunks(
        hold,
        start,
        some.map(({ text }) => ({ text, description: '' })),
      );
      const items = await store.bareItems(leased.id, batch);
      await store.saveVectors(
        hold,
        items.map((item, place) => ({ itemId: item.id, vector: (some[place] as Point).vector })),
        billOf(subscriptionId),
      );
    }
    await store.markCut(hold);
    await store.finishFile(hold);
  }
  const [row] = await database.query<{ number: number }>(
    'select number from vector_collections where id = $1',
    [id],
  );
  return { id, number: row?.number ?? 0, fileIds };
}

function billOf(subscriptionId: string) {
  return {
    id: createId('gen'),
    subscriptionId,
    keyId: 'key_1',
    modelId: 'words',
    operation: 'embeddings',
    at: 1,
    durationMs: 1,
    streamed: false,
    outcome: 'stop',
    quantities: { promptTokens: 1 },
    costPicoUsd: 0n,
  };
}

/** The places of the nearest points, by comparing with each of them. */
export function bruteForce(points: readonly Point[], question: Float32Array, limit: number): number[] {
  return points
    .map(({ vector }, place) => {
      let sum = 0;
      for (let at = 0; at < vector.length; at++) sum += (vector[at] as number) * (question[at] as number);
      return { place, sum };
    })
    .sort((one, other) => other.sum - one.sum)
    .slice(0, limit)
    .map(({ place }) => place);
}
