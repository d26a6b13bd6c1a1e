/**
 * The statements on `jobs`, one per function. Every change of state is one update whose `where` names the states it
 * may come from, so of two that meet one finds nothing: on PostgreSQL the second waits for the first one's row and
 * then looks at the `where` again; on SQLite they come one after the other.
 */
import type { Database, Row, Sql } from '../../storage/database.ts';
import { skipLocked, turnLock } from '../../storage/dialect.ts';
import { columns, columnsAndPosition, type Lease, toJob, toLease } from './row.ts';
import type { Job, JobErrorCode, JobFilter, JobKindName, JobListing, JobOutput, JobStatus } from './types.ts';

type Dialect = Database['dialect'];

/** A run's proof that the job is its own. The attempt never falls, so no earlier run can have the same. */
export interface Token {
  readonly id: string;
  readonly workerId: string;
  readonly attempt: number;
}

const isOurs = `id = $1 and lease_owner = $2 and attempt = $3 and status = 'in_progress'`;
/** A record past its time is gone for everybody, also before the sweep comes. Only completed ones expire first. */
const isThere = (now: string) => `(status = 'completed' or due_at is null or due_at > ${now})`;

export interface InsertedJob {
  readonly id: string;
  readonly kind: JobKindName;
  readonly subscriptionId: string;
  readonly keyId: string;
  readonly modelId: string;
  readonly createdAt: number;
  readonly expectedMs: number;
  readonly billedSeconds: number;
  readonly pricePicoUsd: bigint | undefined;
  readonly callbackUrl: string | undefined;
  readonly baseUrl: string;
  readonly request: unknown;
  readonly inputKeys: readonly string[];
}

export async function insertJob(sql: Sql, job: InsertedJob): Promise<void> {
  await sql.query(
    `insert into jobs (id, kind, subscription_id, key_id, model_id, status, created_at, attempt, failures, progress,
       expected_ms, billed_seconds, cost_pico, callback_url, base_url, tried, request, input_keys, outputs)
     values ($1, $2, $3, $4, $5, 'pending', $6, 0, 0, 0, $7, $8, $9, $10, $11, '[]', $12, $13, '[]')`,
    [
      job.id,
      job.kind,
      job.subscriptionId,
      job.keyId,
      job.modelId,
      job.createdAt,
      Math.max(1, Math.round(job.expectedMs)),
      job.billedSeconds,
      job.pricePicoUsd ?? null,
      job.callbackUrl ?? null,
      job.baseUrl,
      JSON.stringify(job.request),
      JSON.stringify(job.inputKeys),
    ],
  );
}

export async function findJob(
  sql: Sql,
  id: string,
  { kind, subscriptionId }: JobFilter,
  now: number,
): Promise<Job | undefined> {
  const [row] = await sql.query(
    `select ${columnsAndPosition} from jobs where id = $1 and ${isThere('$2')}
       and (cast($3 as text) is null or kind = $3) and (cast($4 as text) is null or subscription_id = $4)`,
    [id, now, kind ?? null, subscriptionId ?? null],
  );
  return row === undefined ? undefined : toJob(row, now);
}

/** One more than the limit, where there is one. */
export async function selectJobs(
  sql: Sql,
  { kind, subscriptionId, modelId, status }: JobFilter,
  { after, limit, order }: JobListing,
  now: number,
): Promise<Job[]> {
  const [comparison, direction] = order === 'asc' ? ['>', 'asc'] : ['<', 'desc'];
  const rows = await sql.query(
    `select ${columnsAndPosition} from jobs where ${isThere('$1')}
       and (cast($2 as text) is null or kind = $2) and (cast($3 as text) is null or subscription_id = $3)
       and (cast($4 as text) is null or model_id = $4) and (cast($5 as text) is null or status = $5)
       and (cast($6 as text) is null or (created_at, id) ${comparison} (select created_at, id from jobs where id = $6
         and (cast($3 as text) is null or subscription_id = $3)))
     order by created_at ${direction}, id ${direction} limit $7`,
    [now, kind ?? null, subscriptionId ?? null, modelId ?? null, status ?? null, after ?? null, limit + 1],
  );
  return rows.map((row) => toJob(row, now));
}

