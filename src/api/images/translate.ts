/** What a client asks for as what an engine is asked for, and how the pictures leave. Pure. */
import type { ImageRequest } from '../../engines/contract/image.ts';
import { type PictureFormat, pictureFormats } from '../../engines/contract/picture.ts';
import type { Upload } from '../../http/route.ts';
import { GatewayError, refusal } from '../../lib/errors.ts';
import type { ImageModel } from '../../platform/catalog/index.ts';
import { type Inputs, toInputs } from './inputs.ts';
import { checkParameter, isImageParameter } from './parameters.ts';
import type { ImageBody } from './schema.ts';
import { readSettings } from './settings.ts';
import { toImageSize } from './size.ts';

export interface AskedImage {
  readonly model: ImageModel;
  readonly inputs: Inputs;
  readonly request: Omit<ImageRequest, 'references' | 'mask'>;
  /** A megapixel of this many steps is billed as so many megapixels. */
  readonly billedScale: number;
  readonly isStreamed: boolean;
}

export interface Sent {
  readonly body: ImageBody;
  readonly uploads: readonly Upload[];
  /** On the route for edits, where there must be something to edit. */
  readonly isEdit: boolean;
}

/** The largest double that is an int64: what lies between is rounded up past it, where engines take no seed. */
const greatestSeed = 2 ** 63 - 1024;

export function toAskedImage({ body, uploads, isEdit }: Sent, model: ImageModel): AskedImage {
  refuseUnsupported(body);
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && value !== undefined && isImageParameter(name)) checkParameter(name, value, model);
  }
  if (body.prompt.trim() === '') throw refusal('prompt', 'must not be blank');
  const inputs = toInputs(body, uploads, model);
  if (isEdit && inputs.references.length === 0) throw missingImage(body, model);
  const count = body.n ?? 1;
  const isStreamed = body.stream === true;
  if (isStreamed && count > 1) throw refusal('n', 'must be 1 with stream');
  const size = toImageSize(
    {
      size: body.size ?? undefined,
      width: body.width ?? undefined,
      height: body.height ?? undefined,
      aspectRatio: body.aspect_ratio ?? undefined,
      resolution: body.resolution ?? undefined,
      count,
    },
    model,
  );
  const asked = readSettings(body, model);
  const steps = asked.steps ?? model.steps?.default;
  const guidanceScale = asked.guidanceScale ?? model.guidanceScale?.default;
  const outputFormat = toOutputFormat(body, model);
  return {
    model,
    inputs,
    isStreamed,
    billedScale: steps === undefined || model.billedSteps === undefined ? 1 : steps / model.billedSteps,
    request: {
      model: model.engineModel,
      prompt: body.prompt,
      count,
      ...size,
      ...given('seed', toSeed(body.seed)),
      ...given('steps', steps),
      ...given('guidanceScale', guidanceScale),
      // Engines differ in what they do with one that has no weight: it never reaches them.
      ...given('negativePrompt', guidanceScale === 0 ? undefined : asked.negativePrompt),
      outputFormat,
      ...given('outputCompression', body.output_compression ?? undefined),
      background: toBackground(body, outputFormat),
      ...given('script', model.script),
    },
  };
}

/** What other services take here, and what would be ignored without a word. */
function refuseUnsupported(body: ImageBody): void {
  for (const param of ['moderation', 'style'] as const) {
    if (body[param] === undefined || body[param] === null) continue;
    throw new GatewayError('unsupported_parameter', `${param} is not supported`, { param });
  }
}

function missingImage(body: ImageBody, model: ImageModel): GatewayError {
  if (model.references === undefined)
    return new GatewayError('unsupported_parameter', `image is not supported by the model ${model.id}`, {
      param: 'image',
    });
  const param = body.images === undefined || body.images === null ? 'image' : 'images';
  return refusal(param, 'is required: an edit needs an image');
}

function toSeed(seed: number | null | undefined): number | undefined {
  return seed === null || seed === undefined ? undefined : Math.min(seed, greatestSeed);
}

function toOutputFormat({ output_format: asked }: ImageBody, { outputFormats }: ImageModel): PictureFormat {
  const offered: readonly PictureFormat[] = outputFormats ?? pictureFormats;
  const format = offered.find((name) => name === (asked ?? 'png')) ?? offered[0];
  return format ?? 'png';
}

function toBackground({ background }: ImageBody, format: PictureFormat): ImageRequest['background'] {
  if (background === 'transparent') {
    if (format === 'jpeg')
      throw refusal('background', 'must not be transparent with output_format jpeg: use png or webp');
    return 'transparent';
  }
  return background === 'opaque' ? 'opaque' : 'auto';
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [N in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [N in Name]?: Value });
}
