/** The collections of subscriptions: made, read, listed, changed and removed. */
import assert from 'node:assert';
import { createId } from '../../lib/ids.ts';
import type { Sql } from '../../storage/database.ts';
import { type CollectionRow, collectionColumns, selectPage, toCollectionRow } from './store-rows.ts';
import type { Collection, Listing, Page } from './types.ts';

export async function insertCollection(
  sql: Sql,
  subscriptionId: string,
  { name, description, metadata, modelId }: Pick<Collection, 'name' | 'description' | 'metadata' | 'modelId'>,
  now: number,
): Promise<Collection> {
  const [row] = await sql.query(
    `insert into vector_collections (id, subscription_id, model_id, created_at, last_active_at, name, description,
       metadata) values ($1, $2, $3, $4, $4, $5, $6, $7) returning ${collectionColumns}`,
    [createId('vs'), subscriptionId, modelId, now, name, description, JSON.stringify(metadata)],
  );
  assert(row !== undefined, 'an insert answers its row');
  return toCollectionRow(row).collection;
}

export async function findCollectionRow(
  sql: Sql,
  subscriptionId: string,
  id: string,
): Promise<CollectionRow | undefined> {
  const [row] = await sql.query(
    `select ${collectionColumns} from vector_collections where id = $1 and subscription_id = $2`,
    [id, subscriptionId],
  );
  return row === undefined ? undefined : toCollectionRow(row);
}

export async function selectCollections(
  sql: Sql,
  subscriptionId: string,
  listing: Listing,
): Promise<Page<Collection>> {
  const page = await selectPage(
    sql,
    {
      columns: collectionColumns,
      from: 'vector_collections',
      where: 'subscription_id = $1',
      values: [subscriptionId],
      by: 'number',
      cursor: (id) => `select number from vector_collections where subscription_id = $1 and id = ${id}`,
    },
    listing,
  );
  return { ...page, entries: page.entries.map((row) => toCollectionRow(row).collection) };
}

/** What is absent stays. */
export async function updateCollection(
  sql: Sql,
  subscriptionId: string,
  id: string,
  { name, description, metadata }: Partial<Pick<Collection, 'name' | 'description' | 'metadata'>>,
  now: number,
): Promise<Collection | undefined> {
  const [row] = await sql.query(
    `update vector_collections set name = coalesce($3, name), description = coalesce($4, description),
       metadata = coalesce($5, metadata), last_active_at = $6
     where id = $1 and subscription_id = $2 returning ${collectionColumns}`,
    [
      id,
      subscriptionId,
      name ?? null,
      description ?? null,
      metadata === undefined ? null : JSON.stringify(metadata),
      now,
    ],
  );
  return row === undefined ? undefined : toCollectionRow(row).collection;
}

/** Gone for everybody at once. Its files and items follow, a few at a time: see `store-purge.ts`. */
export async function deleteCollection(
  tx: Sql,
  subscriptionId: string,
  id: string,
  now: number,
): Promise<boolean> {
  const [row] = await tx.query<{ number: number }>(
    'delete from vector_collections where id = $1 and subscription_id = $2 returning number',
    [id, subscriptionId],
  );
  if (row === undefined) return false;
  await tx.query('insert into vector_purges (collection_no, due_at) values ($1, $2)', [row.number, now]);
  return true;
}

/** Often enough for people, and not a write for every search. */
const activityMs = 60_000;

export async function touchCollection(
  sql: Sql,
  { number, collection }: CollectionRow,
  now: number,
): Promise<void> {
  if (now - collection.lastActiveAt < activityMs) return;
  await sql.query('update vector_collections set last_active_at = $2 where number = $1', [number, now]);
}
