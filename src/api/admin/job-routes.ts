/** The operator's routes over jobs: what waits, runs and has ended, whoever it belongs to, and cancelling by hand. */
import type { Static } from 'typebox';
import { defineRoute, type Route } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import { toUsd } from '../../platform/billing/index.ts';
import type { Job } from '../../platform/jobs/types.ts';
import { JobEntry, JobEntryList, JobsQuery } from './job-schema.ts';

const tag = 'Admin';
const defaultLimit = 100;

const listJobs = defineRoute({
  method: 'GET',
  path: '/admin/jobs',
  access: 'admin',
  summary: 'List video and music jobs, newest first',
  tag,
  query: JobsQuery,
  response: JobEntryList,
  failures: ['not_found'],
  async handle({ query }, { accounts, jobs }) {
    const { subscription, kind, model: modelId, status, after, limit = defaultLimit } = query;
    const owner = subscription === undefined ? undefined : await accounts.getSubscription(subscription);
    const filter = { subscriptionId: owner?.id, kind, modelId, status };
    const page = await jobs.operator.list(filter, { after, limit, order: 'desc' });
    return { object: 'list', data: page.jobs.map(toEntry), has_more: page.hasMore };
  },
});

const getJob = defineRoute({
  method: 'GET',
  path: '/admin/jobs/{id}',
  access: 'admin',
  summary: 'One video or music job',
  tag,
  response: JobEntry,
  failures: ['not_found'],
  handle: async ({ params }, { jobs }) => toEntry((await jobs.operator.find(params.id)) ?? none(params.id)),
});

const cancelJob = defineRoute({
  method: 'POST',
  path: '/admin/jobs/{id}/cancel',
  access: 'admin',
  summary:
    'Cancel a job that has not ended; it is not billed, and its owner is told as if it had been cancelled there',
  tag,
  response: JobEntry,
  failures: ['not_found', 'conflict'],
  handle: async ({ params }, { jobs }) => toEntry((await jobs.operator.cancel(params.id)) ?? none(params.id)),
});

export const adminJobRoutes: readonly Route[] = [listJobs, getJob, cancelJob];

function toEntry(job: Job): Static<typeof JobEntry> {
  return {
    object: 'job',
    id: job.id,
    kind: job.kind,
    subscription_id: job.subscriptionId,
    key_id: job.keyId,
    model: job.modelId,
    status: job.status,
    created_at: Math.floor(job.createdAt / 1000),
    started_at: toSecondsOrNull(job.startedAt),
    completed_at: toSecondsOrNull(job.completedAt),
    expires_at: toSecondsOrNull(job.expiresAt),
    queue_position: job.queuePosition ?? null,
    progress: job.progress,
    attempt: job.attempt,
    outputs: job.outputs.length,
    billed_seconds: job.billedSeconds,
    cost: job.costPicoUsd === undefined ? null : toUsd(job.costPicoUsd),
    callback_url: job.callbackUrl ?? null,
    error: job.error ?? null,
    error_code: job.errorCode ?? null,
  };
}

function toSecondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.floor(ms / 1000);
}

function none(id: string): never {
  throw new GatewayError('not_found', `There is no job ${quoted(id)}`, { param: 'id' });
}
