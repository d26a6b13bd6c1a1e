/** The statements on `idempotency_keys`. */
import type { Sql } from '../../storage/database.ts';

export interface ClaimRow {
  subscriptionId: string;
  key: string;
  claimId: string;
}

export interface NewClaim extends ClaimRow {
  fingerprint: string;
  now: number;
  leaseUntil: number;
  expiresAt: number;
}

/**
 * One statement, so that of several requests with a key exactly one has it. It takes over what has expired and what a
 * dead process left running.
 */
export async function insertClaim(sql: Sql, claim: NewClaim): Promise<boolean> {
  const { subscriptionId, key, fingerprint, claimId, now, leaseUntil, expiresAt } = claim;
  const taken = await sql.query(
    `insert into idempotency_keys (subscription_id, key, fingerprint, state, claim_id, lease_until, expires_at)
     values ($1, $2, $3, 'running', $4, $5, $6)
     on conflict (subscription_id, key) do update set fingerprint = excluded.fingerprint, state = 'running',
       claim_id = excluded.claim_id, lease_until = excluded.lease_until, expires_at = excluded.expires_at,
       status = null, headers = null, object_key = null
     where idempotency_keys.expires_at <= $7
       or (idempotency_keys.state = 'running' and idempotency_keys.lease_until <= $7)
     returning claim_id`,
    [subscriptionId, key, fingerprint, claimId, leaseUntil, expiresAt, now],
  );
  return taken.length > 0;
}

export interface KeyRow {
  fingerprint: string;
  state: 'running' | 'done';
  status: number;
  headers: string;
  object_key: string;
}

export async function findKey(
  sql: Sql,
  { subscriptionId, key }: { subscriptionId: string; key: string },
): Promise<KeyRow | undefined> {
  const [row] = await sql.query<KeyRow>(
    `select fingerprint, state, status, headers, object_key from idempotency_keys
     where subscription_id = $1 and key = $2`,
    [subscriptionId, key],
  );
  return row;
}

export async function renewLeases(sql: Sql, claims: readonly ClaimRow[], leaseUntil: number): Promise<void> {
  await sql.each(
    `update idempotency_keys set lease_until = $1
     where subscription_id = $2 and key = $3 and claim_id = $4`,
    claims.map(({ subscriptionId, key, claimId }) => [leaseUntil, subscriptionId, key, claimId]),
  );
}

/** False: another one has taken the key over, because this one was thought dead. */
export async function updateDone(
  sql: Sql,
  { subscriptionId, key, claimId }: ClaimRow,
  { status, headers, objectKey }: { status: number; headers: string; objectKey: string },
): Promise<boolean> {
  const updated = await sql.query(
    `update idempotency_keys set state = 'done', status = $1, headers = $2, object_key = $3
     where subscription_id = $4 and key = $5 and claim_id = $6 returning claim_id`,
    [status, headers, objectKey, subscriptionId, key, claimId],
  );
  return updated.length > 0;
}

export async function deleteClaim(sql: Sql, { subscriptionId, key, claimId }: ClaimRow): Promise<void> {
  await sql.query('delete from idempotency_keys where subscription_id = $1 and key = $2 and claim_id = $3', [
    subscriptionId,
    key,
    claimId,
  ]);
}

/** Answers how many there were. */
export async function deleteExpired(sql: Sql, now: number, most: number): Promise<number> {
  const deleted = await sql.query(
    `delete from idempotency_keys where (subscription_id, key) in
       (select subscription_id, key from idempotency_keys where expires_at <= $1 order by expires_at limit $2)
     and expires_at <= $1 returning claim_id`,
    [now, most],
  );
  return deleted.length;
}
