/** The routes that every kind of job has beside creating one: read, list, delete, and fetch what it made. */
import type { TSchema } from 'typebox';
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import type { Platform } from '../../platform/index.ts';
import type { Job, JobKind, JobOutput } from '../../platform/jobs/types.ts';
import { toBaseUrl } from '../base-url.ts';
import { fileReply } from '../file-reply.ts';
import { json, type Reply } from '../reply.ts';
import { type Call, defineRoute, type Route } from '../route.ts';
import { forClient, isUnfinished, type PlainJob } from './render.ts';
import { ContentQuery, JobListQuery, listOf, removalOf } from './schema.ts';

export interface JobRoutesSpec {
  readonly kind: JobKind;
  /** `/videos` */
  readonly path: string;
  readonly tag: string;
  /** The job's shape. */
  readonly schema: TSchema;
  /** What a deleted one is called: `video.deleted`. */
  readonly deleted: string;
  /** What its outputs may be. */
  readonly media: readonly string[];
  /** Of a file that is saved: `mp4`. */
  extension(output: JobOutput): string;
  /** Refuses what only the kind's content route takes, such as a variant. */
  checkQuery?(query: ContentQuery): void;
}

const defaultLimit = 20;
/** What OpenAI's clients wait between two reads. */
const pollAfterMs = '2000';
/** Answers differ by who asks. */
const vary = { vary: 'User-Agent, X-Stainless-Lang' };

export function jobReply(
  call: Call,
  platform: Platform,
  kind: JobKind,
  job: Job,
  status: 200 | 202 = 200,
): Reply {
  const headers = isUnfinished(job) ? { ...vary, 'openai-poll-after-ms': pollAfterMs } : vary;
  return json(toView(call, platform, kind, job), { status, headers });
}

function toView(call: Call, platform: Platform, kind: JobKind, job: Job): PlainJob {
  const seen = { ...job, baseUrl: toBaseUrl(call, platform) };
  return forClient(call.client, kind.toPlain(seen, platform.links) as PlainJob, job);
}

export function defineJobRoutes(spec: JobRoutesSpec): readonly Route[] {
  const { kind, path, tag, schema } = spec;
  const name = kind.kind;
  const idForm = idFormOf(name);
  const read = defineRoute({
    method: 'GET',
    path: `${path}/{id}`,
    idForm,
    access: 'key',
    summary: `Read a ${name} job`,
    tag,
    response: schema,
    failures: ['not_found'],
    handle: async (call, platform) => {
      const { id } = call.params as { id: string };
      return jobReply(call, platform, kind, await findJob(platform, kind, id, call.caller.subscriptionId));
    },
  });

  const list = defineRoute({
    method: 'GET',
    path,
    access: 'key',
    summary: `List the ${name} jobs`,
    tag,
    query: JobListQuery,
    response: listOf(schema),
    async handle(call, platform) {
      const { after, limit = defaultLimit, order = 'desc' } = call.query;
      const { subscriptionId } = call.caller;
      const page = await platform.jobs.list(name, subscriptionId, { after, limit, order });
      const data = page.jobs.map((job) => toView(call, platform, kind, job));
      return json(
        {
          object: 'list',
          data,
          first_id: data[0]?.id ?? null,
          last_id: data.at(-1)?.id ?? null,
          has_more: page.hasMore,
        },
        { headers: vary },
      );
    },
  });

  const remove = defineRoute({
    method: 'DELETE',
    path: `${path}/{id}`,
    idForm,
    access: 'key',
    summary: `Cancel a ${name} job, or delete one that has ended with what it made`,
    tag,
    response: removalOf(schema, spec.deleted),
    failures: ['not_found', 'conflict'],
    async handle(call, platform) {
      const { id } = call.params as { id: string };
      const removal = idForm.test(id)
        ? await platform.jobs.remove(name, id, call.caller.subscriptionId)
        : undefined;
      if (removal === undefined) throw unknown(name, id);
      if (removal.outcome === 'deleted')
        return json({ id, object: spec.deleted, deleted: true }, { headers: vary });
      return jobReply(call, platform, kind, removal.job);
    },
  });

  const content = defineRoute({
    method: 'GET',
    path: `${path}/{id}/content`,
    access: 'link',
    summary: `Download what a ${name} job made`,
    tag,
    query: ContentQuery,
    media: spec.media,
    failures: ['not_found', 'conflict', 'range_not_satisfiable'],
    async handle(call, platform) {
      const { id } = call.params as { id: string };
      spec.checkQuery?.(call.query);
      // A signed link stands for the one who made the job.
      const job = await findJob(platform, kind, id, call.caller?.subscriptionId);
      if (isUnfinished(job))
        throw new GatewayError('conflict', `The ${name} job ${id} is not finished: it is ${job.status}`, {
          permanent: true,
        });
      const index = call.query.index ?? 0;
      const output =
        job.status === 'completed' ? job.outputs.find((each) => each.index === index) : undefined;
      if (output === undefined)
        throw new GatewayError('not_found', `The ${name} job ${id} has no output ${index}`);
      const reply = await fileReply(call, platform.objects, {
        key: output.objectKey,
        mediaType: output.mediaType,
        filename: `${id}-${index}.${spec.extension(output)}`,
      });
      if (reply === undefined)
        throw new GatewayError('not_found', `The output ${index} of the ${name} job ${id} is gone`);
      return reply;
    },
  });

  return [list, read, content, remove];
}

/** Throws `not_found`; without a subscription any of them, for who has shown a signed link. */
export async function findJob(
  { jobs }: Platform,
  { kind }: JobKind,
  id: string,
  subscriptionId: string | undefined,
): Promise<Job> {
  const job = idFormOf(kind).test(id) ? await jobs.find(kind, id, subscriptionId) : undefined;
  if (job === undefined) throw unknown(kind, id);
  return job;
}

function idFormOf(kind: string): RegExp {
  return new RegExp(`^${kind}_[0-9a-f]{24}$`);
}

function unknown(name: string, id: string): GatewayError {
  return new GatewayError('not_found', `There is no ${name} job ${quoted(id)}`);
}
