/** A video model as its list shows it. */
import type { VideoModel } from '../../platform/catalog/index.ts';
import { videoSettings } from '../../platform/catalog/parameters.ts';
import type { VideoModelEntry } from './schema.ts';

export function toVideoModelEntry(model: VideoModel): VideoModelEntry {
  const { duration, inputReferences } = model;
  const sizes = Object.values(model.resolutions);
  return {
    id: model.id,
    canonical_slug: model.id,
    name: model.name,
    created: model.created,
    ...(model.description === undefined ? {} : { description: model.description }),
    hugging_face_id: model.huggingFaceId ?? null,
    supported_resolutions: Object.keys(model.resolutions),
    supported_aspect_ratios: unique(sizes.flatMap((table) => Object.keys(table))),
    supported_sizes: unique(sizes.flatMap((table) => Object.values(table))),
    supported_durations: Array.from(
      { length: duration.max - duration.min + 1 },
      (_, index) => duration.min + index,
    ),
    supported_frame_images: [...(model.frameImages ?? [])],
    supported_input_references:
      inputReferences === undefined
        ? null
        : {
            image_url: inputReferences.images,
            video_url: inputReferences.videos,
            audio_url: inputReferences.audio,
            total: inputReferences.total,
          },
    generate_audio: model.audio,
    seed: model.seed ?? false,
    creativity: null,
    upscale_factor: null,
    pricing_skus: toPricingSkus(model),
    allowed_passthrough_parameters: [...videoSettings(model)],
    default_duration: duration.default,
    fps: model.fps,
    max_prompt_length: model.maxPromptLength,
  };
}

function toPricingSkus(model: VideoModel): Record<string, string> | null {
  const price = model.pricing?.completion;
  if (price === undefined) return null;
  const skus: Record<string, string> = { duration_seconds: price };
  for (const resolution of Object.keys(model.resolutions)) {
    if (resolution === model.defaultResolution) continue;
    skus[`duration_seconds_${resolution}`] = multiply(price, model.resolutionPriceFactors?.[resolution] ?? 1);
  }
  return skus;
}

/** A decimal string times a factor, exactly: money is never a floating-point number. */
function multiply(price: string, factor: number): string {
  const [a, b] = [
    toScaled(price),
    toScaled(factor.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 })),
  ];
  const digits = String(a.value * b.value).padStart(a.scale + b.scale + 1, '0');
  const point = digits.length - a.scale - b.scale;
  const fraction = digits.slice(point).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`;
}

function toScaled(decimal: string): { value: bigint; scale: number } {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return { value: BigInt(whole + fraction), scale: fraction.length };
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
