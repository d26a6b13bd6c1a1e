/** A row of `jobs` as the rest of the code knows it. */
import type { Row } from '../../storage/database.ts';
import { toProgress } from './progress.ts';
import type { Job, JobErrorCode, JobKindName, JobOutput, JobStatus } from './types.ts';

/** A job and what only its workers know of it. */
export interface Lease {
  readonly job: Job;
  readonly expectedMs: number;
  /** Attempts that failed, or whose process died. */
  readonly failures: number;
  readonly leaseUntil: number;
  readonly note: { readonly text: string; readonly engine: string } | undefined;
  /** Engines that failed. */
  readonly tried: readonly string[];
  /** What completing it costs; undefined where its model has no price. */
  readonly pricePicoUsd: bigint | undefined;
}

const names = [
  'id',
  'kind',
  'subscription_id',
  'key_id',
  'model_id',
  'status',
  'created_at',
  'started_at',
  'ended_at',
  'expires_at',
  'attempt',
  'failures',
  'lease_until',
  'progress',
  'expected_ms',
  'billed_seconds',
  'cast(cost_pico as text) as cost_pico',
  'error',
  'error_code',
  'callback_url',
  'base_url',
  'note',
  'note_engine',
  'tried',
  'request',
  'input_keys',
  'outputs',
];

export const columns = names.join(', ');

/** `columns`, and of a pending job how many of its model stand before it. */
export const columnsAndPosition = `${columns}, case when status = 'pending' then (
    select count(*) from jobs ahead where ahead.status = 'pending' and ahead.model_id = jobs.model_id
      and (ahead.created_at, ahead.id) < (jobs.created_at, jobs.id)) end as queue_position`;

export function toJob(row: Row, now: number): Job {
  const status = row['status'] as JobStatus;
  const isMade = status === 'completed' || status === 'expired';
  const startedAt = present(row['started_at'] as number | null);
  const endedAt = present(row['ended_at'] as number | null);
  return {
    id: row['id'] as string,
    kind: row['kind'] as JobKindName,
    subscriptionId: row['subscription_id'] as string,
    keyId: row['key_id'] as string,
    modelId: row['model_id'] as string,
    status,
    request: JSON.parse(row['request'] as string),
    inputKeys: JSON.parse(row['input_keys'] as string) as string[],
    callbackUrl: present(row['callback_url'] as string | null),
    baseUrl: row['base_url'] as string,
    createdAt: row['created_at'] as number,
    startedAt,
    completedAt: isMade ? endedAt : undefined,
    expiresAt: present(row['expires_at'] as number | null),
    queuePosition: present((row['queue_position'] ?? null) as number | null),
    progress: toProgress(
      {
        status,
        startedAt,
        endedAt,
        expectedMs: row['expected_ms'] as number,
        told: row['progress'] as number,
      },
      now,
    ),
    attempt: row['attempt'] as number,
    outputs: JSON.parse(row['outputs'] as string) as JobOutput[],
    billedSeconds: row['billed_seconds'] as number,
    costPicoUsd: isMade ? toPrice(row) : undefined,
    error: present(row['error'] as string | null),
    errorCode: present(row['error_code'] as JobErrorCode | null),
  };
}

export function toLease(row: Row, now: number): Lease {
  const note = row['note'] as string | null;
  return {
    job: toJob(row, now),
    expectedMs: row['expected_ms'] as number,
    failures: row['failures'] as number,
    leaseUntil: (row['lease_until'] as number | null) ?? 0,
    note: note === null ? undefined : { text: note, engine: row['note_engine'] as string },
    tried: JSON.parse(row['tried'] as string) as string[],
    pricePicoUsd: toPrice(row),
  };
}

function toPrice(row: Row): bigint | undefined {
  const price = row['cost_pico'] as string | null;
  return price === null ? undefined : BigInt(price);
}

function present<T>(value: T | null): T | undefined {
  return value ?? undefined;
}
