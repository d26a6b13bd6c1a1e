/** Collections with real readers, real files on disk and a real database; the engine is the caller's. */
import { join } from 'node:path';
import type { EmbeddingPort } from '../../src/engines/contract/embedding.ts';
import type { Engine } from '../../src/engines/contract/engine.ts';
import { createLog } from '../../src/lib/log.ts';
import { toAbortSignal } from '../../src/lib/presence.ts';
import type { Catalog, EmbeddingModel } from '../../src/platform/catalog/index.ts';
import type { Engines } from '../../src/platform/engines/index.ts';
import type { Inference, Operation } from '../../src/platform/inference/types.ts';
import { realTimers, type Timers } from '../../src/platform/jobs/timers.ts';
import { createObjects } from '../../src/platform/objects/index.ts';
import { type CollectionFile, createVectors, type Vectors } from '../../src/platform/vectors/index.ts';
import type { IngestLimits } from '../../src/platform/vectors/ingest/index.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { migrationsFolder } from './vector-house.ts';

export interface VectorPlatformParts {
  database: Database;
  folder: string;
  embedding: EmbeddingPort;
  model?: Partial<EmbeddingModel>;
  timers?: Timers;
  limits?: Partial<IngestLimits>;
  now?: () => number;
}

export interface VectorPlatform {
  readonly vectors: Vectors;
  createCollection(subscriptionId?: string): Promise<string>;
  add(
    collectionId: string,
    filename: string,
    bytes: Buffer,
    subscriptionId?: string,
  ): Promise<CollectionFile>;
  /** Once it is `completed` or `failed`. */
  ended(file: CollectionFile, subscriptionId?: string): Promise<CollectionFile>;
  close(): Promise<void>;
}

export const owner = 'sub_owner';

export async function createVectorPlatform(parts: VectorPlatformParts): Promise<VectorPlatform> {
  const { database, folder, embedding, now = Date.now, timers = realTimers, limits = {} } = parts;
  await migrate(database, { folder: migrationsFolder });
  const log = createLog('silent');
  const objects = createObjects({ folder: join(folder, 'objects'), log, now });
  const model = {
    id: 'embedder',
    type: 'embedding',
    engines: ['engine'],
    engineModel: 'embedder',
    contextLength: 512,
    pricing: { prompt: '0.000001' },
    ...parts.model,
  } as EmbeddingModel;
  const engine = { embedding } as unknown as Engine;
  const vectors = createVectors({
    database,
    objects,
    now,
    log,
    timers,
    limits,
    catalog: { resolve: () => ({ model, variant: undefined }) } as unknown as Catalog,
    engines: {
      use: () => ({ name: 'engine', engine, enter: () => undefined, release() {} }),
    } as unknown as Engines,
    inference: {
      async run(
        operation: Operation,
        _model: unknown,
        work: (engine: Engine, signal: AbortSignal) => Promise<unknown>,
      ) {
        return { result: await work(engine, toAbortSignal(operation.signal)), costPicoUsd: 0n };
      },
    } as unknown as Inference,
  });
  vectors.start();

  return {
    vectors,
    async createCollection(subscriptionId = owner) {
      const about = { name: '', description: '', metadata: {}, modelId: model.id };
      return (await vectors.createCollection(subscriptionId, about)).id;
    },
    async add(collectionId, filename, bytes, subscriptionId = owner) {
      const objectKey = await vectors.reserveUpload();
      await objects.put(objectKey, bytes);
      const size = bytes.length;
      const upload = { filename, attributes: {}, objectKey, bytes: size, keyId: 'key_1' };
      const file = await vectors.addFile(subscriptionId, collectionId, upload);
      if (file === undefined) throw new Error('the collection does not exist');
      return file;
    },
    async ended({ id, collectionId }, subscriptionId = owner) {
      for (;;) {
        const file = await vectors.findFile(subscriptionId, collectionId, id);
        if (file === undefined) throw new Error('the file is gone');
        if (file.status !== 'in_progress') return file;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async close() {
      await vectors.close();
      await objects.close();
    },
  };
}
