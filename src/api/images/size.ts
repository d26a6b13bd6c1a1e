/**
 * Which size an image gets, from the five fields that can say so: `size` as sides or as the label of a resolution,
 * `width` with `height`, `aspect_ratio` and `resolution`. What is said twice must agree. Pure.
 */
import { refusal } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import type { ImageModel } from '../../platform/catalog/index.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** As the request has them; that ratio and resolution are the model's own was checked before. */
export interface AskedSize {
  readonly size?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly aspectRatio?: string | undefined;
  readonly resolution?: string | undefined;
  /** How many images of it. */
  readonly count: number;
}

/** A size that was given in sides, and the field to name when it cannot be. */
interface Sides extends Size {
  readonly param: 'size' | 'width';
}

export function toImageSize(asked: AskedSize, model: ImageModel): Size {
  const { sides: inSize, label } = readSize(asked.size, model);
  const inSides = readSides(asked);
  if (inSize !== undefined && inSides !== undefined && toText(inSize) !== toText(inSides))
    throw refusal('width', `and height give ${toText(inSides)}, which is not the size ${toText(inSize)}`);
  const resolution = asked.resolution ?? label;
  if (label !== undefined && resolution !== label)
    throw refusal('resolution', `is ${resolution}, which is not the size ${label}`);
  const sides = inSize ?? inSides;
  if (sides === undefined) return checkTotal(pick(asked.aspectRatio, resolution, model), asked.count, model);
  checkConstraint(sides, model.size);
  checkAgreement(sides, asked.aspectRatio, resolution, model);
  return checkTotal({ width: sides.width, height: sides.height }, asked.count, model);
}

function readSize(size: string | undefined, { resolutions }: ImageModel): { sides?: Sides; label?: string } {
  if (size === undefined || size === 'auto') return {};
  if (Object.hasOwn(resolutions, size)) return { label: size };
  if (!/^[1-9]\d{0,8}x[1-9]\d{0,8}$/.test(size)) {
    const labels = Object.keys(resolutions).join(', ');
    throw refusal('size', `must be WIDTHxHEIGHT, auto or one of ${labels}, not ${quoted(size)}`);
  }
  return { sides: { ...parse(size), param: 'size' } };
}

function readSides({ width, height }: AskedSize): Sides | undefined {
  if (width === undefined && height === undefined) return undefined;
  if (height === undefined) throw refusal('height', 'is required beside width');
  if (width === undefined) throw refusal('width', 'is required beside height');
  return { width, height, param: 'width' };
}

function checkConstraint({ param, width, height }: Sides, constraint: ImageModel['size']): void {
  const { multipleOf, minArea, maxArea, maxRatio } = constraint;
  const given = `${param === 'size' ? 'must' : 'and height must'}`;
  if (width % multipleOf !== 0 || height % multipleOf !== 0)
    throw refusal(param, `${given} have sides that are multiples of ${multipleOf}`);
  const area = width * height;
  if (area < minArea || area > maxArea)
    throw refusal(param, `${given} cover from ${minArea} to ${maxArea} pixels, and these are ${area}`);
  if (Math.max(width, height) > maxRatio * Math.min(width, height))
    throw refusal(param, `${given} have a longer side of at most ${maxRatio} times the shorter`);
}

function checkAgreement(
  sides: Sides,
  aspectRatio: string | undefined,
  resolution: string | undefined,
  { resolutions }: ImageModel,
): void {
  const size = toText(sides);
  if (resolution !== undefined && !Object.values(resolutions[resolution] ?? {}).includes(size))
    throw refusal('resolution', `${resolution} has no size ${size}`);
  if (aspectRatio === undefined) return;
  const agrees =
    resolution === undefined
      ? isOfRatio(sides, aspectRatio) ||
        Object.values(resolutions).some((sizes) => sizes[aspectRatio] === size)
      : resolutions[resolution]?.[aspectRatio] === size;
  if (!agrees) throw refusal('aspect_ratio', `${aspectRatio} is not the ratio of the size ${size}`);
}

function isOfRatio({ width, height }: Size, ratio: string): boolean {
  const [across = 0, down = 0] = ratio.split(':').map(Number);
  return width * down === height * across;
}

/** From the model's table, whose sizes all lie within its constraint: the catalogue lets no other in. */
function pick(aspectRatio: string | undefined, resolution: string | undefined, model: ImageModel): Size {
  if (aspectRatio === undefined && resolution === undefined) return parse(model.size.default);
  const label = resolution ?? model.defaultResolution;
  const sizes = model.resolutions[label] ?? {};
  if (aspectRatio !== undefined) {
    const size = sizes[aspectRatio];
    if (size === undefined) throw refusal('aspect_ratio', `${aspectRatio} is not there at ${label}`);
    return parse(size);
  }
  const size = sizes[defaultRatio(model)] ?? sizes['1:1'] ?? Object.values(sizes)[0];
  if (size === undefined) throw refusal('resolution', `${label} has no sizes`);
  return parse(size);
}

function defaultRatio({ size, resolutions, defaultResolution }: ImageModel): string {
  const entry = Object.entries(resolutions[defaultResolution] ?? {}).find(([, is]) => is === size.default);
  return entry?.[0] ?? '1:1';
}

/** The images of one request are made together, in one memory. */
function checkTotal(size: Size, count: number, { size: { maxTotalArea } }: ImageModel): Size {
  const total = count * size.width * size.height;
  if (maxTotalArea === undefined || total <= maxTotalArea) return size;
  throw refusal(
    'n',
    `is too many: ${count} images of the size ${toText(size)} cover ${total} pixels together, more than ${maxTotalArea}`,
  );
}

function parse(size: string): Size {
  const [width = 0, height = 0] = size.split('x').map(Number);
  return { width, height };
}

export function toText({ width, height }: Size): string {
  return `${width}x${height}`;
}
