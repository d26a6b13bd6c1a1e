/** A video job: what is kept of its request, and how clients read it. Pure. */
import { toCommonEnd, toCommonStart } from '../../http/jobs/render.ts';
import { toUsd } from '../../platform/billing/index.ts';
import type { Job } from '../../platform/jobs/types.ts';
import type { Links } from '../../platform/objects/types.ts';

/** What is rendered; the bytes of the inputs are objects of the job, in the same order. */
export interface VideoRender {
  readonly prompt: string;
  readonly durationSeconds: number;
  readonly resolution: string;
  readonly aspectRatio: string;
  readonly width: number;
  readonly height: number;
  readonly upscale: number;
  readonly fps: number;
  readonly quality: string;
  readonly steps: number;
  readonly schedule: 'turbo' | 'base';
  readonly generateAudio: boolean;
  readonly seed: number;
  readonly startTimeSeconds?: number;
  readonly inputs: readonly {
    readonly use: 'first_frame' | 'last_frame' | 'image' | 'video' | 'audio';
    readonly role: 'reference' | 'driving' | 'control';
    readonly mediaType: string;
  }[];
}

/** Links of a job without an end, as long as they are signed for. */
const linkMs = 24 * 3600 * 1000;

export function toPlainVideo(job: Job<VideoRender>, links: Links) {
  const { id, modelId, request, status, outputs, baseUrl, costPicoUsd } = job;
  const [output] = outputs;
  return {
    id,
    object: 'video',
    model: modelId,
    ...toCommonStart(job, '/videos'),
    prompt: request.prompt,
    duration: request.durationSeconds,
    seconds: String(request.durationSeconds),
    resolution: request.resolution,
    aspect_ratio: request.aspectRatio,
    size: `${request.width}x${request.height}`,
    quality: request.quality,
    num_inference_steps: request.steps,
    generate_audio: request.generateAudio,
    seed: request.seed,
    generation_id: id,
    ...(status === 'completed' && output !== undefined
      ? {
          output: {
            duration: output.durationSeconds,
            width: output.details['width'],
            height: output.details['height'],
            fps: output.details['fps'],
            bytes: output.bytes,
            has_audio: output.details['hasAudio'],
          },
          unsigned_urls: outputs.map(({ index }) => {
            const path = `/videos/${id}/content`;
            const signed = links.sign(path, job.expiresAt ?? job.createdAt + linkMs);
            return `${baseUrl}${path}?index=${index}&${signed}`;
          }),
        }
      : {}),
    ...toCommonEnd(job, costPicoUsd === undefined ? undefined : toUsd(costPicoUsd)),
  };
}
