/**
 * What each server of films is told. MiniMax H3 is asked in words of its own on the servers that have it: it names its
 * task, and keyframes and references are conditions. Its count of steps includes the end of the schedule, so it is one
 * more than the evaluations that a client asks for.
 */
import { GatewayError } from '../../lib/errors.ts';
import type { MediaFile } from '../contract/picture.ts';
import type { VideoReference, VideoRequest } from '../contract/video.ts';
import type { Fields, VideoOrder, VideoQuirks } from './flavor.ts';
import type { FormFile } from './form.ts';
import { toEngineSeed } from './image-quirks.ts';

/** OpenAI's own: strict about fields, and a picture is where the film begins. */
export const openaiVideos: VideoQuirks = {
  order(request) {
    refuseBeyondFirstFrame(request);
    const { model, prompt, durationSeconds } = request;
    const fields = { model, prompt, seconds: String(durationSeconds), size: toSize(request) };
    return toForm(fields, firstFrameOf(request));
  },
};

/** SGLang-diffusion takes JSON, with media as data URIs. Left out, the seed is always the same. */
export const sglangVideos: VideoQuirks = {
  order(request) {
    const { model, prompt, durationSeconds, steps, seed, fps } = request;
    const common = { model, prompt, seconds: durationSeconds, seed: toEngineSeed(seed) };
    if (isH3(model)) {
      const { width, height } = rendered(request);
      return {
        json: {
          ...common,
          ...toH3Task(request),
          conditions: toConditions(request),
          target: {
            short_edge: Math.min(width, height),
            aspect_ratio: toAspectRatio(width, height),
            duration_seconds: durationSeconds,
          },
          num_inference_steps: steps + 1,
        },
      };
    }
    refuseBeyondFirstFrame(request);
    const { firstFrame } = request;
    return {
      json: {
        ...common,
        size: toSize(request),
        fps,
        num_inference_steps: steps,
        ...(firstFrame === undefined ? {} : { reference_url: toDataUri(firstFrame) }),
      },
    };
  },
};

/** vLLM-Omni takes a form; what only one model knows stands in `extra_params`. */
export const vllmOmniVideos: VideoQuirks = {
  order(request) {
    const { model, prompt, durationSeconds, steps, seed, fps } = request;
    const { width, height } = rendered(request);
    const common = {
      model,
      prompt,
      width: String(width),
      height: String(height),
      fps: String(fps),
      seed: String(toEngineSeed(seed)),
    };
    if (isH3(model)) {
      const { firstFrame, lastFrame, references, startTimeSeconds } = request;
      const frames = [firstFrame === undefined ? [] : [0], lastFrame === undefined ? [] : [-1]].flat();
      const extra = {
        ...toH3Task(request),
        duration: durationSeconds,
        aspect_ratio: toAspectRatio(width, height),
        ...(frames.length === 0 ? {} : { frame_indices: frames }),
        ...toStartTimes(references, startTimeSeconds),
      };
      const fields = {
        ...common,
        num_inference_steps: String(steps + 1),
        extra_params: JSON.stringify(extra),
      };
      const media = [firstFrame, lastFrame, ...references].filter((file) => file !== undefined);
      return toForm(
        fields,
        media.map((file, index) => toFile('input_references', `reference-${index + 1}`, file)),
      );
    }
    refuseBeyondFirstFrame(request);
    const fields = {
      ...common,
      seconds: String(durationSeconds),
      num_inference_steps: String(steps),
      generate_sound: String(request.generateAudio),
    };
    return toForm(fields, firstFrameOf(request));
  },
};

function isH3(model: string): boolean {
  return /(?:^|[^a-z0-9])h3(?:[^a-z0-9]|$)/i.test(model);
}

/** What is asked for before it is enlarged, which is the gateway's own work. */
function rendered({ width, height, upscale }: VideoRequest) {
  return { width: Math.round(width / upscale), height: Math.round(height / upscale) };
}

function toSize(request: VideoRequest): string {
  const { width, height } = rendered(request);
  return `${width}x${height}`;
}

const ratios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'] as const;

/** Sides are whole blocks of pixels, so they hit a ratio only nearly. */
function toAspectRatio(width: number, height: number): string {
  const distance = (ratio: string) => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(width / height / (across / down)));
  };
  return ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

function toH3Task({ firstFrame, lastFrame, references }: VideoRequest): Fields {
  if (firstFrame !== undefined || lastFrame !== undefined) return { task: 'fl2va' };
  return { task: references.length > 0 ? 'ref2va' : 't2va' };
}

function toConditions({ firstFrame, lastFrame, references, startTimeSeconds }: VideoRequest): Fields[] {
  checkRoles(references);
  const keyframe = (file: MediaFile | undefined, index: number) =>
    file === undefined ? [] : [{ type: 'image', uri: toDataUri(file), role: 'keyframe', frame_index: index }];
  const start = startTimeSeconds === undefined ? {} : { start_time_seconds: startTimeSeconds };
  return [
    ...keyframe(firstFrame, 0),
    ...keyframe(lastFrame, -1),
    ...references.map((file) => ({
      type: file.kind,
      uri: toDataUri(file),
      role: 'reference',
      ...(file.kind === 'video' ? start : {}),
    })),
  ];
}

/** One for every film, in their order. */
function toStartTimes(references: readonly VideoReference[], startTimeSeconds: number | undefined): Fields {
  checkRoles(references);
  const films = references.filter(({ kind }) => kind === 'video');
  if (films.length === 0 || startTimeSeconds === undefined) return {};
  return { start_time_seconds: films.map(() => startTimeSeconds) };
}

function checkRoles(references: readonly VideoReference[]): void {
  const other = references.find(({ role }) => role !== 'reference');
  if (other !== undefined) throw refusal(`a reference with the role ${other.role}`, 'input_references');
}

function refuseBeyondFirstFrame({ lastFrame, references }: VideoRequest): void {
  if (lastFrame !== undefined) throw refusal('a last frame', 'frame_images');
  if (references.length > 0) throw refusal('references', 'input_references');
}

function refusal(what: string, param: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: the engine of this model does not take ${what}`, {
    param,
  });
}

function toForm(fields: Readonly<Record<string, string>>, files: readonly FormFile[]): VideoOrder {
  return { form: { fields, files } };
}

function firstFrameOf({ firstFrame }: VideoRequest): FormFile[] {
  return firstFrame === undefined ? [] : [toFile('input_reference', 'first-frame', firstFrame)];
}

const extensions: Readonly<Record<string, string>> = {
  'video/quicktime': 'mov',
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
};

function toFile(field: string, name: string, { bytes, mediaType }: MediaFile): FormFile {
  const extension = extensions[mediaType] ?? mediaType.replace(/^.*\//, '');
  return { field, filename: `${name}.${extension}`, type: mediaType, bytes };
}

/** Longer texts than this cannot be built. */
const mostEncoded = 256 * 1024 * 1024;

function toDataUri({ bytes, mediaType }: MediaFile): string {
  if (bytes.length > mostEncoded)
    throw new GatewayError('too_large', 'The media is more than the engine of this model can be sent');
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}
