/** Collections over a database of the test's own, an engine that embeds by words, and files whose lines are the pieces. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { EmbeddingPort } from '../../src/engines/contract/embedding.ts';
import type { Engine } from '../../src/engines/contract/engine.ts';
import { GatewayError } from '../../src/lib/errors.ts';
import { createLog } from '../../src/lib/log.ts';
import { Presence, toAbortSignal } from '../../src/lib/presence.ts';
import type { Catalog } from '../../src/platform/catalog/index.ts';
import type { Engines } from '../../src/platform/engines/index.ts';
import type { Inference, Operation } from '../../src/platform/inference/types.ts';
import { realTimers } from '../../src/platform/jobs/timers.ts';
import type { Objects } from '../../src/platform/objects/types.ts';
import { createVectors } from '../../src/platform/vectors/index.ts';
import type { ItemIndex } from '../../src/platform/vectors/parts.ts';
import type { Vectors } from '../../src/platform/vectors/types.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';

export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Every word has a direction of its own; texts with the same words lie near each other. */
export function embedWords(text: string, dimensions = 64): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[a-z0-9]+/g) ?? ['nothing']) {
    const digest = createHash('sha256').update(word).digest();
    for (let place = 0; place < 4; place++) {
      const at = digest.readUInt16LE(place * 2) % dimensions;
      vector[at] = (vector[at] as number) + ((digest[16 + place] as number) % 2 === 0 ? 1 : -1);
    }
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

export function toTestOperation(subscriptionId: string): Operation {
  return {
    id: `gen_${createHash('sha256').update(`${Math.random()}`).digest('hex').slice(0, 24)}`,
    caller: { subscriptionId, keyId: 'key_1', keyName: 'test' },
    name: 'vectors',
    signal: new Presence(),
  };
}

export interface VectorHouse {
  readonly vectors: Vectors;
  /** What the next embeddings fail with; cleared by hand. */
  failWith: GatewayError | undefined;
  /** What the model does not exist for. */
  isModelGone: boolean;
  readonly embedded: string[];
  readonly objects: Map<string, Buffer>;
  /** A file whose lines are its items, waited for until it is done. */
  add(
    subscriptionId: string,
    collectionId: string,
    lines: readonly string[],
    file?: { filename?: string; attributes?: Record<string, string | number | boolean> },
  ): Promise<string>;
  close(): Promise<void>;
}

export async function createVectorHouse(
  database: Database,
  options: { index?: ItemIndex; dimensions?: number; now?: () => number } = {},
): Promise<VectorHouse> {
  await migrate(database, { folder: migrationsFolder });
  const { dimensions = 64, now = Date.now } = options;
  const objects = new Map<string, Buffer>();
  const embedded: string[] = [];
  const state = { failWith: undefined as GatewayError | undefined, isModelGone: false };
  const embedding: EmbeddingPort = {
    async embed({ inputs }) {
      if (state.failWith !== undefined) throw state.failWith;
      embedded.push(...(inputs as string[]));
      return {
        vectors: inputs.map((text) => embedWords(text as string, dimensions)),
        promptTokens: inputs.length,
      };
    },
  };
  const model = {
    id: 'words',
    type: 'embedding',
    engines: ['words'],
    engineModel: 'words',
    contextLength: 512,
    dimensions,
    queryInstruction: { text: 'find: ', marker: 'find:' },
  };
  const catalog = {
    resolve() {
      if (state.isModelGone) throw new GatewayError('not_found', 'The model does not exist');
      return { model, variant: undefined };
    },
  } as unknown as Catalog;
  const engine = { embedding } as unknown as Engine;
  const inference = {
    async run(
      operation: Operation,
      _model: unknown,
      work: (engine: Engine, signal: AbortSignal) => Promise<unknown>,
    ) {
      return { result: await work(engine, toAbortSignal(operation.signal)), costPicoUsd: 5n };
    },
  } as unknown as Inference;
  const engines = {
    use: () => ({ name: 'words', engine, enter: () => undefined, release() {} }),
  } as unknown as Engines;
  const inMemory = {
    read: async (key: string) => objects.get(key),
    remove: async (key: string) => void objects.delete(key),
  } as unknown as Objects;
  const vectors = createVectors({
    database,
    objects: inMemory,
    catalog,
    engines,
    inference,
    now,
    log: createLog('silent'),
    // The store tells of new files: nothing has to be looked for at intervals.
    timers: { ...realTimers, every: () => () => {} },
    cutter: {
      async *cut({ bytes, skip }) {
        const lines = bytes.toString().split('\n').slice(skip);
        for (let start = 0; start < lines.length; start += 50) {
          yield lines.slice(start, start + 50).map((text) => ({ text, description: '' }));
        }
      },
    },
    ...(options.index === undefined ? {} : { index: options.index }),
  });
  vectors.start();

  const house: VectorHouse = {
    vectors,
    embedded,
    objects,
    get failWith() {
      return state.failWith;
    },
    set failWith(error) {
      state.failWith = error;
    },
    get isModelGone() {
      return state.isModelGone;
    },
    set isModelGone(isGone) {
      state.isModelGone = isGone;
    },
    async add(subscriptionId, collectionId, lines, { filename = 'a.txt', attributes = {} } = {}) {
      const objectKey = await vectors.reserveUpload();
      objects.set(objectKey, Buffer.from(lines.join('\n')));
      const file = await vectors.addFile(subscriptionId, collectionId, {
        filename,
        attributes,
        objectKey,
        bytes: objects.get(objectKey)?.length ?? 0,
        keyId: 'key_1',
      });
      if (file === undefined) throw new Error('the collection does not exist');
      for (let tries = 0; ; tries++) {
        const current = await vectors.findFile(subscriptionId, collectionId, file.id);
        if (current?.status === 'completed') return file.id;
        if (current?.status === 'failed' || tries > 12_000) throw new Error(`the file is ${current?.status}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    close: () => vectors.close(),
  };
  return house;
}
