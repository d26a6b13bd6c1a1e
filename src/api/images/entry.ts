/** An image model as its list and its endpoint record show it. */
import { toArchitecture } from '../../platform/catalog/entry.ts';
import type { ImageModel } from '../../platform/catalog/index.ts';
import { imageSettings } from '../../platform/catalog/parameters.ts';
import { toDescriptors } from './parameters.ts';
import type { ImageEndpoints, ImageModelEntry } from './schema.ts';

export function toImageModelEntry(model: ImageModel): ImageModelEntry {
  const { input_modalities, output_modalities } = toArchitecture(model);
  return {
    id: model.id,
    name: model.name,
    description: model.description ?? '',
    created: model.created,
    endpoints: `/v1/images/models/${model.author}/${model.id}/endpoints`,
    architecture: { input_modalities, output_modalities },
    supported_parameters: toDescriptors(model),
    supports_streaming: true,
  };
}

export function toImageEndpoints(model: ImageModel): ImageEndpoints {
  const price = model.pricing?.completion;
  return {
    id: model.id,
    endpoints: [
      {
        provider_name: model.author,
        provider_slug: model.author,
        provider_tag: null,
        supported_parameters: toDescriptors(model),
        allowed_passthrough_parameters: [...imageSettings(model)],
        supports_streaming: true,
        pricing:
          price === undefined
            ? []
            : [{ billable: 'output_image', unit: 'megapixel', cost_usd: Number(price) }],
      },
    ],
  };
}
