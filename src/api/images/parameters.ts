/**
 * What an image model takes, as descriptors. They are published with the model and requests are held against the
 * same ones, so that a request at a published limit is accepted and one outside it is not. Pure.
 */
import Type, { type Static, type TProperties } from 'typebox';
import { pictureFormats } from '../../engines/contract/picture.ts';
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import type { ImageModel } from '../../platform/catalog/index.ts';
import { type ImageParameter, imageParameters } from '../../platform/catalog/parameters.ts';

export const responseFormats = ['url', 'b64_json'] as const;
export const qualities = ['auto', 'low', 'medium', 'high', 'standard', 'hd', 'xhigh', 'max'] as const;

function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

export const EnumDescriptor = closed({
  type: Type.Literal('enum'),
  values: Type.Array(Type.String()),
  sizes: Type.Optional(
    Type.Record(Type.String(), Type.Record(Type.String(), Type.String()), {
      description: 'On `resolution`: resolution → aspect ratio → size.',
    }),
  ),
});
export const RangeDescriptor = closed({
  type: Type.Literal('range'),
  min: Type.Number(),
  max: Type.Number(),
  default: Type.Optional(Type.Number()),
  also: Type.Optional(
    Type.Array(Type.Number(), { description: 'Values outside the range that are taken too.' }),
  ),
});
export const BooleanDescriptor = closed({ type: Type.Literal('boolean') });
export const StringDescriptor = closed({ type: Type.Literal('string'), max_length: Type.Integer() });
export const SizeDescriptor = closed({
  type: Type.Literal('constraint'),
  multiple_of: Type.Integer(),
  min_area: Type.Integer(),
  max_area: Type.Integer(),
  max_ratio: Type.Number(),
  max_total_area: Type.Optional(Type.Integer()),
});
export const Descriptor = Type.Union([
  EnumDescriptor,
  RangeDescriptor,
  BooleanDescriptor,
  StringDescriptor,
  SizeDescriptor,
]);
export type Descriptor = Static<typeof Descriptor>;
type RangeDescriptor = Static<typeof RangeDescriptor>;

export function toDescriptors(model: ImageModel): Partial<Record<ImageParameter, Descriptor>> {
  return Object.fromEntries(imageParameters(model).map((name) => [name, describe[name](model)]));
}

export function isImageParameter(name: string): name is ImageParameter {
  return Object.hasOwn(describe, name);
}

/**
 * Refuses what a request has for a parameter when it lies outside of what is published, or when the model does not take
 * the parameter at all. `path` is where it stood. A `size` is a matter of `size.ts`.
 */
export function checkParameter(
  name: ImageParameter,
  value: unknown,
  model: ImageModel,
  path: string = name,
): void {
  if (!imageParameters(model).includes(name)) {
    const message = `${path} is not supported by the model ${model.id}`;
    throw new GatewayError('unsupported_parameter', message, { param: path });
  }
  const problem = findProblem(describe[name](model), value);
  if (problem !== undefined) throw new GatewayError('invalid_request', `${path} ${problem}`, { param: path });
}

/** That the value is of the parameter's type, the body's schema has told already. */
function findProblem(descriptor: Descriptor, value: unknown): string | undefined {
  switch (descriptor.type) {
    case 'enum': {
      const { values } = descriptor;
      if (typeof value !== 'string' || values.includes(value)) return undefined;
      return `must be one of ${values.join(', ')}, not ${quoted(value)}`;
    }
    case 'range': {
      const { min, max, also = [] } = descriptor;
      if (Array.isArray(value)) return value.length <= max ? undefined : `must have at most ${max} images`;
      const number = Number(value);
      if ((number >= min && number <= max) || also.includes(number)) return undefined;
      const others = also.length === 0 ? '' : `, or ${also.join(', ')}`;
      return (min === max ? `must be ${min}` : `must be from ${min} to ${max}`) + others;
    }
    case 'string': {
      const { max_length: most } = descriptor;
      return typeof value === 'string' && countCharacters(value) > most
        ? `must have at most ${most} characters`
        : undefined;
    }
    case 'boolean':
    case 'constraint':
      return undefined;
  }
}

