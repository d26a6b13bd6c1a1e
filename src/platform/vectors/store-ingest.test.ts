import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { embedWords, migrationsFolder } from '../../../test/support/vector-house.ts';
import { createId } from '../../lib/ids.ts';
import { createLog } from '../../lib/log.ts';
import { migrate } from '../../storage/migrate.ts';
import type { LedgerRow } from '../billing/index.ts';
import { deleteCollection, findCollectionRow, insertCollection } from './collections.ts';
import { createItemIndex } from './index-choice.ts';
import type { IngestStore, LeasedFile } from './ingest/types.ts';
import { selectItems } from './items.ts';
import type { ItemIndex } from './parts.ts';
import { deleteFile, findFile, insertFile } from './store-files.ts';
import { createIngestStore } from './store-ingest.ts';

let place: TestDatabase;
let index: ItemIndex;
let store: IngestStore;
beforeAll(async () => {
  place = await createTestDatabase();
  await migrate(place.database, { folder: migrationsFolder });
  index = createItemIndex({ database: place.database, log: createLog('silent') });
  await index.open();
  store = createIngestStore({ database: place.database, index, now: () => 500 });
});
afterAll(async () => {
  await index.close();
  await place.close();
});

let owner: string;
let collectionId: string;
beforeEach(async () => {
  owner = createId('sub');
  collectionId = await createCollection();
});

async function createCollection(): Promise<string> {
  const collection = { name: '', description: '', metadata: {}, modelId: 'words' };
  return (await insertCollection(place.database, owner, collection, 1)).id;
}

async function add(at = 100, bytes = 10): Promise<string> {
  const file = { filename: 'a.txt', attributes: {}, objectKey: createId('upload'), bytes, keyId: 'key_7' };
  const added = await place.database.transaction((tx) => insertFile(tx, owner, collectionId, file, at));
  return added?.id ?? '';
}

function lease(workerId = 'w1', now = 1_000, maxBytes?: number): Promise<LeasedFile | undefined> {
  return store.leaseFile({ workerId, subscriptionId: owner, now, leaseUntil: now + 30, maxBytes });
}

const chunks = (...texts: string[]) => texts.map((text) => ({ text, description: 'page 1' }));

function billOf(id = createId('gen')): LedgerRow {
  return {
    id,
    subscriptionId: owner,
    keyId: 'key_7',
    modelId: 'words',
    operation: 'embeddings',
    at: 1_700_000_000_000,
    durationMs: 1,
    streamed: false,
    outcome: 'stop',
    quantities: { promptTokens: 9 },
    costPicoUsd: 7n,
  };
}

async function embedAll(fileId: string, workerId = 'w1', bill = billOf()): Promise<boolean> {
  const items = await store.bareItems(fileId, 100);
  const vectors = items.map(({ id, text }) => ({ itemId: id, vector: embedWords(text, 16) }));
  return store.saveVectors({ fileId, workerId }, vectors, bill);
}

const collectionOf = async () => (await findCollectionRow(place.database, owner, collectionId))?.collection;
const textsOf = async () =>
  (await selectItems(place.database, owner, collectionId, { limit: 100, order: 'asc' }))?.entries.map(
    ({ text }) => text,
  );

