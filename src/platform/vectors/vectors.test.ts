import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { createVectorHouse, toTestOperation, type VectorHouse } from '../../../test/support/vector-house.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Filter, Listing } from './types.ts';

let place: TestDatabase;
let house: VectorHouse;
beforeAll(async () => {
  place = await createTestDatabase();
  house = await createVectorHouse(place.database);
});
afterAll(async () => {
  await house.close();
  await place.close();
});

const all: Listing = { limit: 100, order: 'asc' };
const ours = 'sub_ours';
const theirs = 'sub_theirs';

async function create(name = 'docs', subscriptionId = ours): Promise<string> {
  const made = await house.vectors.createCollection(subscriptionId, {
    name,
    description: '',
    metadata: { team: 'a' },
    modelId: 'words',
  });
  return made.id;
}

async function find(
  id: string,
  text: string,
  extra: { limit?: number; fileIds?: string[]; filter?: Filter } = {},
) {
  const answer = await house.vectors.search(toTestOperation(ours), id, { text, limit: 10, ...extra });
  return answer?.hits ?? [];
}

const textsOf = (hits: Awaited<ReturnType<typeof find>>) => hits.map(({ item }) => item.text);

/** Until what was deleted has been swept up. */
async function swept(): Promise<void> {
  for (let tries = 0; tries < 6_000; tries++) {
    const rows = await place.database.query(
      'select 1 as one from vector_purges where file_no is not null or collection_no is not null',
    );
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('deletions are not swept up');
}

async function count(table: string): Promise<number> {
  const [row] = await place.database.query<{ count: number }>(`select count(*) as count from ${table}`);
  return row?.count ?? 0;
}

describe('a collection', () => {
  test('[VEC-23] [VEC-24] is made with what was said, and counts nothing', async () => {
    const made = await house.vectors.createCollection(ours, {
      name: 'guides',
      description: 'How to',
      metadata: { team: 'docs' },
      modelId: 'words',
    });
    expect(made).toMatchObject({
      id: expect.stringMatching(/^vs_[0-9a-f]{24}$/),
      subscriptionId: ours,
      name: 'guides',
      description: 'How to',
      metadata: { team: 'docs' },
      modelId: 'words',
      itemCount: 0,
      usageBytes: 0,
      fileCounts: { inProgress: 0, completed: 0, failed: 0, cancelled: 0 },
    });
    expect(await house.vectors.findCollection(ours, made.id)).toEqual(made);
  });

  test('[VEC-26] is changed in what is named and nothing else', async () => {
    const id = await create();
    const changed = await house.vectors.changeCollection(ours, id, { description: 'new' });
    expect(changed).toMatchObject({ name: 'docs', description: 'new', metadata: { team: 'a' } });
    expect(await house.vectors.changeCollection(ours, id, { metadata: {}, name: '' })).toMatchObject({
      name: '',
      description: 'new',
      metadata: {},
    });
  });

  test('[VEC-25] is listed in either order, after and before another one', async () => {
    const owner = 'sub_lists';
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push(await create(name, owner));
    const names = async (listing: Partial<Listing>) => {
      const page = await house.vectors.listCollections(owner, { ...all, ...listing });
      return [page.entries.map(({ name }) => name).join(''), page.hasMore];
    };
    expect(await names({})).toEqual(['abcde', false]);
    expect(await names({ order: 'desc' })).toEqual(['edcba', false]);
    expect(await names({ limit: 2 })).toEqual(['ab', true]);
    expect(await names({ limit: 2, after: ids[1] })).toEqual(['cd', true]);
    expect(await names({ limit: 2, after: ids[2] })).toEqual(['de', false]);
    expect(await names({ order: 'desc', after: ids[2] })).toEqual(['ba', false]);
    expect(await names({ limit: 2, before: ids[3] })).toEqual(['bc', true]);
    expect(await names({ before: ids[2] })).toEqual(['ab', false]);
    expect(await names({ order: 'desc', limit: 1, before: ids[2] })).toEqual(['d', true]);
    expect(await names({ after: ids[0], before: ids[4] })).toEqual(['bcd', false]);
    expect(await names({ after: ids[4] })).toEqual(['', false]);
    for (const name of ['after', 'before']) {
      await expect(house.vectors.listCollections(owner, { ...all, [name]: 'vs_none' })).rejects.toMatchObject(
        {
          kind: 'invalid_request',
          param: name,
        },
      );
    }
    await expect(names({ after: await create('x', theirs) })).rejects.toThrow('is not in this list');
  });

  test('[VEC-27] is gone with its files, items and uploads', async () => {
    const before = [
      await count('vector_files'),
      await count('vector_items'),
      await count('vector_embeddings'),
    ];
    const uploads = house.objects.size;
    const id = await create();
    await house.add(ours, id, ['one', 'two'], {});
    await house.add(ours, id, ['three'], {});
    expect(await house.vectors.removeCollection(ours, id)).toBe(true);
    expect(await house.vectors.findCollection(ours, id)).toBeUndefined();
    expect(await house.vectors.removeCollection(ours, id)).toBe(false);
    await swept();
    expect([
      await count('vector_files'),
      await count('vector_items'),
      await count('vector_embeddings'),
    ]).toEqual(before);
    expect(house.objects.size).toBe(uploads);
  });
});

describe('[AUTH-22] what another subscription has', () => {
  test('does not exist', async () => {
    const { vectors } = house;
    const id = await create();
    const fileId = await house.add(ours, id, ['secret words']);
    const item = (await vectors.listItems(ours, id, all))?.entries[0];
    expect(item).toBeDefined();
    const itemId = item?.id ?? '';
    const operation = toTestOperation(theirs);
    const asked = house.embedded.length;
    const file = { filename: 'b', attributes: {}, objectKey: 'k', bytes: 1, keyId: 'key_1' };
    for (const answer of [
      await vectors.findCollection(theirs, id),
      await vectors.changeCollection(theirs, id, { name: 'mine' }),
      await vectors.addFile(theirs, id, file),
      await vectors.findFile(theirs, id, fileId),
      await vectors.listFiles(theirs, id, all),
      await vectors.findItem(theirs, id, itemId),
      await vectors.listItems(theirs, id, all),
      await vectors.describeItem(operation, id, itemId, 'x'),
      await vectors.search(operation, id, { text: 'secret', limit: 10 }),
    ]) {
      expect(answer).toBeUndefined();
    }
    expect(await vectors.removeFile(theirs, id, fileId)).toBe(false);
    expect(await vectors.removeItem(theirs, id, itemId)).toBe(false);
    expect(await vectors.removeCollection(theirs, id)).toBe(false);
    expect((await vectors.listCollections(theirs, all)).entries.map((one) => one.id)).not.toContain(id);
    expect(house.embedded).toHaveLength(asked);
    expect(await find(id, 'secret')).toHaveLength(1);
  });

  test('is not reached through a collection of one’s own either', async () => {
    const mine = await create('mine', theirs);
    const id = await create();
    const fileId = await house.add(ours, id, ['secret words']);
    const itemId = (await house.vectors.listItems(ours, id, all))?.entries[0]?.id ?? '';
    expect(await house.vectors.findFile(theirs, mine, fileId)).toBeUndefined();
    expect(await house.vectors.findItem(theirs, mine, itemId)).toBeUndefined();
    expect(await house.vectors.removeItem(theirs, mine, itemId)).toBe(false);
    expect((await house.vectors.listItems(theirs, mine, { ...all, fileId }))?.entries).toEqual([]);
  });
});

describe('a file', () => {
  test('[VEC-16] [VEC-28] is counted, listed by status and read back with its attributes', async () => {
    const id = await create();
    const fileId = await house.add(ours, id, ['apple', 'pear'], {
      filename: 'fruit.txt',
      attributes: { year: 2026, ripe: true },
    });
    const file = await house.vectors.findFile(ours, id, fileId);
    const usageBytes = 'apple'.length + 'pear'.length + 2 * 64 * 4;
    expect(file).toMatchObject({
      id: expect.stringMatching(/^file_[0-9a-f]{24}$/),
      collectionId: id,
      filename: 'fruit.txt',
      bytes: 'apple\npear'.length,
      usageBytes,
      status: 'completed',
      attributes: { year: 2026, ripe: true },
      itemCount: 2,
    });
    expect(file?.lastError).toBeUndefined();
    expect(await house.vectors.findCollection(ours, id)).toMatchObject({
      itemCount: 2,
      usageBytes,
      fileCounts: { inProgress: 0, completed: 1, failed: 0, cancelled: 0 },
    });
    const ofStatus = async (status: 'completed' | 'failed') =>
      (await house.vectors.listFiles(ours, id, { ...all, status }))?.entries.map((one) => one.id);
    expect(await ofStatus('completed')).toEqual([fileId]);
    expect(await ofStatus('failed')).toEqual([]);
  });

  test('[VEC-29] takes its items along, and the counts', async () => {
    const id = await create();
    const first = await house.add(ours, id, ['apple tree', 'pear tree']);
    const second = await house.add(ours, id, ['plum tree']);
    expect(textsOf(await find(id, 'tree'))).toHaveLength(3);
    expect(await house.vectors.removeFile(ours, id, first)).toBe(true);
    expect(textsOf(await find(id, 'tree'))).toEqual(['plum tree']);
    expect(await house.vectors.findFile(ours, id, first)).toBeUndefined();
    expect((await house.vectors.listItems(ours, id, all))?.entries.map(({ text }) => text)).toEqual([
      'plum tree',
    ]);
    expect(await house.vectors.findCollection(ours, id)).toMatchObject({
      itemCount: 1,
      usageBytes: 'plum tree'.length + 256,
      fileCounts: { completed: 1 },
    });
    expect(await house.vectors.removeFile(ours, id, first)).toBe(false);
    await swept();
    expect(textsOf(await find(id, 'tree'))).toEqual(['plum tree']);
    expect(house.objects.size).toBeGreaterThan(0);
    expect(await house.vectors.removeFile(ours, id, second)).toBe(true);
    expect(await find(id, 'tree')).toEqual([]);
  });

  test('leaves nothing when its upload never became one', async () => {
    const key = await house.vectors.reserveUpload();
    const rows = await place.database.query('select due_at from vector_purges where object_key = $1', [key]);
    expect(rows).toHaveLength(1);
    const id = await create();
    await house.vectors.addFile(ours, id, {
      filename: 'a',
      attributes: {},
      objectKey: key,
      bytes: 1,
      keyId: 'k',
    });
    expect(
      await place.database.query('select 1 as one from vector_purges where object_key = $1', [key]),
    ).toEqual([]);
  });
});

describe('an item', () => {
  test('[VEC-22] [VEC-30] is read and listed, of all files or of one', async () => {
    const id = await create();
    const first = await house.add(ours, id, ['a', 'b', 'c'], { filename: 'abc.txt', attributes: { n: 1 } });
    await house.add(ours, id, ['d', 'e']);
    const page = await house.vectors.listItems(ours, id, all);
    expect(page?.entries.map(({ text, index }) => text + index)).toEqual(['a0', 'b1', 'c2', 'd0', 'e1']);
    const [item] = page?.entries ?? [];
    expect(item).toMatchObject({
      id: expect.stringMatching(/^item_[0-9a-f]{24}$/),
      collectionId: id,
      fileId: first,
      filename: 'abc.txt',
      description: '',
      attributes: { n: 1 },
    });
    expect(await house.vectors.findItem(ours, id, item?.id ?? '')).toEqual(item);
    const texts = async (listing: Partial<Listing> & { fileId?: string }) => {
      const one = await house.vectors.listItems(ours, id, { ...all, ...listing });
      return [one?.entries.map(({ text }) => text).join(''), one?.hasMore];
    };
    expect(await texts({ fileId: first, order: 'desc' })).toEqual(['cba', false]);
    expect(await texts({ fileId: first, limit: 2, after: item?.id })).toEqual(['bc', false]);
    expect(await texts({ limit: 2, after: page?.entries[2]?.id })).toEqual(['de', false]);
    expect(await texts({ limit: 2, before: page?.entries[3]?.id })).toEqual(['bc', true]);
    expect(await texts({ fileId: 'file_none' })).toEqual(['', false]);
  });

  test('[VEC-17] is found by its new description, which is embedded with the text', async () => {
    const id = await create();
    await house.add(ours, id, ['the engine room', 'the dining car', 'the sleeper']);
    const target = (await house.vectors.listItems(ours, id, all))?.entries[1];
    const before = await house.vectors.findCollection(ours, id);
    const described = await house.vectors.describeItem(
      toTestOperation(ours),
      id,
      target?.id ?? '',
      'zebra lounge',
    );
    expect(described).toMatchObject({ id: target?.id, description: 'zebra lounge', text: 'the dining car' });
    expect(house.embedded.at(-1)).toBe('zebra lounge\n\nthe dining car');
    expect(await house.vectors.findItem(ours, id, target?.id ?? '')).toEqual(described);
    const [best, ...rest] = await find(id, 'zebra lounge');
    expect(best?.item).toEqual(described);
    expect(rest).toHaveLength(2);
    const after = await house.vectors.findCollection(ours, id);
    expect((after?.usageBytes ?? 0) - (before?.usageBytes ?? 0)).toBe('zebra lounge'.length);
    await house.vectors.describeItem(toTestOperation(ours), id, target?.id ?? '', '');
    const scores = await find(id, 'zebra');
    expect(scores.map(({ item }) => item.description)).toEqual(['', '', '']);
  });

  test('[VEC-20] leaves search, the list and the counts when it is deleted', async () => {
    const id = await create();
    const fileId = await house.add(ours, id, ['red fox', 'grey fox']);
    const [hit] = await find(id, 'red fox');
    expect(hit?.item.text).toBe('red fox');
    expect(await house.vectors.removeItem(ours, id, hit?.item.id ?? '')).toBe(true);
    expect(textsOf(await find(id, 'red fox'))).toEqual(['grey fox']);
    expect(await house.vectors.findFile(ours, id, fileId)).toMatchObject({
      itemCount: 1,
      usageBytes: 8 + 256,
    });
    expect(await house.vectors.findCollection(ours, id)).toMatchObject({ itemCount: 1, usageBytes: 8 + 256 });
    expect(await house.vectors.removeItem(ours, id, hit?.item.id ?? '')).toBe(false);
  });
});

describe('a search', () => {
  let id: string;
  let fruit: string;
  beforeAll(async () => {
    id = await create('search');
    fruit = await house.add(
      ours,
      id,
      ['the apple falls far from the tree', 'a pear and an apple', 'plum jam'],
      {
        attributes: { kind: 'fruit', year: 2024, fresh: true },
      },
    );
    await house.add(ours, id, ['the engine pulls the train', 'steam and coal', 'apple green engine'], {
      attributes: { kind: 'rail', year: 2026, fresh: false },
    });
    await house.add(ours, id, ['nothing of note'], {});
  });

  test('[VEC-5] answers best first, with scores from 0 to 1 that fall with the order', async () => {
    const hits = await find(id, 'plum jam');
    expect(hits[0]?.item.text).toBe('plum jam');
    expect(hits[0]?.score).toBe(1);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((one, other) => other - one));
    expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
  });

  test('puts the model’s query instruction before the question, and tells what it cost', async () => {
    const answer = await house.vectors.search(toTestOperation(ours), id, { text: 'steam', limit: 1 });
    expect(house.embedded.at(-1)).toBe('find: steam');
    expect(answer).toMatchObject({
      promptTokens: 1,
      costPicoUsd: 5n,
      hits: [{ item: { text: 'steam and coal' } }],
    });
  });

  test('[VEC-7] gives no more than were asked for', async () => {
    expect(await find(id, 'apple', { limit: 2 })).toHaveLength(2);
    expect(await find(id, 'apple', { limit: 50 })).toHaveLength(7);
  });

  test('looks only into the files that are named', async () => {
    const texts = textsOf(await find(id, 'apple engine', { fileIds: [fruit] }));
    expect(texts).toHaveLength(3);
    expect(texts).not.toContain('apple green engine');
    expect(await find(id, 'apple', { fileIds: [] })).toEqual([]);
    expect(await find(id, 'apple', { fileIds: ['file_none'] })).toEqual([]);
  });

  const cases: [Filter, number][] = [
    [{ type: 'eq', key: 'kind', value: 'rail' }, 3],
    [{ type: 'ne', key: 'kind', value: 'rail' }, 4],
    [{ type: 'eq', key: 'year', value: 2024 }, 3],
    [{ type: 'eq', key: 'year', value: '2024' }, 0],
    [{ type: 'gt', key: 'year', value: 2024 }, 3],
    [{ type: 'gte', key: 'year', value: 2024 }, 6],
    [{ type: 'lt', key: 'year', value: 2025.5 }, 3],
    [{ type: 'lte', key: 'year', value: 2023 }, 0],
    [{ type: 'gt', key: 'kind', value: 'g' }, 3],
    [{ type: 'gt', key: 'kind', value: 5 }, 0],
    [{ type: 'eq', key: 'fresh', value: true }, 3],
    [{ type: 'ne', key: 'fresh', value: true }, 4],
    [{ type: 'in', key: 'kind', value: ['rail', 'fruit'] }, 6],
    [{ type: 'in', key: 'year', value: [2024] }, 3],
    [{ type: 'in', key: 'kind', value: [] }, 0],
    [{ type: 'nin', key: 'kind', value: ['rail'] }, 4],
    [{ type: 'nin', key: 'kind', value: [] }, 7],
    [
      {
        type: 'and',
        filters: [
          { type: 'eq', key: 'kind', value: 'rail' },
          { type: 'lt', key: 'year', value: 2026 },
        ],
      },
      0,
    ],
    [
      {
        type: 'or',
        filters: [
          { type: 'eq', key: 'kind', value: 'rail' },
          { type: 'lt', key: 'year', value: 2026 },
        ],
      },
      6,
    ],
    [{ type: 'and', filters: [] }, 7],
    [{ type: 'or', filters: [] }, 0],
    [{ type: 'eq', key: `kind' or 1=1 --`, value: `'; drop table vector_files; --` }, 0],
    [{ type: 'eq', key: '$.kind', value: 'rail' }, 0],
  ];
  test.each(cases)('filters by attributes: %j', async (filter, expected) => {
    expect(await find(id, 'apple engine tree', { filter, limit: 50 })).toHaveLength(expected);
  });

  test.each([
    { type: 'gt', key: 'fresh', value: true },
    { type: 'eq', key: 'kind', value: ['a'] },
    { type: 'in', key: 'kind', value: 'a' },
    { type: 'or', filters: Array.from({ length: 201 }, () => ({ type: 'eq', key: 'a', value: 1 })) },
  ] as Filter[])('refuses a filter that says nothing: %#', async (filter) => {
    await expect(find(id, 'apple', { filter })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'filters',
    });
  });

  test.each([
    '"unbalanced',
    `it's OR NOT (x AND`,
    'a* b^2 col:text NEAR(a b)',
    `'); drop table vector_items; --`,
    '& | ! <-> :*',
    '日本語 Ünïcode',
    '🙂',
    'the of and',
    '\\',
    'a\u0301',
  ])('takes any text as words and never as syntax: %s', async (text) => {
    expect(await find(id, text)).toHaveLength(7);
  });

  test('finds a rare word that vectors know nothing of', async () => {
    const other = await create('words');
    const lines = Array.from({ length: 300 }, (_, index) => `common sentence about trains number ${index}`);
    await house.add(ours, other, [...lines, 'common sentence about trains with xyzzy42 inside']);
    const [best] = await find(other, 'what about the xyzzy42 sentence');
    expect(best?.item.text).toContain('xyzzy42');
  });

  test('[VEC-9] [VEC-10] tells a failed embedding from one that is not available', async () => {
    const kindOf = (error: GatewayError) => {
      house.failWith = error;
      return find(id, 'apple').then(
        () => 'found',
        (failure: GatewayError) => failure.kind,
      );
    };
    try {
      expect(await kindOf(new GatewayError('unreachable', 'no'))).toBe('unreachable');
      expect(await kindOf(new GatewayError('timeout', 'no'))).toBe('unreachable');
      expect(await kindOf(new GatewayError('internal', 'no'))).toBe('unreachable');
      expect(await kindOf(new GatewayError('overloaded', 'no', { retryAfterSeconds: 3 }))).toBe('overloaded');
      expect(await kindOf(new GatewayError('rate_limited', 'no'))).toBe('rate_limited');
      house.failWith = undefined;
      house.isModelGone = true;
      await expect(find(id, 'apple')).rejects.toMatchObject({ kind: 'overloaded' });
    } finally {
      house.failWith = undefined;
      house.isModelGone = false;
    }
  });

  test('in an empty collection finds nothing', async () => {
    expect(await find(await create('empty'), 'apple')).toEqual([]);
  });
});
