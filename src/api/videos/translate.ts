/** A video request as what is rendered and billed, and the media that still have to be read. Pure. */
import { randomInt } from 'node:crypto';
import { type Settings, toSettings } from '../../http/provider-options.ts';
import { refuseUndeclared } from '../../http/undeclared.ts';
import { toWhole } from '../../http/whole-number.ts';
import { refusal } from '../../lib/errors.ts';
import { createValidator } from '../../lib/schema.ts';
import type { VideoModel } from '../../platform/catalog/index.ts';
import { supportedParameters, videoSettings } from '../../platform/catalog/parameters.ts';
import type { VideoRender } from './render.ts';
import { toBilledSeconds, toExpectedMs, toSchedule } from './schedule.ts';
import { FirstFrame, type InputReference, type VideoBody, VideoSettings } from './schema.ts';
import { toVideoSize } from './size.ts';

/** A medium as the request names it. */
export interface AskedMedium {
  readonly use: VideoRender['inputs'][number]['use'];
  readonly role: VideoRender['inputs'][number]['role'];
  /** An address, a data URI, or a file that came with the form. */
  readonly source: string | Buffer;
  readonly param: string;
}

export interface AskedVideo {
  readonly render: Omit<VideoRender, 'inputs'>;
  readonly media: readonly AskedMedium[];
  readonly billedSeconds: number;
  readonly expectedMs: number;
}

const settingRules = createValidator(VideoSettings);
const firstFrameRules = createValidator(FirstFrame);
const largestSeed = 2 ** 31;

export function toVideo(body: VideoBody, upload: Buffer | undefined, model: VideoModel): AskedVideo {
  const { generate_audio: wantsAudio, ...declared } = body;
  // Turning off what there is none of is no wish that fails.
  refuseUndeclared(wantsAudio === false ? declared : body, supportedParameters(model), model.id);
  // Characters as people count them, not the halves of the rare ones.
  if ([...body.prompt].length > model.maxPromptLength)
    throw refusal('prompt', `must have at most ${model.maxPromptLength} characters`);
  const settings = toSettings(body, {
    validator: settingRules,
    allowed: videoSettings(model),
    slug: model.author,
  });
  const media = toMedia(body, upload, model);
  const hasReferences = media.some(({ use }) => use === 'image' || use === 'video' || use === 'audio');
  const size = toVideoSize(body, model);
  const durationSeconds = toDuration(body, model);
  const schedule = toSchedule({
    quality: settings.get('quality')?.value as string | undefined,
    steps: toSteps(settings, model),
    hasReferences,
    turboOnly: model.turboOnlyResolutions?.includes(size.resolution) ? size.resolution : undefined,
    paths: {
      quality: settings.get('quality')?.path ?? 'quality',
      steps: settings.get('num_inference_steps')?.path ?? 'num_inference_steps',
    },
  });
  const startTimeSeconds = settings.get('start_time_seconds')?.value as number | undefined;
  const factor = model.resolutionPriceFactors?.[size.resolution] ?? 1;
  return {
    render: {
      prompt: body.prompt,
      durationSeconds,
      ...size,
      fps: model.fps,
      quality: schedule.tier,
      steps: schedule.steps,
      schedule: schedule.schedule,
      generateAudio: model.audio && wantsAudio !== false,
      seed: body.seed == null ? randomInt(largestSeed) : toWhole('seed', body.seed),
      ...(startTimeSeconds === undefined ? {} : { startTimeSeconds }),
    },
    media,
    billedSeconds: toBilledSeconds(durationSeconds, schedule, factor),
    expectedMs: toExpectedMs(durationSeconds, hasReferences, size.upscale > 1),
  };
}

function toDuration(body: VideoBody, { duration }: VideoModel): number {
  const [name, value] = body.duration == null ? ['seconds', body.seconds] : ['duration', body.duration];
  if (value == null) return duration.default;
  const seconds = toWhole(name, value);
  if (seconds >= duration.min && seconds <= duration.max) return seconds;
  throw refusal(name, `must be from ${duration.min} to ${duration.max} seconds`);
}

