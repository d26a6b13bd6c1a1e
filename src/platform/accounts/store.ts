/** The statements on `subscriptions` and `keys`, one per function. */
import type { Row, Sql } from '../../storage/database.ts';
import type { Key, KeyStatus, PageRequest, Subscription, SubscriptionStatus } from './types.ts';

const subscriptionColumns = 'id, name, status, created_at, closed_at';
const keyColumns = 'id, subscription_id, name, prefix, status, created_at, expires_at, revoked_at';

/** What decides whether a key is valid, read in one statement so that the two states belong together. */
export interface Credential {
  key: Key;
  hash: string;
  subscriptionStatus: SubscriptionStatus;
}

/** Answers undefined when the name is taken. */
export async function insertSubscription(
  sql: Sql,
  subscription: Subscription,
): Promise<Subscription | undefined> {
  const { id, name, status, createdAt, closedAt } = subscription;
  const rows = await sql.query(
    `insert into subscriptions (${subscriptionColumns}) values ($1, $2, $3, $4, $5)
     on conflict (name) do nothing returning ${subscriptionColumns}`,
    [id, name, status, createdAt, closedAt],
  );
  return rows.map(toSubscription)[0];
}

export async function findSubscription(sql: Sql, idOrName: string): Promise<Subscription | undefined> {
  const rows = await sql.query(
    `select ${subscriptionColumns} from subscriptions where id = $1 or name = $1`,
    [idOrName],
  );
  return rows.map(toSubscription)[0];
}

export async function selectSubscriptions(sql: Sql, { after, limit }: PageRequest): Promise<Subscription[]> {
  const rows = await sql.query(
    `select ${subscriptionColumns} from subscriptions
     where cast($1 as text) is null or (created_at, id) > (select created_at, id from subscriptions where id = $1)
     order by created_at, id limit $2`,
    [after ?? null, limit],
  );
  return rows.map(toSubscription);
}

/** Changes nothing, and answers undefined, unless the status still is what the caller read. */
export async function updateSubscriptionStatus(
  sql: Sql,
  { id, status, closedAt }: Subscription,
  was: SubscriptionStatus,
): Promise<Subscription | undefined> {
  const rows = await sql.query(
    `update subscriptions set status = $2, closed_at = $3 where id = $1 and status = $4
     returning ${subscriptionColumns}`,
    [id, status, closedAt, was],
  );
  return rows.map(toSubscription)[0];
}

/** Answers undefined when a key with this secret exists already. */
export async function insertKey(sql: Sql, key: Key, hash: string): Promise<Key | undefined> {
  const { id, subscriptionId, name, prefix, status, createdAt, expiresAt, revokedAt } = key;
  const rows = await sql.query(
    `insert into keys (${keyColumns}, hash) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (hash) do nothing returning ${keyColumns}`,
    [id, subscriptionId, name, prefix, status, createdAt, expiresAt, revokedAt, hash],
  );
  return rows.map(toKey)[0];
}

/** The keys that an id or a visible prefix names: none, one, or several that share the prefix. */
export async function findKeys(sql: Sql, idOrPrefix: string): Promise<Key[]> {
  const rows = await sql.query(`select ${keyColumns} from keys where id = $1 or prefix = $1 limit 2`, [
    idOrPrefix,
  ]);
  return rows.map(toKey);
}

export async function findCredential(sql: Sql, hash: string): Promise<Credential | undefined> {
  const rows = await sql.query(
    `select ${qualified(keyColumns)}, k.hash, s.status as subscription_status
     from keys k join subscriptions s on s.id = k.subscription_id where k.hash = $1`,
    [hash],
  );
  return rows.map((row) => ({
    key: toKey(row),
    hash: row['hash'] as string,
    subscriptionStatus: row['subscription_status'] as SubscriptionStatus,
  }))[0];
}

export async function selectKeys(
  sql: Sql,
  subscriptionId: string | undefined,
  { after, limit }: PageRequest,
): Promise<Key[]> {
  const rows = await sql.query(
    `select ${keyColumns} from keys
     where (cast($1 as text) is null or subscription_id = $1)
       and (cast($2 as text) is null or (created_at, id) > (select created_at, id from keys where id = $2))
     order by created_at, id limit $3`,
    [subscriptionId ?? null, after ?? null, limit],
  );
  return rows.map(toKey);
}

/** Changes nothing, and answers undefined, unless the status still is what the caller read. */
export async function updateKeyStatus(
  sql: Sql,
  { id, status, revokedAt }: Pick<Key, 'id' | 'status' | 'revokedAt'>,
  was: KeyStatus,
): Promise<Key | undefined> {
  const rows = await sql.query(
    `update keys set status = $2, revoked_at = $3 where id = $1 and status = $4 returning ${keyColumns}`,
    [id, status, revokedAt, was],
  );
  return rows.map(toKey)[0];
}

/** Touches the time alone, so that a suspension at the same moment is not undone. Undefined: it is revoked. */
export async function updateKeyExpiry(
  sql: Sql,
  id: string,
  expiresAt: number | null,
): Promise<Key | undefined> {
  const rows = await sql.query(
    `update keys set expires_at = $2 where id = $1 and status <> 'revoked' returning ${keyColumns}`,
    [id, expiresAt],
  );
  return rows.map(toKey)[0];
}

function qualified(columns: string): string {
  return columns.replaceAll(/\w+/g, 'k.$&');
}

function toSubscription(row: Row): Subscription {
  return {
    id: row['id'] as string,
    name: row['name'] as string,
    status: row['status'] as SubscriptionStatus,
    createdAt: row['created_at'] as number,
    closedAt: row['closed_at'] as number | null,
  };
}

function toKey(row: Row): Key {
  return {
    id: row['id'] as string,
    subscriptionId: row['subscription_id'] as string,
    name: row['name'] as string,
    prefix: row['prefix'] as string,
    status: row['status'] as KeyStatus,
    createdAt: row['created_at'] as number,
    expiresAt: row['expires_at'] as number | null,
    revokedAt: row['revoked_at'] as number | null,
  };
}