/** The models that somebody waits for. */
export async function selectWaitingModels(sql: Sql): Promise<{ kind: JobKindName; modelId: string }[]> {
  const rows = await sql.query<{ kind: JobKindName; model_id: string }>(
    `select distinct kind, model_id from jobs where status = 'pending'`,
  );
  return rows.map(({ kind, model_id }) => ({ kind, modelId: model_id }));
}

/** The inputs of the one that is first in its model's line. */
export async function findHead(
  sql: Sql,
  modelId: string,
): Promise<{ id: string; inputKeys: string[] } | undefined> {
  const [row] = await sql.query<{ id: string; input_keys: string }>(
    `select id, input_keys from jobs where status = 'pending' and model_id = $1 order by created_at, id limit 1`,
    [modelId],
  );
  return row === undefined ? undefined : { id: row.id, inputKeys: JSON.parse(row.input_keys) as string[] };
}

export interface Claim {
  readonly workerId: string;
  readonly now: number;
  readonly leaseUntil: number;
}

/** First of two steps of a claim: processes claim one model's jobs one after the other, since they count its slots. */
export async function takeTurn(tx: Sql, dialect: Dialect, modelId: string): Promise<void> {
  const lock = turnLock[dialect];
  if (lock !== undefined) await tx.query(lock, [`jobs of ${modelId}`]);
}

/**
 * Starts the first job in a model's line when one of the model's slots is free. After `takeTurn`: nobody else can start
 * one meanwhile, and one that ends only makes room. A job that is being cancelled is passed over, not waited for.
 */
export async function claimPending(
  tx: Sql,
  dialect: Dialect,
  { modelId, slots, workerId, now, leaseUntil }: Claim & { modelId: string; slots: number },
): Promise<Lease | undefined> {
  const [row] = await tx.query(
    `update jobs set status = 'in_progress', started_at = $3, attempt = attempt + 1, lease_owner = $4, lease_until = $5
     where status = 'pending' and id = (
         select id from jobs where status = 'pending' and model_id = $1 order by created_at, id limit 1
         ${skipLocked[dialect]})
       and (select count(*) from jobs where status = 'in_progress' and model_id = $1) < $2
     returning ${columns}`,
    [modelId, slots, now, workerId, leaseUntil],
  );
  return row === undefined ? undefined : toLease(row, now);
}

/**
 * Takes over a job whose lease is over: with an owner, that process died and has failed it; without one, it was given
 * back or waits for its next attempt. It keeps its slot. One that is being changed is passed over: it is not abandoned.
 */
export async function claimAbandoned(
  sql: Sql,
  dialect: Dialect,
  { kinds, workerId, now, leaseUntil }: Claim & { kinds: readonly JobKindName[] },
): Promise<Lease | undefined> {
  const [row] = await sql.query(
    `update jobs set attempt = attempt + 1, failures = failures + (case when lease_owner is null then 0 else 1 end),
       lease_owner = $2, lease_until = $3
     where status = 'in_progress' and lease_until <= $1 and id = (
         select id from jobs where status = 'in_progress' and lease_until <= $1
           and kind in (${kinds.map((_, index) => `$${index + 4}`).join(', ')})
         order by lease_until, id limit 1 ${skipLocked[dialect]})
     returning ${columns}`,
    [now, workerId, leaseUntil, ...kinds],
  );
  return row === undefined ? undefined : toLease(row, now);
}

/** Whether it is still ours. Progress only rises. */
export async function renewLease(
  sql: Sql,
  { id, workerId, attempt }: Token,
  { leaseUntil, told }: { leaseUntil: number; told: number },
): Promise<boolean> {
  const rows = await sql.query(
    `update jobs set lease_until = $4, progress = case when progress < $5 then $5 else progress end
     where ${isOurs} returning id`,
    [id, workerId, attempt, leaseUntil, told],
  );
  return rows.length > 0;
}

export async function keepNote(
  sql: Sql,
  { id, workerId, attempt }: Token,
  note: { text: string; engine: string },
): Promise<boolean> {
  const rows = await sql.query(`update jobs set note = $4, note_engine = $5 where ${isOurs} returning id`, [
    id,
    workerId,
    attempt,
    note.text,
    note.engine,
  ]);
  return rows.length > 0;
}

