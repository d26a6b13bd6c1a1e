/**
 * The steps of a file from its upload to its end, each one transaction:
 *
 *   in_progress ─ leaseFile ─ saveChunks … ─ markCut ─ (bareItems ─ saveVectors) … ─ finishFile → completed
 *                   giveBack → in_progress                                            failFile → failed
 *
 * A step whose file is not held any more does nothing, and says so. A run that dies leaves its lease, and the next one
 * goes on where it was: chunks that are kept are not kept again, and those that have a vector are not embedded again.
 *
 * Everywhere the file's row is locked before its collection's.
 */
import assert from 'node:assert';
import { createHash } from 'node:crypto';
import type { Database, Sql } from '../../storage/database.ts';
import { skipLocked } from '../../storage/dialect.ts';
import { insertJobRow } from '../billing/index.ts';
import type { BareItem, IngestStore, LeasedFile, LeaseHold } from './ingest/types.ts';
import type { Chunk, IndexedItem, ItemIndex } from './parts.ts';
import { insertRows, sizeOf, toItemNumber } from './store-rows.ts';

export interface IngestStoreParts {
  readonly database: Database;
  readonly index: ItemIndex;
  readonly now: () => number;
}

interface HeldFile {
  readonly number: number;
  readonly collection_no: number;
  readonly chunks_cut: number;
  readonly item_count: number;
  readonly usage_bytes: number;
}

/** With the file's id and the worker's as the first two parameters. */
const isHeld = `id = $1 and lease_owner = $2 and status = 'in_progress'`;

