/** `/music`: songs made by jobs and heard meanwhile, and `/music/models`: the models that make them. */
import { toBaseUrl } from '../../http/base-url.ts';
import { defineJobRoutes, findJob, jobReply } from '../../http/jobs/routes.ts';
import { toOperation } from '../../http/operation.ts';
import { defineRoute } from '../../http/route.ts';
import type { Job } from '../../platform/jobs/types.ts';
import { toMusicModelEntry } from './entry.ts';
import { musicJob } from './job.ts';
import { readReferences } from './references.ts';
import { type MusicRender, mediaTypes } from './render.ts';
import { MusicBody, MusicJob, MusicModels, maxMusicBodyBytes, StreamQuery } from './schema.ts';
import { streamSong } from './stream.ts';
import { toMusic } from './translate.ts';

const tag = 'Music';

export const createMusic = defineRoute({
  method: 'POST',
  path: '/music',
  access: 'key',
  summary: 'Start a song',
  tag,
  body: MusicBody,
  maxBodyBytes: maxMusicBodyBytes,
  success: 202,
  response: MusicJob,
  failures: ['not_found', 'unsupported_parameter', 'too_large', 'rate_limited', 'overloaded'],
  generation: true,
  idempotent: true,
  async handle(call, platform) {
    const { body, caller, signal } = call;
    const { catalog, inference, jobs, webhooks } = platform;
    const { model } = catalog.resolve('music', body.model);
    const asked = toMusic(body, model);
    const callbackUrl = body.callback_url ?? undefined;
    if (callbackUrl !== undefined) webhooks.checkUrl(callbackUrl, 'callback_url');
    const job = await inference.enter(toOperation(call, 'music'), model, async () => {
      const files = await readReferences(asked.references, platform, signal);
      return jobs.create({
        kind: 'music',
        caller,
        model,
        request: { ...asked.render, references: files.map(({ mediaType }) => ({ mediaType })) },
        inputs: files.map(({ bytes }) => bytes),
        callbackUrl,
        baseUrl: toBaseUrl(call, platform),
        billedSeconds: asked.billedSeconds,
        expectedMs: asked.expectedMs,
      });
    });
    call.generationId = job.id;
    return jobReply(call, platform, musicJob, job, 202);
  },
});

export const musicJobRoutes = defineJobRoutes({
  kind: musicJob,
  path: '/music',
  tag,
  schema: MusicJob,
  deleted: 'music.deleted',
  media: Object.values(mediaTypes),
  extension: ({ objectKey }) => objectKey.slice(objectKey.lastIndexOf('.') + 1),
});

export const streamMusic = defineRoute({
  method: 'GET',
  path: '/music/{id}/stream',
  access: 'key',
  summary: 'Hear a song while it is made',
  tag,
  query: StreamQuery,
  media: ['audio/wav'],
  failures: ['not_found', 'conflict'],
  async handle({ params, query, caller, signal }, platform) {
    const job = await findJob(platform, musicJob, params.id, caller.subscriptionId);
    return streamSong(job as Job<MusicRender>, query.index ?? 0, { ...platform, signal });
  },
});

export const listMusicModels = defineRoute({
  method: 'GET',
  path: '/music/models',
  access: 'key',
  summary: 'List the music models with what each takes',
  tag,
  response: MusicModels,
  failures: ['unreachable', 'overloaded'],
  handle: (_, { catalog }) => ({
    data: catalog
      .listed()
      .filter((model) => model.type === 'music')
      .map(toMusicModelEntry),
  }),
});
