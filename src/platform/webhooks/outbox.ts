/** The statements on `webhook_deliveries`, one per function. */
import type { Database, Sql, SqlValue } from '../../storage/database.ts';
import { skipLocked } from '../../storage/dialect.ts';
import type { Delivery, DeliveryFilter, DeliveryStatus, Ending, WebhookEvent } from './types.ts';

/** What was taken out to be sent. Only who holds the lease may tell how it went. */
export interface Leased {
  readonly id: string;
  readonly lease: string;
  readonly subscriptionId: string;
  readonly url: string;
  readonly host: string;
  readonly body: string;
  /** Made so far. */
  readonly attempts: number;
}

interface DeliveryRow {
  id: string;
  subscription_id: string;
  job_id: string;
  type: string;
  url: string;
  status: DeliveryStatus;
  attempts: number;
  created_at: number;
  next_attempt_at: number | null;
  last_status: number | null;
  last_error: string | null;
  ended_at: number | null;
}

const columns =
  'id, subscription_id, job_id, type, url, status, attempts, created_at, next_attempt_at, last_status, last_error, ended_at';
const endings: readonly Ending[] = ['completed', 'failed', 'cancelled', 'expired'];

/** The body is made here, once: every attempt sends this text. */
export async function insertDelivery(sql: Sql, event: WebhookEvent, now: number): Promise<void> {
  const { subscriptionId, jobId, kind, ending, url, data } = event;
  const type = `${kind}.generation.${ending}`;
  const body = JSON.stringify({ type, created_at: Math.floor(now / 1000), data });
  await sql.query(
    `insert into webhook_deliveries
       (id, subscription_id, job_id, type, url, host, status, attempts, created_at, next_attempt_at, body)
     values ($1, $2, $3, $4, $5, $6, 'waiting', 0, $7, $8, $9) on conflict (id) do nothing`,
    [toDeliveryId(jobId, ending), subscriptionId, jobId, type, url, new URL(url).hostname, now, now, body],
  );
}

export interface Lease {
  readonly lease: string;
  readonly now: number;
  /** From then on it is taken to have died, and the delivery is due again. */
  readonly until: number;
  /** Whose deliveries are left alone. */
  readonly busyHosts: readonly string[];
  readonly busySubscriptions: readonly string[];
}

/** The one that has been due for longest. */
export async function leaseDue(database: Database, request: Lease): Promise<Leased | undefined> {
  const { lease, now, until, busyHosts, busySubscriptions } = request;
  const values: SqlValue[] = [lease, until, now];
  const without = (column: string, names: readonly string[]) => {
    if (names.length === 0) return '';
    return ` and ${column} not in (${names.map((name) => `$${values.push(name)}`).join(', ')})`;
  };
  const [row] = await database.query<DeliveryRow & { host: string; body: string }>(
    `update webhook_deliveries set lease = $1, next_attempt_at = $2
     where id = (
       select id from webhook_deliveries where status = 'waiting' and next_attempt_at <= $3
         ${without('host', busyHosts)}${without('subscription_id', busySubscriptions)}
       order by next_attempt_at, id limit 1 ${skipLocked[database.dialect]}
     )
     returning ${columns}, host, body`,
    values,
  );
  if (row === undefined) return undefined;
  const { id, subscription_id: subscriptionId, url, host, body, attempts } = row;
  return { id, lease, subscriptionId, url, host, body, attempts };
}

/** When the next one is due that is not yet. */
export async function nextDueAt(sql: Sql, now: number): Promise<number | undefined> {
  const [row] = await sql.query<{ next_attempt_at: number }>(
    `select next_attempt_at from webhook_deliveries where status = 'waiting' and next_attempt_at > $1
     order by next_attempt_at limit 1`,
    [now],
  );
  return row?.next_attempt_at;
}