/** Lets go of it: it stays in_progress and keeps its slot, and is anybody's from `notBefore` on. */
export async function releaseLease(
  sql: Sql,
  { id, workerId, attempt }: Token,
  left: {
    notBefore: number;
    failures: number;
    told: number;
    tried: readonly string[];
    keepsNote: boolean;
  },
): Promise<boolean> {
  const rows = await sql.query(
    `update jobs set lease_owner = null, lease_until = $4, failures = $5, tried = $6,
       progress = case when progress < $7 then $7 else progress end,
       note = case when $8 = 1 then note else null end
     where ${isOurs} returning id`,
    [
      id,
      workerId,
      attempt,
      left.notBefore,
      left.failures,
      JSON.stringify(left.tried),
      left.told,
      left.keepsNote ? 1 : 0,
    ],
  );
  return rows.length > 0;
}

export async function completeJob(
  tx: Sql,
  { id, workerId, attempt }: Token,
  ending: { now: number; expiresAt: number; outputs: readonly JobOutput[] },
): Promise<Lease | undefined> {
  const rows = await tx.query(
    `update jobs set status = 'completed', progress = 100, ended_at = $4, expires_at = $5, due_at = $5, outputs = $6,
       note = null where ${isOurs} returning ${columns}`,
    [id, workerId, attempt, ending.now, ending.expiresAt, JSON.stringify(ending.outputs)],
  );
  return ended(rows, ending.now);
}

export interface Failure {
  readonly now: number;
  readonly expiresAt: number;
  readonly error: string;
  readonly errorCode: JobErrorCode;
}

const failed = `status = 'failed', note = null, error = $2, error_code = $3, ended_at = $4, expires_at = $5, due_at = $5`;

export async function failJob(
  tx: Sql,
  { id, workerId, attempt }: Token,
  { error, errorCode, now, expiresAt }: Failure,
): Promise<Lease | undefined> {
  const rows = await tx.query(
    `update jobs set ${failed} where id = $1 and lease_owner = $6 and attempt = $7 and status = 'in_progress'
     returning ${columns}`,
    [id, error, errorCode, now, expiresAt, workerId, attempt],
  );
  return ended(rows, now);
}

/** One that cannot even be started. */
export async function failPending(
  tx: Sql,
  id: string,
  { error, errorCode, now, expiresAt }: Failure,
): Promise<Lease | undefined> {
  const rows = await tx.query(
    `update jobs set ${failed} where id = $1 and status = 'pending' returning ${columns}`,
    [id, error, errorCode, now, expiresAt],
  );
  return ended(rows, now);
}

/** Finds nothing when it has ended meanwhile, so that what was made and billed is not thrown away. */
export async function cancelJob(
  tx: Sql,
  id: string,
  { now, expiresAt }: { now: number; expiresAt: number },
): Promise<Lease | undefined> {
  const rows = await tx.query(
    `update jobs set status = 'cancelled', note = null, ended_at = $2, expires_at = $3, due_at = $3
     where id = $1 and status in ('pending', 'in_progress') returning ${columns}`,
    [id, now, expiresAt],
  );
  return ended(rows, now);
}

/** The next whose outputs are past their time, or the one that is named. Its record is kept a while longer. */
export async function expireJob(
  tx: Sql,
  dialect: Dialect,
  { now, recordUntil, id }: { now: number; recordUntil: number; id?: string | undefined },
): Promise<Lease | undefined> {
  const rows = await tx.query(
    `update jobs set status = 'expired', due_at = $2
     where status = 'completed' and due_at <= $1 and id = (
       select id from jobs where status = 'completed' and due_at <= $1 and (cast($3 as text) is null or id = $3)
       order by due_at, id limit 1 ${skipLocked[dialect]})
     returning ${columns}`,
    [now, recordUntil, id ?? null],
  );
  return ended(rows, now);
}

/** Only in the state that was seen. */
export async function deleteJob(tx: Sql, id: string, seen: JobStatus): Promise<boolean> {
  const rows = await tx.query(`delete from jobs where id = $1 and status = $2 returning id`, [id, seen]);
  return rows.length > 0;
}

/** Their files went when they ended. */
export async function deleteOldRecords(sql: Sql, now: number, limit: number): Promise<number> {
  const rows = await sql.query(
    `delete from jobs where id in (
       select id from jobs where due_at <= $1 and status in ('failed', 'cancelled', 'expired') limit $2) returning id`,
    [now, limit],
  );
  return rows.length;
}

function ended(rows: readonly Row[], now: number): Lease | undefined {
  const [row] = rows;
  return row === undefined ? undefined : toLease(row, now);
}
