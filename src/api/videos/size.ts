/** Which size a video has: `size`, or `resolution` and `aspect_ratio`, which must agree where both are given. Pure. */
import { refusal } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import type { VideoModel } from '../../platform/catalog/index.ts';

export interface VideoSize {
  readonly resolution: string;
  readonly aspectRatio: string;
  readonly width: number;
  readonly height: number;
  /** What is rendered is enlarged by this factor. */
  readonly upscale: number;
}

export interface AskedSize {
  readonly size?: string | null | undefined;
  readonly resolution?: string | null | undefined;
  readonly aspect_ratio?: string | null | undefined;
}

type SizedModel = Pick<VideoModel, 'resolutions' | 'defaultResolution' | 'defaultAspectRatio'>;

export function toVideoSize(asked: AskedSize, model: SizedModel): VideoSize {
  const { resolutions, defaultResolution, defaultAspectRatio } = model;
  const { size, resolution, aspect_ratio: ratio } = asked;
  if (resolution != null && !Object.hasOwn(resolutions, resolution))
    throw refusal('resolution', `must be one of ${Object.keys(resolutions).join(', ')}`);
  const ratios = [...new Set(Object.values(resolutions).flatMap((table) => Object.keys(table)))];
  if (ratio != null && !ratios.includes(ratio))
    throw refusal('aspect_ratio', `must be one of ${ratios.join(', ')}`);
  if (size != null) return ofSize(size, asked, model);
  const [chosen, shape] = [resolution ?? defaultResolution, ratio ?? defaultAspectRatio];
  const found = resolutions[chosen]?.[shape];
  if (found === undefined)
    throw refusal('aspect_ratio', `${quoted(shape)} does not exist at the resolution ${chosen}`);
  return toResult(chosen, shape, found, model);
}

/** Each size belongs to one resolution and one ratio. */
function ofSize(size: string, { resolution, aspect_ratio: ratio }: AskedSize, model: SizedModel): VideoSize {
  for (const [name, table] of Object.entries(model.resolutions)) {
    const shape = Object.keys(table).find((key) => table[key] === size);
    if (shape === undefined) continue;
    if (resolution != null && resolution !== name)
      throw refusal('size', `${size} is ${name}, which disagrees with resolution ${quoted(resolution)}`);
    if (ratio != null && ratio !== shape)
      throw refusal('size', `${size} is ${shape}, which disagrees with aspect_ratio ${quoted(ratio)}`);
    return toResult(name, shape, size, model);
  }
  const sizes = Object.values(model.resolutions).flatMap((table) => Object.values(table));
  throw refusal('size', `must be one of ${[...new Set(sizes)].join(', ')}`);
}

function toResult(resolution: string, aspectRatio: string, size: string, model: SizedModel): VideoSize {
  const [width, height] = toSides(size);
  const preset = model.resolutions[model.defaultResolution]?.[aspectRatio];
  const factor = preset === undefined ? 1 : width / toSides(preset)[0];
  return {
    resolution,
    aspectRatio,
    width,
    height,
    upscale: Number.isInteger(factor) && factor > 1 ? factor : 1,
  };
}

function toSides(size: string): [width: number, height: number] {
  const [width = 0, height = 0] = size.split('x').map(Number);
  return [width, height];
}
