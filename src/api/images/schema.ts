/** What the image routes take and answer. */
import Type, { type Static, type TProperties } from 'typebox';
import { Descriptor } from './parameters.ts';

function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const descriptors = Type.Record(Type.String(), Descriptor, {
  description: 'Every accepted parameter by name.',
});

export const ImageModelEntry = closed({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  created: Type.Integer({ description: 'Unix seconds' }),
  endpoints: Type.String({ description: "Relative URL of the model's endpoint record." }),
  architecture: closed({
    input_modalities: Type.Array(Type.String()),
    output_modalities: Type.Array(Type.String()),
  }),
  supported_parameters: descriptors,
  supports_streaming: Type.Boolean(),
});
export type ImageModelEntry = Static<typeof ImageModelEntry>;

export const ImageModels = closed({ data: Type.Array(ImageModelEntry) });

export const ImageEndpoints = closed({
  id: Type.String(),
  endpoints: Type.Array(
    closed({
      provider_name: Type.String(),
      provider_slug: Type.String(),
      provider_tag: Type.Null(),
      supported_parameters: descriptors,
      allowed_passthrough_parameters: Type.Array(Type.String(), {
        description: 'What the model also takes under provider.options.',
      }),
      supports_streaming: Type.Boolean(),
      pricing: Type.Array(
        closed({
          billable: Type.Literal('output_image'),
          unit: Type.Literal('megapixel'),
          cost_usd: Type.Number(),
        }),
        { description: 'Empty when the model has no price.' },
      ),
    }),
  ),
});
export type ImageEndpoints = Static<typeof ImageEndpoints>;