export function createIngestStore({ database, index, now }: IngestStoreParts): IngestStore {
  const { dialect } = database;

  /** The file as it is, and its row held until the transaction ends. */
  async function hold(tx: Sql, { fileId, workerId }: LeaseHold): Promise<HeldFile | undefined> {
    const [file] = await tx.query<HeldFile>(
      `update vector_files set attempt = attempt where ${isHeld}
       returning number, collection_no, chunks_cut, item_count, usage_bytes`,
      [fileId, workerId],
    );
    return file;
  }

  async function addChunks(
    tx: Sql,
    held: LeaseHold,
    from: number,
    chunks: readonly Chunk[],
  ): Promise<boolean> {
    const file = await hold(tx, held);
    if (file === undefined) return false;
    assert(from <= file.chunks_cut, `chunk ${file.chunks_cut} comes before ${from}`);
    const fresh = chunks.slice(file.chunks_cut - from);
    if (fresh.length === 0) return true;
    await tx.query('update vector_files set chunks_cut = $2 where number = $1', [
      file.number,
      file.chunks_cut + fresh.length,
    ]);
    const [collection] = await tx.query<{ next_item: number }>(
      'update vector_collections set next_item = next_item + $2 where number = $1 returning next_item',
      [file.collection_no, fresh.length],
    );
    if (collection === undefined) return false;
    const firstNumber = toItemNumber(file.collection_no, collection.next_item - fresh.length);
    const at = now();
    await insertRows(tx, dialect, {
      into: 'vector_items (number, id, file_no, position, created_at, updated_at, description, text)',
      values: '?, ?, ?, ?, ?, ?, ?, ?',
      rows: fresh.map(({ description, text }, place) => {
        const position = file.chunks_cut + place;
        const id = toItemId(held.fileId, position);
        return [firstNumber + place, id, file.number, position, at, at, description, text];
      }),
    });
    return true;
  }

  type Vectors = Parameters<IngestStore['saveVectors']>[1];

  /** Answers the collection's number. */
  async function addVectors(tx: Sql, held: LeaseHold, vectors: Vectors): Promise<number | undefined> {
    const file = await hold(tx, held);
    if (file === undefined) return undefined;
    const items = await takeBare(tx, file, vectors);
    const dimensions = items[0]?.vector.length;
    if (dimensions === undefined) return file.collection_no;
    const bytes = items.reduce((sum, item) => sum + sizeOf(item, dimensions), 0);
    await tx.query(
      `update vector_files set chunks_embedded = chunks_embedded + $2, item_count = item_count + $2,
         usage_bytes = usage_bytes + $3 where number = $1`,
      [file.number, items.length, bytes],
    );
    const [collection] = await tx.query<{ dimensions: number }>(
      `update vector_collections set item_count = item_count + $2, usage_bytes = usage_bytes + $3,
         version = version + 1, dimensions = coalesce(dimensions, $4), last_active_at = $5 where number = $1
       returning dimensions`,
      [file.collection_no, items.length, bytes, dimensions, now()],
    );
    if (collection === undefined) return undefined;
    if (items.some(({ vector }) => vector.length !== collection.dimensions)) {
      throw new Error(
        `the collection has vectors of ${collection.dimensions} values, these have ${dimensions}`,
      );
    }
    await index.add(tx, items);
    return file.collection_no;
  }

  /** Marks them as items; one that has its vector already, or is gone, is passed over. */
  async function takeBare(tx: Sql, file: HeldFile, vectors: Vectors): Promise<IndexedItem[]> {
    if (vectors.length === 0) return [];
    const byId = new Map(vectors.map(({ itemId, vector }) => [itemId, vector]));
    const parameters = [...byId.keys()].map((_, place) => `$${place + 2}`).join(', ');
    const rows = await tx.query<{ number: number; id: string; description: string; text: string }>(
      `update vector_items set is_ready = 1 where file_no = $1 and is_ready = 0 and id in (${parameters})
       returning number, id, description, text`,
      [file.number, ...byId.keys()],
    );
    return rows.map(({ number, id, description, text }) => ({
      number,
      collectionNumber: file.collection_no,
      fileNumber: file.number,
      description,
      text,
      vector: byId.get(id) as Float32Array,
    }));
  }

  async function countEnd(tx: Sql, collectionNumber: number, status: 'completed' | 'failed'): Promise<void> {
    await tx.query(
      `update vector_collections set files_in_progress = files_in_progress - 1, files_${status} = files_${status} + 1,
         last_active_at = $2 where number = $1`,
      [collectionNumber, now()],
    );
  }

  async function changed(text: string, values: readonly (string | number)[]): Promise<boolean> {
    return (await database.query(`${text} returning id`, values)).length > 0;
  }

  return {
    async waitingSubscriptions(at) {
      const rows = await database.query<{ subscription_id: string }>(
        `select distinct c.subscription_id from vector_collections c where c.files_in_progress > 0 and exists (
           select 1 from vector_files f where f.subscription_id = c.subscription_id and f.status = 'in_progress'
             and f.lease_until <= $1)`,
        [at],
      );
      return rows.map((row) => row.subscription_id);
    },

    async leaseFile({ workerId, subscriptionId, now: at, leaseUntil, maxBytes }) {
      // One that another process is leasing is passed over; one whose collection has gone is nobody's any more.
      const [row] = await database.query<LeaseRow>(
        `update vector_files set attempt = attempt + 1, lease_owner = $3, lease_until = $4 where status = 'in_progress'
           and lease_until <= $2 and number = (
             select f.number from vector_files f where f.subscription_id = $1 and f.status = 'in_progress'
               and f.lease_until <= $2 and (cast($5 as bigint) is null or f.bytes <= $5)
               and exists (select 1 from vector_collections c where c.number = f.collection_no)
             order by f.lease_until, f.number limit 1 ${skipLocked[dialect]})
         returning id, subscription_id, key_id, filename, object_key, chunks_cut, is_cut, attempt,
           (select c.id from vector_collections c where c.number = collection_no) as collection_id,
           (select c.model_id from vector_collections c where c.number = collection_no) as model_id`,
        [subscriptionId, at, workerId, leaseUntil, maxBytes ?? null],
      );
      return row === undefined || row.collection_id === null ? undefined : toLeasedFile(row);
    },

    async renewLeases(workerId, fileIds, leaseUntil) {
      if (fileIds.length === 0) return [];
      const parameters = fileIds.map((_, place) => `$${place + 3}`).join(', ');
      const rows = await database.query<{ id: string }>(
        `update vector_files set lease_until = $2 where lease_owner = $1 and status = 'in_progress'
           and id in (${parameters}) and exists (
             select 1 from vector_collections c where c.number = vector_files.collection_no) returning id`,
        [workerId, leaseUntil, ...fileIds],
      );
      return rows.map(({ id }) => id);
    },

    saveChunks: (held, firstIndex, chunks) =>
      database.transaction((tx) => addChunks(tx, held, firstIndex, chunks)),

    markCut: ({ fileId, workerId }) =>
      changed(`update vector_files set is_cut = 1 where ${isHeld}`, [fileId, workerId]),

    async bareItems(fileId, limit) {
      const rows = await database.query<{ id: string; position: number; description: string; text: string }>(
        `select id, position, description, text from vector_items
         where file_no = (select number from vector_files where id = $1) and is_ready = 0 order by position limit $2`,
        [fileId, limit],
      );
      return rows.map(({ position, ...item }): BareItem => ({ ...item, index: position }));
    },

    async saveVectors(held, vectors, bill) {
      const collectionNumber = await database.transaction(async (tx) => {
        const number = await addVectors(tx, held, vectors);
        if (number !== undefined) await insertJobRow(tx, dialect, bill);
        return number;
      });
      if (collectionNumber !== undefined) void index.grown(collectionNumber);
      return collectionNumber !== undefined;
    },

    finishFile: (held) =>
      database.transaction(async (tx) => {
        const file = await hold(tx, held);
        if (file === undefined) return false;
        await tx.query(
          `update vector_files set status = 'completed', is_cut = 1, lease_owner = null where number = $1`,
          [file.number],
        );
        await countEnd(tx, file.collection_no, 'completed');
        return true;
      }),

    failFile: (held, { code, message }) =>
      database.transaction(async (tx) => {
        const file = await hold(tx, held);
        if (file === undefined) return false;
        await tx.query(
          `update vector_files set status = 'failed', error_code = $2, error_message = $3, lease_owner = null,
             item_count = 0, usage_bytes = 0 where number = $1`,
          [file.number, code, message],
        );
        await countEnd(tx, file.collection_no, 'failed');
        await tx.query(
          `update vector_collections set item_count = item_count - $2, usage_bytes = usage_bytes - $3,
             version = version + 1 where number = $1`,
          [file.collection_no, file.item_count, file.usage_bytes],
        );
        await tx.query('insert into vector_purges (file_no, due_at) values ($1, $2)', [file.number, now()]);
        return true;
      }),

    giveBack: ({ fileId, workerId }, retryAt) =>
      changed(
        `update vector_files set lease_owner = null, lease_until = $3, attempt = attempt - 1 where ${isHeld}`,
        [fileId, workerId, retryAt],
      ),
  };
}

interface LeaseRow {
  id: string;
  subscription_id: string;
  key_id: string;
  filename: string;
  object_key: string;
  chunks_cut: number;
  is_cut: number;
  attempt: number;
  collection_id: string | null;
  model_id: string;
}

function toLeasedFile(row: LeaseRow): LeasedFile {
  return {
    id: row.id,
    collectionId: row.collection_id as string,
    subscriptionId: row.subscription_id,
    keyId: row.key_id,
    modelId: row.model_id,
    filename: row.filename,
    objectKey: row.object_key,
    chunkCount: row.chunks_cut,
    isCut: row.is_cut === 1,
    attempts: row.attempt,
  };
}

/** The same for the same piece, whoever cuts it. */
function toItemId(fileId: string, position: number): string {
  return `item_${createHash('sha256').update(`${fileId} ${position}`).digest('hex').slice(0, 24)}`;
}
