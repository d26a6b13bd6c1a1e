/**
 * The steps of a file from its upload to its end, each one transaction:
 *
 *   in_progress ─ leaseFile ─ saveChunks … ─ finishCutting ─ (pendingChunks ─ saveVectors) … ─ finishFile → completed
 *                                                                              failFile → failed
 *
 * A step that names a token does nothing when the file is no longer the run's own, and says so. A run that dies leaves
 * its lease, and the next one goes on where it was: chunks that are kept are not cut again, and those that have a vector
 * are not embedded again.
 *
 * Everywhere the file's row is locked before its collection's.
 */
import assert from 'node:assert';
import { createId } from '../../lib/ids.ts';
import type { Database, Row, Sql } from '../../storage/database.ts';
import { turnLock } from '../../storage/dialect.ts';
import type { Chunk, FileLease, FileToken, IndexedItem, IngestStore, ItemIndex, PendingChunk } from './parts.ts';
import { waitingChannel } from './store-files.ts';
import { insertRows, sizeOf, toItemNumber } from './store-rows.ts';

export interface IngestStoreParts {
  readonly database: Database;
  readonly index: ItemIndex;
  readonly now: () => number;
}

/** With the file's id, owner and attempt as the first three parameters. */
const isOurs = `id = $1 and lease_owner = $2 and attempt = $3 and status = 'in_progress'`;

const ours = ({ fileId, owner, attempt }: FileToken) => [fileId, owner, attempt] as const;

