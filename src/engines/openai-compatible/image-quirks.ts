/**
 * What each server of pictures is told. A negative prompt is told only where guidance is above 0: without it some
 * servers would turn it on for the sake of the prompt.
 */
import { randomInt } from 'node:crypto';
import type { ImageRequest } from '../contract/image.ts';
import { type PictureFormat, pictureFormats } from '../contract/picture.ts';
import type { Fields, ImageQuirks } from './flavor.ts';

const given = (name: string, value: unknown): Fields => (value === undefined ? {} : { [name]: value });

export function toNegativePrompt({ guidanceScale = 0, negativePrompt }: ImageRequest): string | undefined {
  return guidanceScale > 0 && negativePrompt !== '' ? negativePrompt : undefined;
}

/** What torch and stable-diffusion.cpp both take, without losing a digit on the way. */
const seeds = 2 ** 32;

/** Servers refuse what is below 0, or read it as chance. */
export function toEngineSeed(seed: number): number {
  return seed >= 0 && seed <= Number.MAX_SAFE_INTEGER ? seed : ((seed % seeds) + seeds) % seeds;
}

/** For servers whose default is always the same seed. */
export function drawSeed(seed: number | undefined): number {
  return seed === undefined ? randomInt(seeds) : toEngineSeed(seed);
}

function toBasics({ model, prompt, count, width, height }: ImageRequest): Fields {
  return { model, prompt, n: count, size: `${width}x${height}` };
}

function toDiffusion(request: ImageRequest): Fields {
  return {
    ...given('num_inference_steps', request.steps),
    ...given('guidance_scale', request.guidanceScale),
    ...given('negative_prompt', toNegativePrompt(request)),
  };
}

function toOutput({ outputCompression, background }: ImageRequest, format: PictureFormat): Fields {
  return {
    output_format: format,
    // The quality of jpeg and webp: of a png it is the gateway's own affair.
    ...given('output_compression', format === 'png' ? undefined : outputCompression),
    ...given('background', background === 'auto' ? undefined : background),
  };
}

/** OpenAI's newer models always answer in base64 and refuse to be asked for it; older ones know no formats. */
const formatted = /^(?:chat)?gpt-image/;

export const openaiImages: ImageQuirks = {
  formats: pictureFormats,
  mask: { field: 'mask', anew: 'clear' },
  fields: (request, format) => ({
    ...toBasics(request),
    ...(formatted.test(request.model) ? toOutput(request, format) : { response_format: 'b64_json' }),
    ...given('seed', request.seed),
    ...toDiffusion(request),
  }),
};

/** SGLang-diffusion. It takes a mask and does nothing with it. Left out, the seed is 42. */
export const sglangImages: ImageQuirks = {
  formats: pictureFormats,
  mask: undefined,
  fields: (request, format) => ({
    ...toBasics(request),
    response_format: 'b64_json',
    ...toOutput(request, format),
    seed: drawSeed(request.seed),
    ...toDiffusion(request),
  }),
};

/** vLLM-Omni. Models like Qwen-Image take their guidance under another name and ignore the first. */
export const vllmOmniImages: ImageQuirks = {
  formats: pictureFormats,
  mask: { field: 'mask_image', anew: 'white' },
  fields: (request, format) => ({
    ...toBasics(request),
    response_format: 'b64_json',
    ...toOutput(request, format),
    ...given('seed', request.seed === undefined ? undefined : toEngineSeed(request.seed)),
    ...toDiffusion(request),
    ...given('true_cfg_scale', request.guidanceScale),
  }),
};

/** Not webp: edits refuse it, and so do servers that were built without it. */
const plainFormats: readonly PictureFormat[] = ['png', 'jpeg'];

/**
 * stable-diffusion.cpp reads what OpenAI has no fields for from a block in the prompt, the first one that it finds. So
 * there is always one, before everything that a client wrote: a client's own would be a way to any setting of the
 * server. Left out, the seed is 42.
 */
export const stableDiffusionCppImages: ImageQuirks = {
  formats: plainFormats,
  mask: { field: 'mask', anew: 'white' },
  fields: (request, format) => ({
    ...toBasics(request),
    prompt: toExtraArguments(request) + request.prompt.replaceAll(/<\/?sd_cpp_extra_args>/g, ' '),
    ...toOutput(request, format),
  }),
};

function toExtraArguments(request: ImageRequest): string {
  const { steps, guidanceScale, seed } = request;
  const sample = {
    ...given('sample_steps', steps),
    ...given(
      'guidance',
      guidanceScale === undefined ? undefined : { txt_cfg: toTextGuidance(guidanceScale) },
    ),
  };
  const extra = JSON.stringify({
    seed: drawSeed(seed),
    ...given('negative_prompt', toNegativePrompt(request)),
    ...(Object.keys(sample).length === 0 ? {} : { sample_params: sample }),
    // Model names, prompts and settings would else stand in the file.
    embed_image_metadata: false,
  });
  // No text of a client can end the block.
  return `<sd_cpp_extra_args>${extra.replaceAll('<', '\\u003c')}</sd_cpp_extra_args>`;
}

/** 1 is "without guidance" there; below it the prompt itself would be followed less. */
function toTextGuidance(guidanceScale: number): number {
  return Math.max(1, guidanceScale);
}