function toSteps(settings: Settings, { steps: range }: VideoModel): number | undefined {
  const asked = settings.get('num_inference_steps');
  if (asked === undefined || range === undefined) return undefined;
  const steps = toWhole(asked.path, asked.value as number | string);
  if ((steps >= range.min && steps <= range.max) || range.also?.includes(steps)) return steps;
  throw refusal(asked.path, `must be from ${range.min} to ${range.max}`);
}

/** Frames win over references, and one picture alone is a first frame. */
function toMedia(body: VideoBody, upload: Buffer | undefined, model: VideoModel): AskedMedium[] {
  const frames = body.frame_images ?? [];
  if (frames.length > 0) return toFrames(frames, model);
  const param = 'input_reference';
  if (upload !== undefined) return [{ use: 'first_frame', role: 'reference', source: upload, param }];
  if (body.input_reference != null) {
    const source = toFirstFrame(body.input_reference);
    return [{ use: 'first_frame', role: 'reference', ...source }];
  }
  return toReferences(body.input_references ?? [], model);
}

function toFrames(frames: NonNullable<VideoBody['frame_images']>, model: VideoModel): AskedMedium[] {
  const seen = new Set<string>();
  return frames.map(({ frame_type: use, image_url: { url } }, index) => {
    const path = `frame_images[${index}]`;
    if (model.frameImages?.includes(use) !== true)
      throw refusal(`${path}.frame_type`, `must be one of ${(model.frameImages ?? []).join(', ')}`);
    if (seen.has(use)) throw refusal(`${path}.frame_type`, `repeats ${use}: there is one of each`);
    seen.add(use);
    return { use, role: 'reference', source: url, param: `${path}.image_url.url` };
  });
}

function toFirstFrame(reference: NonNullable<VideoBody['input_reference']>): {
  source: string;
  param: string;
} {
  const param = 'input_reference';
  const named = typeof reference === 'string' ? fromJson(reference) : reference;
  if (typeof named === 'string') return { source: named, param };
  const { image_url: image } = named;
  return typeof image === 'string'
    ? { source: image, param: `${param}.image_url` }
    : { source: image.url, param: `${param}.image_url.url` };
}

/** In a form an object is a text of JSON. */
function fromJson(text: string): NonNullable<VideoBody['input_reference']> {
  if (!text.trimStart().startsWith('{')) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // No address begins so either.
  }
  if (firstFrameRules.check(value)) return value;
  throw refusal('input_reference', 'must be an https URL, a data URI or {image_url}');
}

const kinds = { image_url: 'image', video_url: 'video', audio_url: 'audio' } as const;
const nouns = { image: 'images', video: 'videos', audio: 'audio' } as const;

function toReferences(references: readonly InputReference[], model: VideoModel): AskedMedium[] {
  const limits = model.inputReferences;
  const media = references.map((reference, index): AskedMedium => {
    const path = `input_references[${index}]`;
    const { type, role } = reference;
    const medium = reference[type];
    if (medium === undefined) throw refusal(`${path}.${type}`, 'is required');
    if (role === 'driving' || role === 'control')
      throw refusal(`${path}.role`, `must be reference: the model ${model.id} has no ${role} inputs`);
    return { use: kinds[type], role: 'reference', source: medium.url, param: `${path}.${type}.url` };
  });
  if (limits === undefined) return media;
  for (const use of ['image', 'video', 'audio'] as const) {
    const most = limits[nouns[use]];
    if (media.filter((medium) => medium.use === use).length > most)
      throw refusal('input_references', `must have at most ${most} of type ${use}_url`);
  }
  if (media.length > limits.total)
    throw refusal('input_references', `must have at most ${limits.total} items`);
  return media;
}
