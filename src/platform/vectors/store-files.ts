/** The files of a collection: added, read, listed and removed. Reading them is in `store-ingest.ts`. */
import assert from 'node:assert';
import { createId } from '../../lib/ids.ts';
import type { Sql } from '../../storage/database.ts';
import { findCollectionRow } from './collections.ts';
import { fileColumns, selectPage, toFile } from './store-rows.ts';
import type { CollectionFile, FileStatus, Listing, NewFile, Page } from './types.ts';

/** Told when a file waits to be read. */
export const waitingChannel = 'vector_files';

export async function insertFile(
  tx: Sql,
  subscriptionId: string,
  collectionId: string,
  { filename, attributes, objectKey, bytes, keyId }: NewFile,
  now: number,
): Promise<CollectionFile | undefined> {
  const [collection] = await tx.query<{ number: number }>(
    `update vector_collections set files_in_progress = files_in_progress + 1, last_active_at = $3
     where id = $1 and subscription_id = $2 returning number`,
    [collectionId, subscriptionId, now],
  );
  if (collection === undefined) return undefined;
  const [row] = await tx.query(
    `insert into vector_files (id, collection_no, subscription_id, status, created_at, bytes, lease_until, key_id,
       object_key, filename, attributes) values ($1, $2, $3, 'in_progress', $4, $5, $4, $6, $7, $8, $9)
     returning ${fileColumns.replaceAll('f.', '')}`,
    [
      createId('file'),
      collection.number,
      subscriptionId,
      now,
      bytes,
      keyId,
      objectKey,
      filename,
      JSON.stringify(attributes),
    ],
  );
  assert(row !== undefined, 'an insert answers its row');
  // From here on the upload belongs to the file.
  await tx.query('delete from vector_purges where object_key = $1 and file_no is null', [objectKey]);
  await tx.notify(waitingChannel, '');
  return toFile(row, collectionId);
}

export async function findFile(
  sql: Sql,
  subscriptionId: string,
  collectionId: string,
  id: string,
): Promise<CollectionFile | undefined> {
  const [row] = await sql.query(
    `select ${fileColumns} from vector_files f join vector_collections c on c.number = f.collection_no
     where f.id = $1 and c.id = $2 and c.subscription_id = $3`,
    [id, collectionId, subscriptionId],
  );
  return row === undefined ? undefined : toFile(row, collectionId);
}

export async function selectFiles(
  sql: Sql,
  subscriptionId: string,
  collectionId: string,
  listing: Listing & { status?: FileStatus | undefined },
): Promise<Page<CollectionFile> | undefined> {
  const collection = await findCollectionRow(sql, subscriptionId, collectionId);
  if (collection === undefined) return undefined;
  const { status } = listing;
  const page = await selectPage(
    sql,
    {
      columns: fileColumns,
      from: 'vector_files f',
      where: `f.collection_no = $1${status === undefined ? '' : ' and f.status = $2'}`,
      values: status === undefined ? [collection.number] : [collection.number, status],
      by: 'f.number',
      // The cursor may have changed its status since it was listed.
      cursor: (id) =>
        status === undefined
          ? `select number from vector_files where collection_no = $1 and id = ${id}`
          : `select number from vector_files where collection_no = $1 and $2 <> '' and id = ${id}`,
    },
    listing,
  );
  return { ...page, entries: page.entries.map((row) => toFile(row, collectionId)) };
}

/** Gone for everybody at once, with its items. What it leaves in the tables is swept up: see `store-purge.ts`. */
export async function deleteFile(
  tx: Sql,
  subscriptionId: string,
  collectionId: string,
  id: string,
  now: number,
): Promise<boolean> {
  // The file first and then its collection, as everywhere: two that wait for each other would wait for ever.
  const [file] = await tx.query<{
    number: number;
    collection_no: number;
    status: FileStatus;
    item_count: number;
    usage_bytes: number;
    object_key: string;
  }>(
    `delete from vector_files where id = $1 and collection_no = (
       select number from vector_collections where id = $2 and subscription_id = $3)
     returning number, collection_no, status, item_count, usage_bytes, object_key`,
    [id, collectionId, subscriptionId],
  );
  if (file === undefined) return false;
  await tx.query(
    `update vector_collections set files_${file.status} = files_${file.status} - 1, item_count = item_count - $2,
       usage_bytes = usage_bytes - $3, version = version + 1, last_active_at = $4 where number = $1`,
    [file.collection_no, file.item_count, file.usage_bytes, now],
  );
  await tx.query('insert into vector_purges (file_no, object_key, due_at) values ($1, $2, $3)', [
    file.number,
    file.object_key,
    now,
  ]);
  return true;
}
