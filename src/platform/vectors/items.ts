/** The items of a collection: read, listed, described anew and removed. One without a vector is not there yet. */
import type { Database, Sql } from '../../storage/database.ts';
import { findCollectionRow } from './collections.ts';
import type { ItemIndex } from './parts.ts';
import { itemColumns, rangeOf, selectPage, sizeOf, toItem } from './store-rows.ts';
import type { Item, Listing, Page } from './types.ts';

/** An item, and what only its own parts need of it. */
export interface ItemRow {
  readonly number: number;
  readonly item: Item;
}

/** A file that failed has none, also before they are swept up. */
const itemsAndFiles = `vector_items i join vector_files f on f.number = i.file_no and f.status <> 'failed'`;

export async function findItemRow(
  sql: Sql,
  subscriptionId: string,
  collectionId: string,
  id: string,
): Promise<ItemRow | undefined> {
  const [row] = await sql.query(
    `select ${itemColumns} from ${itemsAndFiles} join vector_collections c on c.number = f.collection_no
     where i.id = $1 and i.is_ready = 1 and c.id = $2 and c.subscription_id = $3`,
    [id, collectionId, subscriptionId],
  );
  return row === undefined ? undefined : { number: row['number'] as number, item: toItem(row, collectionId) };
}

export async function selectItems(
  sql: Sql,
  subscriptionId: string,
  collectionId: string,
  listing: Listing & { fileId?: string | undefined },
): Promise<Page<Item> | undefined> {
  const collection = await findCollectionRow(sql, subscriptionId, collectionId);
  if (collection === undefined) return undefined;
  const { fileId } = listing;
  const ofFile = fileId === undefined ? '' : ' and f.id = $3';
  // By the file's places where there is one file, so that the index of its items is read in order.
  const by = fileId === undefined ? 'i.number' : 'i.position';
  const where = `i.number between $1 and $2 and i.is_ready = 1${ofFile}`;
  const page = await selectPage(
    sql,
    {
      columns: itemColumns,
      from: itemsAndFiles,
      where,
      values: [...rangeOf(collection.number), ...(fileId === undefined ? [] : [fileId])],
      by,
      cursor: (id) => `select ${by} as number from ${itemsAndFiles} where ${where} and i.id = ${id}`,
    },
    listing,
  );
  return { ...page, entries: page.entries.map((row) => toItem(row, collectionId)) };
}

/** In the order of the numbers; those that have gone meanwhile are left out. */
export async function selectFound(
  sql: Sql,
  collectionId: string,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Item>> {
  if (numbers.length === 0) return new Map();
  const parameters = numbers.map((_, index) => `$${index + 1}`).join(', ');
  const rows = await sql.query(
    `select ${itemColumns} from ${itemsAndFiles} where i.number in (${parameters}) and i.is_ready = 1`,
    numbers,
  );
  return new Map(rows.map((row) => [row['number'] as number, toItem(row, collectionId)]));
}

interface ItemChange {
  readonly database: Database;
  readonly index: ItemIndex;
  readonly now: number;
}

/** With the vector of the new description. Nothing when the item has gone meanwhile. */
export function changeDescription(
  { database, index, now }: ItemChange,
  { number, item }: ItemRow,
  description: string,
  vector: Float32Array,
): Promise<Item | undefined> {
  return database.transaction(async (tx) => {
    // Holds the row, and tells the description that another change may have given it since the item was read.
    const [row] = await tx.query<{ file_no: number; description: string }>(
      'update vector_items set updated_at = $2 where number = $1 returning file_no, description',
      [number, now],
    );
    if (row === undefined) return undefined;
    await tx.query('update vector_items set description = $2 where number = $1', [number, description]);
    const changed: Item = { ...item, description, updatedAt: now };
    const grownBytes = Buffer.byteLength(description) - Buffer.byteLength(row.description);
    const collectionNumber = await recount(tx, row.file_no, {
      items: 0,
      bytes: grownBytes,
      removals: 0,
      now,
    });
    if (collectionNumber === undefined) return undefined;
    const { file_no: fileNumber } = row;
    await index.change(tx, { number, collectionNumber, fileNumber, description, text: item.text, vector });
    return changed;
  });
}

export function deleteItem(
  { database, index, now }: ItemChange,
  { number }: ItemRow,
  dimensions: number,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [row] = await tx.query<{ file_no: number; description: string; text: string }>(
      'delete from vector_items where number = $1 returning file_no, description, text',
      [number],
    );
    if (row === undefined) return false;
    await index.remove(tx, [number]);
    await recount(tx, row.file_no, { items: -1, bytes: -sizeOf(row, dimensions), removals: 1, now });
    return true;
  });
}

/**
 * The file first and then its collection, as everywhere. Answers the collection's number while both are there; a file
 * that has failed meanwhile counts none of its items any more.
 */
async function recount(
  tx: Sql,
  fileNumber: number,
  { items, bytes, removals, now }: { items: number; bytes: number; removals: number; now: number },
): Promise<number | undefined> {
  const [file] = await tx.query<{ collection_no: number }>(
    `update vector_files set item_count = item_count + $2, usage_bytes = usage_bytes + $3
     where number = $1 and status <> 'failed' returning collection_no`,
    [fileNumber, items, bytes],
  );
  if (file === undefined) return undefined;
  const [collection] = await tx.query<{ number: number }>(
    `update vector_collections set item_count = item_count + $2, usage_bytes = usage_bytes + $3,
       version = version + 1, removals = removals + $4, last_active_at = $5 where number = $1 returning number`,
    [file.collection_no, items, bytes, removals, now],
  );
  return collection?.number;
}