describe('a lease', () => {
  test('says all that a run needs, and is had by one alone', async () => {
    const fileId = await add();
    expect(await store.waitingSubscriptions(99)).not.toContain(owner);
    expect(await store.waitingSubscriptions(100)).toContain(owner);
    expect(await lease()).toMatchObject({
      id: fileId,
      collectionId,
      subscriptionId: owner,
      keyId: 'key_7',
      modelId: 'words',
      filename: 'a.txt',
      chunkCount: 0,
      isCut: false,
      attempts: 1,
    });
    expect(await lease('w2')).toBeUndefined();
    expect(await store.waitingSubscriptions(1_000)).not.toContain(owner);
  });

  test('goes to the file that has waited longest, and of the size that is asked for', async () => {
    const later = await add(200, 5);
    const earlier = await add(100, 50);
    expect((await lease('w1', 1_000, 10))?.id).toBe(later);
    expect((await lease())?.id).toBe(earlier);
  });

  test('that several ask for at once is given to each for another file', async () => {
    const ids = new Set(await Promise.all(Array.from({ length: 6 }, () => add())));
    const leased = await Promise.all(Array.from({ length: 6 }, (_, worker) => lease(`w${worker}`)));
    const again = await lease('w9');
    // On PostgreSQL one that another is taking is passed over, so that a round may leave some to the next.
    const given = [...leased, again].flatMap((file) => (file === undefined ? [] : [file.id]));
    expect(new Set(given).size).toBe(given.length);
    expect(given.length).toBeGreaterThan(0);
    for (const id of given) expect(ids).toContain(id);
  });

  test('is renewed by its owner only, and taken over when it is over', async () => {
    const fileId = await add();
    await lease('w1', 1_000);
    expect(await store.renewLeases('w2', [fileId], 2_000)).toEqual([]);
    expect(await store.renewLeases('w1', [fileId, 'file_none'], 2_000)).toEqual([fileId]);
    expect(await store.renewLeases('w1', [], 2_000)).toEqual([]);
    expect(await lease('w2', 1_999)).toBeUndefined();
    expect(await lease('w2', 2_000)).toMatchObject({ id: fileId, attempts: 2 });
    const hold = { fileId, workerId: 'w1' };
    expect(await store.saveChunks(hold, 0, chunks('a'))).toBe(false);
    expect(await store.markCut(hold)).toBe(false);
    expect(await store.saveVectors(hold, [], billOf())).toBe(false);
    expect(await store.finishFile(hold)).toBe(false);
    expect(await store.failFile(hold, { code: 'server_error', message: 'no' })).toBe(false);
    expect(await store.giveBack(hold, 0)).toBe(false);
    expect(await store.renewLeases('w1', [fileId], 9_000)).toEqual([]);
  });

  test('that is given back counts as no attempt, and waits until its time', async () => {
    const fileId = await add();
    await lease();
    expect(await store.giveBack({ fileId, workerId: 'w1' }, 5_000)).toBe(true);
    expect(await lease('w2', 4_999)).toBeUndefined();
    expect(await lease('w2', 5_000)).toMatchObject({ id: fileId, attempts: 1 });
  });

  test('ends with the file and with the collection', async () => {
    const fileId = await add();
    const hold = { fileId, workerId: 'w1' };
    await lease();
    await store.saveChunks(hold, 0, chunks('a'));
    await place.database.transaction((tx) => deleteFile(tx, owner, collectionId, fileId, 1));
    expect(await embedAll(fileId)).toBe(false);
    expect(await store.renewLeases('w1', [fileId], 9_000)).toEqual([]);
    const other = await add();
    await lease('w1');
    await store.saveChunks({ fileId: other, workerId: 'w1' }, 0, chunks('a'));
    await place.database.transaction((tx) => deleteCollection(tx, owner, collectionId, 1));
    expect(await store.renewLeases('w1', [other], 9_000)).toEqual([]);
    expect(await store.saveChunks({ fileId: other, workerId: 'w1' }, 1, chunks('b'))).toBe(false);
    expect(await embedAll(other)).toBe(false);
    expect(await lease('w2', 99_000)).toBeUndefined();
    expect(await store.waitingSubscriptions(99_000)).not.toContain(owner);
  });
});

