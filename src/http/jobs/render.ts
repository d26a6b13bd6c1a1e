/** What every kind of job shows in the same way: its times, its state, its end. Pure. */

import type { Job } from '../../platform/jobs/types.ts';
import type { ClientKind } from '../client.ts';

export type PlainJob = Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };

/** `path` is the kind's own: `/videos`. Members that do not apply are left out, but for times. */
export function toCommonStart(
  { id, status, baseUrl, createdAt, startedAt, completedAt, expiresAt, queuePosition, progress }: Job,
  path: string,
) {
  return {
    status,
    polling_url: `${baseUrl}${path}/${id}`,
    created_at: toSeconds(createdAt),
    started_at: toSecondsOrNull(startedAt),
    completed_at: toSecondsOrNull(completedAt),
    expires_at: toSecondsOrNull(expiresAt),
    ...(queuePosition === undefined ? {} : { queue_position: queuePosition }),
    progress,
  };
}

/** `cost` in dollars, where the model has a price. */
export function toCommonEnd({ status, billedSeconds, error, errorCode }: Job, cost: number | undefined) {
  switch (status) {
    case 'completed':
      return { usage: { billed_seconds: billedSeconds, ...(cost === undefined ? {} : { cost }) } };
    case 'failed':
      return { error: error ?? '', error_code: errorCode ?? 'server' };
    default:
      return {};
  }
}

/**
 * OpenAI's clients wait only while a job is `queued` or `in_progress`, and read `error` as an object or null.
 * Everybody else reads the job as it is.
 */
export function forClient(client: ClientKind, plain: PlainJob, job: Job): PlainJob {
  if (client !== 'openai') return plain;
  const { status, error, errorCode } = job;
  return {
    ...plain,
    status: status === 'pending' ? 'queued' : status,
    error: status === 'failed' ? { code: errorCode ?? 'server', message: error ?? '' } : null,
    ...(job.kind === 'video' ? { remixed_from_video_id: null } : {}),
  };
}

export function isUnfinished({ status }: Job): boolean {
  return status === 'pending' || status === 'in_progress';
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

function toSecondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : toSeconds(ms);
}
