/**
 * What the image routes take and answer. Null means omitted. A field that is not here is refused: most of what is named
 * otherwise elsewhere would change the picture. How far a value may go is the model's to say, see `parameters.ts`.
 */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { Descriptor, qualities, responseFormats } from './parameters.ts';

/** Of one reference, edit image or mask. */
export const maxImageBytes = 20e6;
/** Of all of them together. */
export const maxTotalImageBytes = 64e6;

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

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** What may also stand under `provider.options`; the top level wins. */
const settings = {
  num_inference_steps: optional(Type.Integer({ description: 'The same as steps, which wins' })),
  steps: optional(Type.Integer()),
  guidance_scale: optional(Type.Number()),
  negative_prompt: optional(
    Type.String({ description: 'Takes effect only where guidance_scale is above 0' }),
  ),
};
export const ImageSettings = Type.Object(settings);
export type ImageSettings = Static<typeof ImageSettings>;

/** A `file_id` is told apart from a misspelt field: other services take one here. */
const EditImage = closed({
  image_url: optional(Type.String({ minLength: 1, description: 'An https address, or a base64 data URI' })),
  file_id: Type.Optional(Type.Unknown({ description: 'Refused: send the image itself' })),
});
export type EditImage = Static<typeof EditImage>;

/** JSON knows no longer integers than this exactly; what is rounded is rounded the same way every time. */
const int64 = 2 ** 63;

const imageFields = {
  prompt: Type.String(),
  model: optional(Type.String()),
  n: optional(Type.Integer()),
  response_format: optional(Type.Enum([...responseFormats])),
  size: optional(
    Type.String({ description: '`WIDTHxHEIGHT`, a resolution such as `1K`, or `auto`: the model’s default' }),
  ),
  width: optional(Type.Integer({ description: 'Deprecated: use size' })),
  height: optional(Type.Integer({ description: 'Deprecated: use size' })),
  aspect_ratio: optional(Type.String()),
  resolution: optional(Type.String()),
  seed: optional(Type.Integer({ minimum: -int64, maximum: int64 })),
  output_format: optional(Type.String({ description: 'Default `png`' })),
  output_compression: optional(
    Type.Integer({ description: 'The quality of jpeg and webp, the compression level of png' }),
  ),
  background: optional(Type.String({ description: '`auto` (default), `opaque`, `transparent`' })),
  input_references: optional(
    Type.Array(
      Type.Object({
        type: Type.Literal('image_url'),
        image_url: Type.Object({
          url: Type.String({ minLength: 1, description: 'An https address, or a base64 data URI' }),
        }),
      }),
    ),
  ),
  images: optional(Type.Array(EditImage)),
  mask: optional(EditImage),
  ...settings,
  provider: optional(
    Type.Object(
      { options: optional(Type.Object({}, { description: 'Settings of the model; the top level wins' })) },
      { description: 'Ignored, but for its options' },
    ),
  ),
  stream: optional(Type.Boolean()),
  partial_images: optional(Type.Integer()),
  quality: optional(Type.Enum([...qualities], { description: 'Ignored' })),
  user: Type.Optional(Type.Unknown({ description: 'Ignored' })),
  session_id: Type.Optional(Type.Unknown({ description: 'Ignored' })),
  trace: Type.Optional(Type.Unknown({ description: 'Ignored' })),
  moderation: Type.Optional(Type.Unknown({ description: 'Refused' })),
  style: Type.Optional(Type.Unknown({ description: 'Refused' })),
};
export const ImageBody = closed(imageFields);
export type ImageBody = Static<typeof ImageBody>;

const zero = Type.Literal(0);

export const ImageUsage = closed({
  prompt_tokens: zero,
  completion_tokens: zero,
  total_tokens: zero,
  input_tokens: zero,
  output_tokens: zero,
  input_tokens_details: closed({ text_tokens: zero, image_tokens: zero }),
  cost: Type.Number({ description: 'Dollars billed' }),
  megapixels: Type.Number({ description: 'What is billed: of all images, scaled by the steps' }),
});
export type ImageUsage = Static<typeof ImageUsage>;

const mediaType = Type.Enum(['image/png', 'image/jpeg', 'image/webp']);
const outputFormat = Type.Enum(['png', 'jpeg', 'webp']);
const background = Type.Enum(['transparent', 'opaque']);

export const ImageAnswer = closed({
  created: Type.Integer({ description: 'Unix seconds' }),
  data: Type.Array(
    closed({
      b64_json: Type.Optional(Type.String()),
      url: Type.Optional(Type.String({ description: 'Works without a key for one hour' })),
      media_type: mediaType,
      revised_prompt: Type.Optional(Type.String()),
    }),
    { minItems: 1 },
  ),
  size: Type.String(),
  output_format: outputFormat,
  background,
  usage: ImageUsage,
});
export type ImageAnswer = Static<typeof ImageAnswer>;

export const ImageCompleted = closed({
  type: Type.Literal('image_generation.completed'),
  b64_json: Type.String(),
  created: Type.Integer(),
  created_at: Type.Integer(),
  media_type: mediaType,
  size: Type.String(),
  output_format: outputFormat,
  background,
  quality: Type.Literal('auto'),
  revised_prompt: Type.Optional(Type.String()),
  usage: ImageUsage,
});
export type ImageCompleted = Static<typeof ImageCompleted>;