/** In Unicode characters, not in UTF-16 units: an emoji is one. */
function countCharacters(text: string): number {
  let pairs = 0;
  for (const _ of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) pairs += 1;
  return text.length - pairs;
}

/** The specification's bound on images per request, where a model gives none of its own. */
const maxImages = 10;

const describe: Readonly<Record<ImageParameter, (model: ImageModel) => Descriptor>> = {
  prompt: promptText,
  n: (model) => ({ type: 'range', min: 1, max: model.maxImages ?? maxImages, default: 1 }),
  size: ({ size }) => ({
    type: 'constraint',
    multiple_of: size.multipleOf,
    min_area: size.minArea,
    max_area: size.maxArea,
    max_ratio: size.maxRatio,
    ...(size.maxTotalArea === undefined ? {} : { max_total_area: size.maxTotalArea }),
  }),
  width: side,
  height: side,
  aspect_ratio: ({ resolutions }) =>
    enumOf(Object.values(resolutions).flatMap((sizes) => Object.keys(sizes))),
  resolution: ({ resolutions }) => ({ ...enumOf(Object.keys(resolutions)), sizes: resolutions }),
  // Any integer: the router convention says only that it is taken.
  seed: boolean,
  response_format: () => enumOf(responseFormats),
  output_format: (model) => enumOf(model.outputFormats ?? pictureFormats),
  output_compression: () => ({ type: 'range', min: 0, max: 100 }),
  background: (model) =>
    enumOf(['auto', 'opaque', ...(model.transparentBackground === true ? ['transparent'] : [])]),
  quality: () => enumOf(qualities),
  stream: boolean,
  partial_images: () => ({ type: 'range', min: 0, max: 0, default: 0 }),
  num_inference_steps: (model) => rangeOf(model.steps),
  steps: (model) => rangeOf(model.steps),
  guidance_scale: (model) => rangeOf(model.guidanceScale),
  negative_prompt: promptText,
  input_references: references,
  image: references,
  images: references,
  mask: boolean,
};

function promptText(model: ImageModel): Descriptor {
  return { type: 'string', max_length: model.maxPromptLength };
}

function boolean(): Descriptor {
  return { type: 'boolean' };
}

/** How many images. */
function references(model: ImageModel): Descriptor {
  return { type: 'range', min: 0, max: model.references?.max ?? 0 };
}

/** The shortest and the longest side that a size within the constraint can have. */
function side({ size }: ImageModel): Descriptor {
  const { multipleOf, minArea, maxArea, maxRatio } = size;
  let min = Math.ceil(Math.sqrt(minArea / maxRatio) / multipleOf) * multipleOf;
  let max = Math.floor(Math.sqrt(maxArea * maxRatio) / multipleOf) * multipleOf;
  // Rounding to multiples can leave the outermost sides without a partner. The default size ends the search.
  while (!hasPartner(min, size)) min += multipleOf;
  while (!hasPartner(max, size)) max -= multipleOf;
  return { type: 'range', min, max };
}

function hasPartner(length: number, { multipleOf, minArea, maxArea, maxRatio }: ImageModel['size']): boolean {
  const shortest = Math.ceil(Math.max(length / maxRatio, minArea / length) / multipleOf) * multipleOf;
  return shortest <= Math.min(length * maxRatio, maxArea / length);
}

function rangeOf(range: ImageModel['steps']): RangeDescriptor {
  const { min, max, default: fallback, also } = range ?? { min: 0, max: 0 };
  return {
    type: 'range',
    min,
    max,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(also === undefined ? {} : { also }),
  };
}

function enumOf(values: readonly string[]): Static<typeof EnumDescriptor> {
  return { type: 'enum', values: [...new Set(values)] };
}
