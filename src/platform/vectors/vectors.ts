/** Collections as handlers know them, over the parts of this folder. */
import { GatewayError } from '../../lib/errors.ts';
import { createId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Engines } from '../engines/index.ts';
import type { Inference } from '../inference/types.ts';
import { realTimers, type Timers } from '../jobs/timers.ts';
import type { Objects } from '../objects/types.ts';
import {
  deleteCollection,
  findCollectionRow,
  insertCollection,
  selectCollections,
  updateCollection,
} from './collections.ts';
import { createEmbed, toPassage } from './embed.ts';
import { createItemIndex } from './index-choice.ts';
import { createEmbedBatch, createIngest, type IngestLimits } from './ingest/index.ts';
import { changeDescription, deleteItem, findItemRow, selectItems } from './items.ts';
import type { ItemIndex } from './parts.ts';
import { type Cutter, createCutter } from './read/index.ts';
import { search } from './search.ts';
import { deleteFile, findFile, insertFile, selectFiles, waitingChannel } from './store-files.ts';
import { createIngestStore } from './store-ingest.ts';
import { createPurge } from './store-purge.ts';
import type { Vectors } from './types.ts';

export interface VectorsParts {
  readonly database: Database;
  readonly objects: Objects;
  readonly catalog: Catalog;
  readonly engines: Engines;
  readonly inference: Inference;
  readonly now: () => number;
  readonly log: Log;
  readonly timers?: Timers;
  readonly limits?: Partial<IngestLimits>;
  /** Otherwise the one that the database offers. */
  readonly index?: ItemIndex;
  readonly cutter?: Cutter;
}

/** An upload that no file has become by then never does. */
const uploadMs = 3600 * 1000;

export function createVectors(parts: VectorsParts): Vectors {
  const { database, objects, catalog, engines, inference, now, log } = parts;
  const { timers = realTimers, limits = {}, cutter = createCutter() } = parts;
  const index = parts.index ?? createItemIndex({ database, log });
  const embed = createEmbed({ catalog, inference });
  const ingest = createIngest({
    store: createIngestStore({ database, index, now }),
    objects,
    cutter,
    embedBatch: createEmbedBatch({ catalog, engines, now }),
    timers,
    limits,
    now,
    log,
  });
  const purge = createPurge({ database, objects, index, now, log });
  const closing = new AbortController();
  let opening: Promise<void> | undefined;
  let stopListening: (() => Promise<void>) | undefined;
  let beginning: Promise<void> | undefined;
  let isClosed = false;

  /** Before the index is used for the first time; tried again when it failed. */
  function ready(): Promise<void> {
    opening ??= index.open().catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  /** Files and deletions wait until the index is there. */
  async function begin(): Promise<void> {
    for (let attempt = 0; !isClosed; attempt++) {
      try {
        await ready();
        stopListening ??= await database.listen(waitingChannel, ingest.wake, ingest.wake);
        break;
      } catch (error) {
        log.warn({ err: error }, 'the index of collections could not be opened: it is tried again');
        await timers.pause(Math.min(1_000 * 2 ** attempt, 30_000), closing.signal).catch(() => {});
      }
    }
    if (isClosed) return;
    ingest.start();
    purge.start();
  }

  return {
    createCollection: (subscriptionId, collection) =>
      answered(() => insertCollection(database, subscriptionId, collection, now())),

    findCollection: (subscriptionId, id) =>
      answered(async () => (await findCollectionRow(database, subscriptionId, id))?.collection),

    listCollections: (subscriptionId, listing) =>
      answered(() => selectCollections(database, subscriptionId, listing)),

    changeCollection: (subscriptionId, id, change) =>
      answered(() => updateCollection(database, subscriptionId, id, change, now())),

    removeCollection: (subscriptionId, id) =>
      answered(async () => {
        const isGone = await database.transaction((tx) => deleteCollection(tx, subscriptionId, id, now()));
        if (isGone) void ready().then(purge.sweep, () => {});
        return isGone;
      }),

    reserveUpload: () =>
      answered(async () => {
        const key = `vectors/${createId('upload')}`;
        await database.query('insert into vector_purges (object_key, due_at) values ($1, $2)', [
          key,
          now() + uploadMs,
        ]);
        return key;
      }),

    addFile: (subscriptionId, collectionId, file) =>
      answered(() => database.transaction((tx) => insertFile(tx, subscriptionId, collectionId, file, now()))),

    findFile: (subscriptionId, collectionId, id) =>
      answered(() => findFile(database, subscriptionId, collectionId, id)),

    listFiles: (subscriptionId, collectionId, listing) =>
      answered(() => selectFiles(database, subscriptionId, collectionId, listing)),

    removeFile: (subscriptionId, collectionId, id) =>
      answered(async () => {
        const isGone = await database.transaction((tx) =>
          deleteFile(tx, subscriptionId, collectionId, id, now()),
        );
        if (isGone) void ready().then(purge.sweep, () => {});
        return isGone;
      }),

    findItem: (subscriptionId, collectionId, id) =>
      answered(async () => (await findItemRow(database, subscriptionId, collectionId, id))?.item),

    listItems: (subscriptionId, collectionId, listing) =>
      answered(() => selectItems(database, subscriptionId, collectionId, listing)),

    describeItem: (operation, collectionId, id, description) =>
      answered(async () => {
        await ready();
        const { subscriptionId } = operation.caller;
        const found = await findItemRow(database, subscriptionId, collectionId, id);
        const collection = await findCollectionRow(database, subscriptionId, collectionId);
        if (found === undefined || collection === undefined) return undefined;
        const passage = toPassage({ description, text: found.item.text });
        const { vectors } = await embed(operation, collection.collection.modelId, [passage], 'passage');
        const [vector] = vectors;
        if (vector === undefined || vector.length !== collection.dimensions) {
          throw new GatewayError('unreachable', 'The model now makes vectors of another length', {
            permanent: true,
          });
        }
        return changeDescription({ database, index, now: now() }, found, description, vector);
      }),

    removeItem: (subscriptionId, collectionId, id) =>
      answered(async () => {
        await ready();
        const found = await findItemRow(database, subscriptionId, collectionId, id);
        const collection = await findCollectionRow(database, subscriptionId, collectionId);
        if (found === undefined || collection?.dimensions === undefined) return false;
        return deleteItem({ database, index, now: now() }, found, collection.dimensions);
      }),

    search: (operation, collectionId, request) =>
      answered(async () => {
        await ready();
        return search({ database, index, embed, now }, operation, collectionId, request);
      }),

    start() {
      beginning ??= begin();
    },

    async close() {
      isClosed = true;
      closing.abort();
      await beginning;
      await stopListening?.();
      await ingest.close();
      await purge.close();
      await index.close();
    },
  };
}

async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new GatewayError('overloaded', 'Collections cannot be read or written at the moment; try again', {
      cause: error,
    });
  }
}
