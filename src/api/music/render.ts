/** A music job: what is kept of its request, and how clients read it. Pure. */
import { isUnfinished, toCommonEnd, toCommonStart } from '../../http/jobs/render.ts';
import { toUsd } from '../../platform/billing/index.ts';
import type { Job } from '../../platform/jobs/types.ts';
import type { AudioFormat } from '../../platform/media/types.ts';
import type { Links } from '../../platform/objects/types.ts';

/** What is made; the bytes of the references are objects of the job, in the same order. */
export interface MusicRender {
  readonly prompt: string;
  readonly lyrics?: string;
  readonly instrumental: boolean;
  readonly durationSeconds: number;
  readonly count: number;
  readonly format: AudioFormat;
  readonly seed: number;
  readonly negativePrompt?: string;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly guidanceScale?: number;
  readonly steps?: number;
  readonly sampleRate: number;
  readonly channels: number;
  /** It can be heard while it is made. */
  readonly progressive: boolean;
  readonly references: readonly { readonly mediaType: string }[];
}

export const mediaTypes: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  opus: 'audio/ogg',
};

/** Links of a job without an end, as long as they are signed for. */
const linkMs = 24 * 3600 * 1000;

export function toPlainMusic(job: Job<MusicRender>, links: Links) {
  const { id, modelId, request, status, outputs, baseUrl, costPicoUsd } = job;
  const path = `/music/${id}/content`;
  const urls = () => {
    const signed = links.sign(path, job.expiresAt ?? job.createdAt + linkMs);
    return outputs.map(({ index }) => `${baseUrl}${path}?index=${index}&${signed}`);
  };
  return {
    id,
    object: 'music',
    model: modelId,
    ...toCommonStart(job, '/music'),
    prompt: request.prompt,
    ...(request.lyrics === undefined ? {} : { lyrics: request.lyrics }),
    instrumental: request.instrumental,
    duration: request.durationSeconds,
    response_format: request.format,
    seed: request.seed,
    generation_id: id,
    ...(request.progressive && isUnfinished(job)
      ? { stream_url: `${baseUrl}/music/${id}/stream?index=0` }
      : {}),
    ...(status === 'completed' ? toOutputs(job, urls()) : {}),
    ...toCommonEnd(job, costPicoUsd === undefined ? undefined : toUsd(costPicoUsd)),
  };
}

function toOutputs({ request, outputs }: Job<MusicRender>, urls: readonly string[]) {
  return {
    outputs: outputs.map((output, place) => ({
      index: output.index,
      url: urls[place],
      duration: output.durationSeconds,
      format: request.format,
      media_type: output.mediaType,
      sample_rate: request.sampleRate,
      channels: request.channels,
      bytes: output.bytes,
    })),
    unsigned_urls: urls,
  };
}
