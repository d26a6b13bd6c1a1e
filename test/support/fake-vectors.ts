/** Collections in memory: files are cut at blank lines as soon as they are added, and found by the words they share. */
import { GatewayError } from '../../src/lib/errors.ts';
import { createId } from '../../src/lib/ids.ts';
import type { Operation } from '../../src/platform/inference/types.ts';
import type {
  Collection,
  CollectionFile,
  Filter,
  Item,
  Listing,
  Page,
  SearchRequest,
  Vectors,
} from '../../src/platform/vectors/types.ts';

export interface FakeVectors extends Vectors {
  /** Thrown by what embeds. */
  failure: GatewayError | undefined;
  /** Files stay `in_progress` and have no items. */
  isReading: boolean;
  readonly searches: { readonly operation: Operation; readonly request: SearchRequest }[];
  readonly reserved: string[];
  /** A file with these texts as its items, without an upload. */
  fill(
    subscriptionId: string,
    collectionId: string,
    filename: string,
    texts: readonly string[],
  ): Promise<Item[]>;
}

type Counted = Omit<Collection, 'itemCount' | 'usageBytes' | 'fileCounts'>;

export function createFakeVectors(read: (key: string) => Promise<Buffer | undefined>): FakeVectors {
  let collections: Counted[] = [];
  let files: CollectionFile[] = [];
  let items: Item[] = [];
  let clock = 1_790_000_000_000;
  const tick = () => {
    clock += 1000;
    return clock;
  };

  function own(subscriptionId: string, id: string): Counted | undefined {
    return collections.find((one) => one.id === id && one.subscriptionId === subscriptionId);
  }
  function counted(collection: Counted): Collection {
    const of = files.filter((file) => file.collectionId === collection.id);
    const count = (status: string) => of.filter((file) => file.status === status).length;
    return {
      ...collection,
      itemCount: items.filter((item) => item.collectionId === collection.id).length,
      usageBytes: of.reduce((sum, file) => sum + file.usageBytes, 0),
      fileCounts: {
        inProgress: count('in_progress'),
        completed: count('completed'),
        failed: count('failed'),
        cancelled: count('cancelled'),
      },
    };
  }
  function file(subscriptionId: string, collectionId: string, id: string): CollectionFile | undefined {
    if (own(subscriptionId, collectionId) === undefined) return undefined;
    return files.find((one) => one.id === id && one.collectionId === collectionId);
  }
  function item(subscriptionId: string, collectionId: string, id: string): Item | undefined {
    if (own(subscriptionId, collectionId) === undefined) return undefined;
    return items.find((one) => one.id === id && one.collectionId === collectionId);
  }

  const fake: FakeVectors = {
    failure: undefined,
    isReading: false,
    searches: [],
    reserved: [],

    async fill(subscriptionId, collectionId, filename, texts) {
      const wanted = texts.join('\n\n');
      const added = await fake.addFile(subscriptionId, collectionId, {
        filename,
        attributes: {},
        objectKey: `text:${wanted}`,
        bytes: Buffer.byteLength(wanted),
        keyId: 'key_1',
      });
      return items.filter((one) => one.fileId === added?.id);
    },

    async createCollection(subscriptionId, asked) {
      const at = tick();
      collections.push({ ...asked, id: createId('vs'), subscriptionId, createdAt: at, lastActiveAt: at });
      return counted(collections.at(-1)!);
    },
    async findCollection(subscriptionId, id) {
      const found = own(subscriptionId, id);
      return found === undefined ? undefined : counted(found);
    },
    async listCollections(subscriptionId, listing) {
      return page(collections.filter((one) => one.subscriptionId === subscriptionId).map(counted), listing);
    },
    async changeCollection(subscriptionId, id, change) {
      const found = own(subscriptionId, id);
      if (found === undefined) return undefined;
      collections = collections.map((one) => (one === found ? { ...found, ...change } : one));
      return fake.findCollection(subscriptionId, id);
    },
    async removeCollection(subscriptionId, id) {
      const found = own(subscriptionId, id);
      collections = collections.filter((one) => one !== found);
      return found !== undefined;
    },

    async reserveUpload() {
      fake.reserved.push(`vectors/${createId('upload')}`);
      return fake.reserved.at(-1) as string;
    },
    async addFile(subscriptionId, collectionId, { filename, attributes, objectKey, bytes }) {
      if (own(subscriptionId, collectionId) === undefined) return undefined;
      const text = objectKey.startsWith('text:') ? objectKey.slice(5) : String(await read(objectKey));
      const texts = fake.isReading ? [] : text.split(/\n\s*\n/).filter((one) => one.trim() !== '');
      const createdAt = tick();
      const added: CollectionFile = {
        id: createId('file'),
        collectionId,
        filename,
        bytes,
        usageBytes: texts.join('').length,
        status: fake.isReading ? 'in_progress' : 'completed',
        lastError: undefined,
        attributes,
        itemCount: texts.length,
        createdAt,
      };
      files.push(added);
      for (const [index, one] of texts.entries()) {
        const place = { index, description: `part ${index + 1}`, text: one, attributes };
        const of = { collectionId, fileId: added.id, filename, createdAt, updatedAt: createdAt };
        items.push({ id: createId('item'), ...of, ...place });
      }
      return added;
    },
    findFile: async (subscriptionId, collectionId, id) => file(subscriptionId, collectionId, id),
    async listFiles(subscriptionId, collectionId, { status, ...listing }) {
      if (own(subscriptionId, collectionId) === undefined) return undefined;
      const of = files.filter((one) => one.collectionId === collectionId);
      return page(status === undefined ? of : of.filter((one) => one.status === status), listing);
    },
    async removeFile(subscriptionId, collectionId, id) {
      const found = file(subscriptionId, collectionId, id);
      if (found === undefined) return false;
      files = files.filter((one) => one !== found);
      items = items.filter((one) => one.fileId !== id);
      return true;
    },

    findItem: async (subscriptionId, collectionId, id) => item(subscriptionId, collectionId, id),
    async listItems(subscriptionId, collectionId, { fileId, ...listing }) {
      if (own(subscriptionId, collectionId) === undefined) return undefined;
      const of = items.filter((one) => one.collectionId === collectionId);
      return page(fileId === undefined ? of : of.filter((one) => one.fileId === fileId), listing);
    },
    async describeItem({ caller }, collectionId, id, description) {
      const found = item(caller.subscriptionId, collectionId, id);
      if (found === undefined) return undefined;
      if (fake.failure !== undefined) throw fake.failure;
      const changed = { ...found, description, updatedAt: tick() };
      items = items.map((one) => (one === found ? changed : one));
      return changed;
    },
    async removeItem(subscriptionId, collectionId, id) {
      const found = item(subscriptionId, collectionId, id);
      items = items.filter((one) => one !== found);
      return found !== undefined;
    },

    async search(operation, collectionId, request) {
      if (own(operation.caller.subscriptionId, collectionId) === undefined) return undefined;
      fake.searches.push({ operation, request });
      if (fake.failure !== undefined) throw fake.failure;
      operation.onRate?.({ limit: 60, remaining: 59, resetMs: 1000 });
      const asked = words(request.text);
      const hits = items
        .filter((one) => one.collectionId === collectionId)
        .filter((one) => request.fileIds?.includes(one.fileId) ?? true)
        .filter((one) => request.filter === undefined || fits(one.attributes, request.filter))
        .map((one) => {
          const own = words(`${one.description} ${one.text}`);
          const shared = [...asked].filter((word) => own.has(word)).length;
          return { item: one, score: shared / Math.max(asked.size, 1) };
        })
        .sort((a, b) => b.score - a.score)
        .slice(0, request.limit);
      return { hits, promptTokens: asked.size, costPicoUsd: 2_000_000n };
    },

    start() {},
    async close() {},
  };
  return fake;
}