describe('pieces', () => {
  test('are kept once, however often they are saved, and the next run knows how many there are', async () => {
    const fileId = await add();
    const hold = { fileId, workerId: 'w1' };
    await lease();
    expect(await store.saveChunks(hold, 0, chunks('a', 'b'))).toBe(true);
    expect(await store.saveChunks(hold, 0, chunks('a', 'b', 'c'))).toBe(true);
    expect(await store.saveChunks(hold, 1, chunks('b'))).toBe(true);
    await expect(store.saveChunks(hold, 5, chunks('f'))).rejects.toThrow('chunk 3 comes before 5');
    const items = await store.bareItems(fileId, 10);
    expect(items.map(({ index: at, text }) => `${at}${text}`)).toEqual(['0a', '1b', '2c']);
    expect(items[0]).toMatchObject({
      id: expect.stringMatching(/^item_[0-9a-f]{24}$/),
      description: 'page 1',
    });
    expect(await store.bareItems(fileId, 2)).toHaveLength(2);
    expect(await lease('w2', 9_000)).toMatchObject({ chunkCount: 3, isCut: false });
    expect(await store.markCut({ fileId, workerId: 'w2' })).toBe(true);
    expect(await lease('w3', 99_000)).toMatchObject({ chunkCount: 3, isCut: true, attempts: 3 });
  });

  test('are items once they have a vector: until then nobody sees or counts them', async () => {
    const fileId = await add();
    const hold = { fileId, workerId: 'w1' };
    await lease();
    await store.saveChunks(hold, 0, chunks('a', 'bb'));
    expect(await textsOf()).toEqual([]);
    expect(await collectionOf()).toMatchObject({
      itemCount: 0,
      usageBytes: 0,
      fileCounts: { inProgress: 1 },
    });
    const [first] = await store.bareItems(fileId, 1);
    const vectors = [{ itemId: first?.id ?? '', vector: embedWords('a', 16) }];
    expect(await store.saveVectors(hold, vectors, billOf())).toBe(true);
    expect(await textsOf()).toEqual(['a']);
    const usageBytes = 'page 1'.length + 1 + 64;
    expect(await collectionOf()).toMatchObject({ itemCount: 1, usageBytes, lastActiveAt: 500 });
    expect((await store.bareItems(fileId, 10)).map(({ text }) => text)).toEqual(['bb']);
    // The same again changes nothing.
    expect(await store.saveVectors(hold, vectors, billOf())).toBe(true);
    expect(await collectionOf()).toMatchObject({ itemCount: 1, usageBytes });
    expect(await embedAll(fileId)).toBe(true);
    expect(await store.finishFile(hold)).toBe(true);
    expect(await collectionOf()).toMatchObject({ itemCount: 2, fileCounts: { inProgress: 0, completed: 1 } });
    expect(await findFile(place.database, owner, collectionId, fileId)).toMatchObject({
      status: 'completed',
      itemCount: 2,
    });
    expect(await lease('w2', 99_000)).toBeUndefined();
  });

  test('are billed with their vectors, once', async () => {
    const fileId = await add();
    const hold = { fileId, workerId: 'w1' };
    await lease();
    await store.saveChunks(hold, 0, chunks('a'));
    const bill = billOf();
    await embedAll(fileId, 'w1', bill);
    await store.saveVectors(hold, [], bill);
    const rows = await place.database.query('select cost_pico from ledger where id = $1', [bill.id]);
    expect(rows).toHaveLength(1);
    const lost = billOf();
    expect(await embedAll(fileId, 'w2', lost)).toBe(false);
    expect(await place.database.query('select id from ledger where id = $1', [lost.id])).toEqual([]);
  });

  test('of another length than the collection’s are refused, and nothing of them is kept', async () => {
    const fileId = await add();
    const hold = { fileId, workerId: 'w1' };
    await lease();
    await store.saveChunks(hold, 0, chunks('a', 'b'));
    const [first, second] = await store.bareItems(fileId, 2);
    await store.saveVectors(hold, [{ itemId: first?.id ?? '', vector: embedWords('a', 16) }], billOf());
    const bill = billOf();
    const wrong = [{ itemId: second?.id ?? '', vector: embedWords('b', 32) }];
    await expect(store.saveVectors(hold, wrong, bill)).rejects.toThrow('vectors of 16 values');
    expect(await textsOf()).toEqual(['a']);
    expect(await store.bareItems(fileId, 10)).toHaveLength(1);
    expect(await place.database.query('select id from ledger where id = $1', [bill.id])).toEqual([]);
  });
});

test('a file that fails keeps its record and says why; its items and their counts go', async () => {
  const fileId = await add();
  const hold = { fileId, workerId: 'w1' };
  await lease();
  await store.saveChunks(hold, 0, chunks('apple', 'b'));
  await embedAll(fileId);
  expect(await textsOf()).toEqual(['apple', 'b']);
  const lastError = { code: 'invalid_file', message: 'The file is damaged' } as const;
  expect(await store.failFile(hold, lastError)).toBe(true);
  expect(await findFile(place.database, owner, collectionId, fileId)).toMatchObject({
    status: 'failed',
    lastError,
    itemCount: 0,
    usageBytes: 0,
  });
  expect(await collectionOf()).toMatchObject({
    itemCount: 0,
    usageBytes: 0,
    fileCounts: { inProgress: 0, completed: 0, failed: 1 },
  });
  expect(await textsOf()).toEqual([]);
  const number = (await findCollectionRow(place.database, owner, collectionId))?.number ?? 0;
  const query = { collectionNumber: number, vector: embedWords('apple', 16), text: 'apple', limit: 5 };
  expect(await index.search(query)).toEqual([]);
});