export interface Told {
  readonly status: DeliveryStatus;
  readonly nextAttemptAt: number | undefined;
  readonly lastStatus: number | undefined;
  readonly lastError: string | undefined;
  readonly endedAt: number | undefined;
}

/** Says nothing when the lease was lost meanwhile: somebody else has sent it, or it was begun anew by hand. */
export async function recordAttempt(sql: Sql, { id, lease }: Leased, told: Told): Promise<void> {
  await sql.query(
    `update webhook_deliveries set attempts = attempts + 1, lease = null, status = $3, next_attempt_at = $4,
       last_status = $5, last_error = $6, ended_at = $7
     where id = $1 and lease = $2`,
    [
      id,
      lease,
      told.status,
      told.nextAttemptAt ?? null,
      told.lastStatus ?? null,
      told.lastError ?? null,
      told.endedAt ?? null,
    ],
  );
}

/** An attempt that was broken off by ourselves counts for nothing. */
export async function returnLease(sql: Sql, { id, lease }: Leased, now: number): Promise<void> {
  await sql.query(
    'update webhook_deliveries set lease = null, next_attempt_at = $3 where id = $1 and lease = $2',
    [id, lease, now],
  );
}

export async function restartDelivery(sql: Sql, id: string, now: number): Promise<Delivery | undefined> {
  const rows = await sql.query<DeliveryRow>(
    `update webhook_deliveries set status = 'waiting', attempts = 0, lease = null, next_attempt_at = $2,
       last_status = null, last_error = null, ended_at = null
     where id = $1 returning ${columns}`,
    [id, now],
  );
  return rows.map(toDelivery)[0];
}

export async function selectDeliveries(sql: Sql, filter: DeliveryFilter): Promise<Delivery[]> {
  const { subscriptionId, jobId, status, after, limit } = filter;
  const values: SqlValue[] = [];
  const conditions: string[] = [];
  if (subscriptionId !== undefined) conditions.push(`subscription_id = $${values.push(subscriptionId)}`);
  if (status !== undefined) conditions.push(`status = $${values.push(status)}`);
  if (jobId !== undefined) {
    const ids = endings.map((ending) => `$${values.push(toDeliveryId(jobId, ending))}`);
    conditions.push(`id in (${ids.join(', ')})`);
  }
  if (after !== undefined) {
    const last = `select created_at, id from webhook_deliveries where id = $${values.push(after)}`;
    conditions.push(`(created_at, id) < (${last})`);
  }
  const rows = await sql.query<DeliveryRow>(
    `select ${columns} from webhook_deliveries
     ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
     order by created_at desc, id desc limit $${values.push(limit)}`,
    values,
  );
  return rows.map(toDelivery);
}

export async function findDelivery(
  sql: Sql,
  id: string,
): Promise<(Delivery & { readonly body: string }) | undefined> {
  const [row] = await sql.query<DeliveryRow & { body: string }>(
    `select ${columns}, body from webhook_deliveries where id = $1`,
    [id],
  );
  return row === undefined ? undefined : { ...toDelivery(row), body: row.body };
}

/** Answers how many went. */
export async function deleteEnded(sql: Sql, endedBefore: number, limit: number): Promise<number> {
  const rows = await sql.query(
    `delete from webhook_deliveries where id in (
       select id from webhook_deliveries where ended_at is not null and ended_at <= $1 order by ended_at limit $2
     ) returning id`,
    [endedBefore, limit],
  );
  return rows.length;
}

function toDeliveryId(jobId: string, ending: Ending): string {
  return `${jobId}-${ending}`;
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    subscriptionId: row.subscription_id,
    jobId: row.job_id,
    type: row.type,
    url: row.url,
    status: row.status,
    attempts: row.attempts,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at ?? undefined,
    lastStatus: row.last_status ?? undefined,
    lastError: row.last_error ?? undefined,
    deliveredAt: row.status === 'delivered' ? (row.ended_at ?? undefined) : undefined,
  };
}