function words(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

function fits(attributes: Item['attributes'], filter: Filter): boolean {
  if ('filters' in filter) {
    const each = (one: Filter) => fits(attributes, one);
    return filter.type === 'and' ? filter.filters.every(each) : filter.filters.some(each);
  }
  const own = attributes[filter.key];
  const value = filter.value as string;
  switch (filter.type) {
    case 'eq':
      return own === value;
    case 'ne':
      return own !== value;
    case 'in':
      return (filter.value as readonly unknown[]).includes(own);
    case 'nin':
      return !(filter.value as readonly unknown[]).includes(own);
    default: {
      if (own === undefined) return false;
      if (filter.type === 'gt') return own > value;
      if (filter.type === 'gte') return own >= value;
      return filter.type === 'lt' ? own < value : own <= value;
    }
  }
}

function page<T extends { id: string }>(
  all: readonly T[],
  { limit, order, after, before }: Listing,
): Page<T> {
  const ordered = order === 'asc' ? [...all] : all.toReversed();
  const place = (id: string, name: string) => {
    const at = ordered.findIndex((one) => one.id === id);
    if (at === -1)
      throw new GatewayError('invalid_request', `${name} "${id}" is not in this list`, { param: name });
    return at;
  };
  const start = after === undefined ? 0 : place(after, 'after') + 1;
  const end = before === undefined ? ordered.length : place(before, 'before');
  const between = ordered.slice(start, end);
  const isBackward = before !== undefined && after === undefined;
  const entries = isBackward ? between.slice(-limit) : between.slice(0, limit);
  return { entries, hasMore: between.length > entries.length };
}
