/** Pictures as clients read them: one object, or the event of a stream. Pure. */
import { errorTable } from '../../http/errors.ts';
import type { ServerEvent } from '../../http/reply.ts';
import type { GatewayError } from '../../lib/errors.ts';
import { toUsd } from '../../platform/billing/index.ts';
import type { MadeImages, MadePicture } from './generate.ts';
import type { ImageAnswer, ImageCompleted, ImageUsage } from './schema.ts';
import { toText } from './size.ts';

export interface Rendering {
  /** Unix seconds. */
  readonly created: number;
  /** What links begin with. */
  readonly baseUrl: string;
}

/** Without the pictures themselves: see `write.ts`. */
export function toAnswer(made: MadeImages, { created, baseUrl }: Rendering): ImageAnswer {
  return {
    created,
    data: made.pictures.map(({ link, mediaType, revisedPrompt }) => ({
      ...(link === undefined ? {} : { url: baseUrl + link.path }),
      media_type: mediaType as ImageAnswer['data'][number]['media_type'],
      ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
    })),
    ...toLook(made.pictures),
    usage: toUsage(made),
  };
}

const done: ServerEvent = { data: '[DONE]' };

export function toCompleted(made: MadeImages, created: number): readonly ServerEvent[] {
  const [picture] = made.pictures as readonly [MadePicture];
  const { bytes, mediaType, revisedPrompt } = picture;
  const data: ImageCompleted = {
    type: 'image_generation.completed',
    b64_json: bytes.toString('base64'),
    // Each of two SDKs knows it by another name.
    created,
    created_at: created,
    media_type: mediaType as ImageCompleted['media_type'],
    ...toLook(made.pictures),
    quality: 'auto',
    ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
    usage: toUsage(made),
  };
  return [{ event: data.type, data }, done];
}

/** Here the code is a word, unlike in a whole answer. */
export function toFailure({ kind, message }: GatewayError): readonly ServerEvent[] {
  const { errorType, type } = errorTable[kind];
  const data = { type: 'error', error: { code: errorType, message, param: null, type } };
  return [{ event: data.type, data }, done];
}

/** What the pictures really are, told from the first; they are of one kind, since they were made together. */
function toLook(
  pictures: readonly MadePicture[],
): Pick<ImageAnswer, 'size' | 'output_format' | 'background'> {
  const [first] = pictures as readonly [MadePicture];
  return {
    size: toText(first),
    output_format: first.mediaType.slice('image/'.length) as ImageAnswer['output_format'],
    background: pictures.every(({ isTransparent }) => isTransparent) ? 'transparent' : 'opaque',
  };
}

function toUsage({ megapixels, costPicoUsd }: MadeImages): ImageUsage {
  return {
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    input_tokens: 0,
    output_tokens: 0,
    input_tokens_details: { text_tokens: 0, image_tokens: 0 },
    cost: toUsd(costPicoUsd),
    megapixels,
  };
}