export function createIngestStore({ database, index, now }: IngestStoreParts): IngestStore {
  const { dialect } = database;

  async function lease(tx: Sql, owner: string, leaseMs: number): Promise<FileLease | undefined> {
    const lock = turnLock[dialect];
    // One after the other: which collection has its turn is a question about many rows.
    if (lock !== undefined) await tx.query(lock, ['vector files']);
    const [row] = await tx.query<Row & { collection_no: number }>(
      `update vector_files set attempt = attempt + 1, lease_owner = $2, lease_until = $3,
         failures = failures + (case when lease_owner is null then 0 else 1 end)
       where number = (
         select f.number from vector_files f where f.status = 'in_progress' and f.lease_until <= $1
           and f.collection_no = (
             select c.number from vector_collections c where c.files_in_progress > 0 and exists (
               select 1 from vector_files d where d.collection_no = c.number and d.status = 'in_progress'
                 and d.lease_until <= $1)
             order by c.leased_at, c.number limit 1)
         order by f.lease_until, f.number limit 1)
       returning id, collection_no, key_id, filename, object_key, bytes, attempt, failures, chunks_cut, is_cut,
         chunks_embedded`,
      [now(), owner, now() + leaseMs],
    );
    if (row === undefined) return undefined;
    // Every lease takes a later turn than the one before, also within a millisecond.
    const [collection] = await tx.query<{ id: string; subscription_id: string; model_id: string }>(
      `update vector_collections set leased_at = (select max(leased_at) from vector_collections
         where files_in_progress > 0) + 1 where number = $1 returning id, subscription_id, model_id`,
      [row.collection_no],
    );
    if (collection === undefined) return undefined;
    return {
      fileId: row['id'] as string,
      owner,
      attempt: row['attempt'] as number,
      collectionId: collection.id,
      subscriptionId: collection.subscription_id,
      keyId: row['key_id'] as string,
      modelId: collection.model_id,
      filename: row['filename'] as string,
      objectKey: row['object_key'] as string,
      bytes: row['bytes'] as number,
      failures: row['failures'] as number,
      chunksCut: row['chunks_cut'] as number,
      isCut: row['is_cut'] === 1,
      chunksEmbedded: row['chunks_embedded'] as number,
    };
  }

  async function addChunks(tx: Sql, token: FileToken, from: number, chunks: readonly Chunk[]): Promise<boolean> {
    // The update holds the row: nobody else can add chunks between it and the insert.
    const [file] = await tx.query<{ number: number; collection_no: number; chunks_cut: number }>(
      `update vector_files set chunks_cut = chunks_cut where ${isOurs} returning number, collection_no, chunks_cut`,
      ours(token),
    );
    if (file === undefined) return false;
    assert(from <= file.chunks_cut, `chunk ${file.chunks_cut} comes before ${from}`);
    const fresh = chunks.slice(file.chunks_cut - from);
    if (fresh.length === 0) return true;
    await tx.query('update vector_files set chunks_cut = $2 where number = $1', [file.number, from + chunks.length]);
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
      rows: fresh.map(({ description, text }, place) => [
        firstNumber + place,
        createId('item'),
        file.number,
        file.chunks_cut + place,
        at,
        at,
        description,
        text,
      ]),
    });
    return true;
  }

  async function addVectors(
    tx: Sql,
    token: FileToken,
    vectors: Parameters<IngestStore['saveVectors']>[1],
  ): Promise<number | undefined> {
    const [file] = await tx.query<{ number: number; collection_no: number }>(
      `update vector_files set chunks_embedded = chunks_embedded where ${isOurs} returning number, collection_no`,
      ours(token),
    );
    if (file === undefined) return undefined;
    const items = await takeWaiting(tx, file, vectors);
    const dimensions = items[0]?.vector.length ?? 0;
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
      [file.collection_no, items.length, bytes, dimensions || null, now()],
    );
    if (collection === undefined) return undefined;
    if (items.some(({ vector }) => vector.length !== collection.dimensions)) {
      throw new Error(`the collection has vectors of ${collection.dimensions} values, these have ${dimensions}`);
    }
    await index.add(tx, items);
    return file.collection_no;
  }

  /** Marks them as items; one that has its vector already, or is gone, is passed over. */
  async function takeWaiting(
    tx: Sql,
    file: { number: number; collection_no: number },
    vectors: Parameters<IngestStore['saveVectors']>[1],
  ): Promise<IndexedItem[]> {
    if (vectors.length === 0) return [];
    const byId = new Map(vectors.map(({ id, vector }) => [id, vector]));
    const parameters = vectors.map((_, place) => `$${place + 2}`).join(', ');
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

  /** The file has come to its end: in its own row and in the counts of its collection. */
  async function end(tx: Sql, fileNumber: number, collectionNumber: number, status: 'completed' | 'failed'): Promise<void> {
    await tx.query(
      `update vector_files set status = '${status}', lease_owner = null where number = $1`,
      [fileNumber],
    );
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
    leaseFile: ({ owner, leaseMs }) => database.transaction((tx) => lease(tx, owner, leaseMs)),

    renewLease: (token, leaseMs) =>
      changed(`update vector_files set lease_until = $4 where ${isOurs}`, [...ours(token), now() + leaseMs]),

    releaseFile: (token, { delayMs, failures }) =>
      changed(
        `update vector_files set lease_owner = null, lease_until = $4, failures = $5 where ${isOurs}`,
        [...ours(token), now() + delayMs, failures],
      ),

    saveChunks: (token, from, chunks) => database.transaction((tx) => addChunks(tx, token, from, chunks)),

    finishCutting: (token) => changed(`update vector_files set is_cut = 1 where ${isOurs}`, ours(token)),

    async pendingChunks({ fileId }, limit) {
      const rows = await database.query<{ id: string; position: number; description: string; text: string }>(
        `select id, position, description, text from vector_items
         where file_no = (select number from vector_files where id = $1) and is_ready = 0 order by position limit $2`,
        [fileId, limit],
      );
      return rows.map(({ id, position, description, text }): PendingChunk => ({ id, index: position, description, text }));
    },

    async saveVectors(token, vectors) {
      const collectionNumber = await database.transaction((tx) => addVectors(tx, token, vectors));
      if (collectionNumber !== undefined) void index.grown(collectionNumber);
      return collectionNumber !== undefined;
    },

    finishFile: (token) =>
      database.transaction(async (tx) => {
        const [file] = await tx.query<{ number: number; collection_no: number }>(
          `update vector_files set error_code = null where ${isOurs} returning number, collection_no`,
          ours(token),
        );
        if (file === undefined) return false;
        await end(tx, file.number, file.collection_no, 'completed');
        return true;
      }),

    failFile: (token, { code, message }) =>
      database.transaction(async (tx) => {
        const [file] = await tx.query<{
          number: number;
          collection_no: number;
          item_count: number;
          usage_bytes: number;
        }>(
          `update vector_files set error_code = $4, error_message = $5 where ${isOurs}
           returning number, collection_no, item_count, usage_bytes`,
          [...ours(token), code, message],
        );
        if (file === undefined) return false;
        await end(tx, file.number, file.collection_no, 'failed');
        await tx.query('update vector_files set item_count = 0, usage_bytes = 0 where number = $1', [file.number]);
        await tx.query(
          `update vector_collections set item_count = item_count - $2, usage_bytes = usage_bytes - $3,
             version = version + 1 where number = $1`,
          [file.collection_no, file.item_count, file.usage_bytes],
        );
        await tx.query('insert into vector_purges (file_no, due_at) values ($1, $2)', [file.number, now()]);
        return true;
      }),

    onWaiting: (listener) => database.listen(waitingChannel, listener, listener),
  };
}
