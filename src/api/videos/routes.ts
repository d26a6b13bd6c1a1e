/** `/videos`: films made by jobs, and `/videos/models`: the models that make them. */
import { toBaseUrl } from '../../http/base-url.ts';
import { defineJobRoutes, jobReply } from '../../http/jobs/routes.ts';
import { toOperation } from '../../http/operation.ts';
import { defineRoute } from '../../http/route.ts';
import { GatewayError } from '../../lib/errors.ts';
import { toVideoModelEntry } from './entry.ts';
import { videoJob } from './job.ts';
import { readMedia } from './media.ts';
import { maxImageBytes, maxVideoBodyBytes, VideoBody, VideoJob, VideoModels } from './schema.ts';
import { toVideo } from './translate.ts';

const tag = 'Videos';

export const createVideo = defineRoute({
  method: 'POST',
  path: '/videos',
  access: 'key',
  summary: 'Start a video, from text, frames or references',
  tag,
  body: VideoBody,
  multipart: {
    files: { input_reference: { maxCount: 1, maxBytes: maxImageBytes } },
    // Films come as data URIs in fields too.
    maxFieldBytes: maxVideoBodyBytes,
  },
  maxBodyBytes: maxVideoBodyBytes,
  success: 202,
  response: VideoJob,
  failures: ['not_found', 'unsupported_parameter', 'too_large', 'rate_limited', 'overloaded'],
  generation: true,
  idempotent: true,
  async handle(call, platform) {
    const { body, uploads, caller, signal } = call;
    const { catalog, inference, jobs, webhooks } = platform;
    const { model } = catalog.resolve('video', body.model);
    const asked = toVideo(body, await uploads[0]?.content.toBuffer(), model);
    const callbackUrl = body.callback_url ?? undefined;
    if (callbackUrl !== undefined) webhooks.checkUrl(callbackUrl, 'callback_url');
    const job = await inference.enter(toOperation(call, 'video'), model, async () => {
      const { inputs, bytes } = await readMedia(asked.media, platform, signal);
      return jobs.create({
        kind: 'video',
        caller,
        model,
        request: { ...asked.render, inputs },
        inputs: bytes,
        callbackUrl,
        baseUrl: toBaseUrl(call, platform),
        billedSeconds: asked.billedSeconds,
        expectedMs: asked.expectedMs,
      });
    });
    call.generationId = job.id;
    return jobReply(call, platform, videoJob, job, 202);
  },
});

export const videoJobRoutes = defineJobRoutes({
  kind: videoJob,
  path: '/videos',
  tag,
  schema: VideoJob,
  deleted: 'video.deleted',
  media: ['video/mp4'],
  extension: () => 'mp4',
  checkQuery({ variant = 'video' }) {
    if (variant !== 'video')
      throw new GatewayError('invalid_request', 'variant must be video: there are no pictures of it', {
        param: 'variant',
      });
  },
});

export const listVideoModels = defineRoute({
  method: 'GET',
  path: '/videos/models',
  access: 'key',
  summary: 'List the video models with what each takes',
  tag,
  response: VideoModels,
  failures: ['unreachable', 'overloaded'],
  handle: (_, { catalog }) => ({
    data: catalog
      .listed()
      .filter((model) => model.type === 'video')
      .map(toVideoModelEntry),
  }),
});
