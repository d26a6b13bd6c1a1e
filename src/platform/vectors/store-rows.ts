/** Rows of the tables as the records that the platform knows, the numbers that tie the tables together, and pages. */
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import type { Database, Row, Sql, SqlValue } from '../../storage/database.ts';
import type { Attributes, Collection, CollectionFile, FileStatus, Item, Listing, Page } from './types.ts';

/** The numbers of a collection's items are one range. 2^26 collections of 2^27 items each fit a safe integer. */
const itemsPerCollection = 2 ** 27;

export function toItemNumber(collectionNumber: number, own: number): number {
  return collectionNumber * itemsPerCollection + own;
}

/** Both ends included. */
export function rangeOf(collectionNumber: number): [first: number, last: number] {
  return [toItemNumber(collectionNumber, 0), toItemNumber(collectionNumber + 1, -1)];
}

export function toCollectionNumber(itemNumber: number): number {
  return Math.floor(itemNumber / itemsPerCollection);
}

/** A collection, and what only its own parts need of it. */
export interface CollectionRow {
  readonly number: number;
  readonly dimensions: number | undefined;
  readonly collection: Collection;
}

export const collectionColumns = `number, id, subscription_id, model_id, created_at, last_active_at, item_count,
  usage_bytes, files_in_progress, files_completed, files_failed, files_cancelled, dimensions, name, description, metadata`;

export function toCollectionRow(row: Row): CollectionRow {
  const number = (name: string) => row[name] as number;
  const text = (name: string) => row[name] as string;
  return {
    number: number('number'),
    dimensions: (row['dimensions'] as number | null) ?? undefined,
    collection: {
      id: text('id'),
      subscriptionId: text('subscription_id'),
      name: text('name'),
      description: text('description'),
      metadata: JSON.parse(text('metadata')) as Record<string, string>,
      modelId: text('model_id'),
      createdAt: number('created_at'),
      lastActiveAt: number('last_active_at'),
      usageBytes: number('usage_bytes'),
      itemCount: number('item_count'),
      fileCounts: {
        inProgress: number('files_in_progress'),
        completed: number('files_completed'),
        failed: number('files_failed'),
        cancelled: number('files_cancelled'),
      },
    },
  };
}

/** Of `f`. */
export const fileColumns = `f.number, f.id, f.status, f.created_at, f.bytes, f.usage_bytes, f.item_count, f.error_code,
  f.error_message, f.filename, cast(f.attributes as text) as attributes`;

export function toFile(row: Row, collectionId: string): CollectionFile {
  const code = row['error_code'] as NonNullable<CollectionFile['lastError']>['code'] | null;
  return {
    id: row['id'] as string,
    collectionId,
    filename: row['filename'] as string,
    bytes: row['bytes'] as number,
    usageBytes: row['usage_bytes'] as number,
    status: row['status'] as FileStatus,
    lastError: code === null ? undefined : { code, message: row['error_message'] as string },
    attributes: JSON.parse(row['attributes'] as string) as Attributes,
    itemCount: row['item_count'] as number,
    createdAt: row['created_at'] as number,
  };
}

/** Of `i` and its file `f`. */
export const itemColumns = `i.number, i.id, f.id as file_id, f.filename, i.position, i.description, i.text, i.created_at,
  i.updated_at, cast(f.attributes as text) as attributes`;

export function toItem(row: Row, collectionId: string): Item {
  return {
    id: row['id'] as string,
    collectionId,
    fileId: row['file_id'] as string,
    filename: row['filename'] as string,
    index: row['position'] as number,
    description: row['description'] as string,
    text: row['text'] as string,
    attributes: JSON.parse(row['attributes'] as string) as Attributes,
    createdAt: row['created_at'] as number,
    updatedAt: row['updated_at'] as number,
  };
}

export interface PageQuery {
  readonly columns: string;
  readonly from: string;
  /** With the parameters of `values`. */
  readonly where: string;
  readonly values: readonly SqlValue[];
  /** The column that orders the list, and how the number of a cursor's record is found: with the id as the next parameter. */
  readonly by: string;
  readonly cursor: (parameter: string) => string;
}

/**
 * A stretch of a list. After `after`, before `before`, or between both; with `before` alone the stretch that ends there.
 * A cursor that is not in the list is a mistake of the client: an empty page would look like the end.
 */
export async function selectPage(
  sql: Sql,
  { columns, from, where, values, by, cursor }: PageQuery,
  { limit, order, after, before }: Listing,
): Promise<Page<Row>> {
  const bounds: string[] = [];
  const bound: SqlValue[] = [...values];
  for (const [name, id, beyond] of [
    ['after', after, order === 'asc' ? '>' : '<'],
    ['before', before, order === 'asc' ? '<' : '>'],
  ] as const) {
    if (id === undefined) continue;
    const [row] = await sql.query<{ number: number }>(cursor(`$${values.length + 1}`), [...values, id]);
    if (row === undefined)
      throw new GatewayError('invalid_request', `${name} ${quoted(id)} is not in this list`, { param: name });
    bound.push(row.number);
    bounds.push(`and ${by} ${beyond} $${bound.length}`);
  }
  const isBackward = before !== undefined && after === undefined;
  const direction = (order === 'asc') === isBackward ? 'desc' : 'asc';
  const rows = await sql.query(
    `select ${columns} from ${from} where ${where} ${bounds.join(' ')}
     order by ${by} ${direction} limit $${bound.length + 1}`,
    [...bound, limit + 1],
  );
  const entries = rows.slice(0, limit);
  return { entries: isBackward ? entries.reverse() : entries, hasMore: rows.length > limit };
}

/** How many rows one statement brings to PostgreSQL. */
const rowsPerStatement = 100;

/**
 * Many rows at once, the fastest way of each database: SQLite runs a statement for each, PostgreSQL one for many.
 * `values` are those of one row as SQL, with `?` for each parameter.
 */
export async function insertRows(
  sql: Sql,
  dialect: Database['dialect'],
  { into, values, rows }: { into: string; values: string; rows: readonly (readonly SqlValue[])[] },
): Promise<void> {
  if (rows.length === 0) return;
  if (dialect === 'sqlite') {
    let parameter = 0;
    await sql.each(`insert into ${into} values (${values.replaceAll('?', () => `$${++parameter}`)})`, rows);
    return;
  }
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    const part = rows.slice(start, start + rowsPerStatement);
    let parameter = 0;
    const lists = part.map(() => `(${values.replaceAll('?', () => `$${++parameter}`)})`);
    await sql.query(`insert into ${into} values ${lists.join(', ')}`, part.flat());
  }
}

/** `$1, $2, …` for a list. */
export function parametersOf(values: readonly unknown[], from = 1): string {
  return values.map((_, place) => `$${from + place}`).join(', ');
}

export function toBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** What an item takes: its texts and its vector. */
export function sizeOf(
  { description, text }: { description: string; text: string },
  dimensions: number,
): number {
  return Buffer.byteLength(description) + Buffer.byteLength(text) + dimensions * 4;
}
