/** What the video routes take and answer. Null means omitted. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { commonJobMembers } from '../../http/jobs/schema.ts';
import { providerOf } from '../../http/provider-options.ts';
import { wholeNumber } from '../../http/whole-number.ts';

function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const texts = Type.Array(Type.String());

export const VideoModelEntry = closed({
  id: Type.String(),
  canonical_slug: Type.String(),
  name: Type.String(),
  created: Type.Integer({ description: 'Unix seconds' }),
  description: Type.Optional(Type.String()),
  hugging_face_id: Type.Union([Type.String(), Type.Null()]),
  supported_resolutions: texts,
  supported_aspect_ratios: texts,
  supported_sizes: texts,
  supported_durations: Type.Array(Type.Integer(), { description: 'Seconds' }),
  supported_frame_images: texts,
  supported_input_references: Type.Union([
    closed({
      image_url: Type.Integer(),
      video_url: Type.Integer(),
      audio_url: Type.Integer(),
      total: Type.Integer(),
    }),
    Type.Null(),
  ]),
  generate_audio: Type.Boolean(),
  seed: Type.Boolean(),
  creativity: Type.Null(),
  upscale_factor: Type.Null(),
  pricing_skus: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
    description:
      'Dollars per second, `duration_seconds_<resolution>` beside the default resolution; null when unpriced.',
  }),
  allowed_passthrough_parameters: Type.Array(Type.String(), {
    description: 'What the model also takes under provider.options.',
  }),
  default_duration: Type.Integer(),
  fps: Type.Integer(),
  max_prompt_length: Type.Integer(),
});
export type VideoModelEntry = Static<typeof VideoModelEntry>;

export const VideoModels = closed({ data: Type.Array(VideoModelEntry) });

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Of everything that is sent: twelve references of their largest would be more. */
export const maxVideoBodyBytes = 150e6;
export const maxImageBytes = 30e6;
export const maxFilmBytes = 50e6;
export const maxSoundBytes = 15e6;

const url = Type.String({ minLength: 1, description: 'An https address, or a base64 data URI' });
const media = Type.Object({ url });

/** What may stand under `provider.options` too. */
export const settingProperties = {
  quality: optional(Type.Enum(['turbo', 'standard', 'max', 'auto', 'low', 'medium', 'high'])),
  num_inference_steps: optional(wholeNumber),
  start_time_seconds: optional(Type.Number({ minimum: 0 })),
};
export const VideoSettings = Type.Object(settingProperties);

export const FrameImage = Type.Object({
  type: Type.Literal('image_url'),
  image_url: media,
  frame_type: Type.Enum(['first_frame', 'last_frame']),
});
export type FrameImage = Static<typeof FrameImage>;

export const InputReference = Type.Object({
  type: Type.Enum(['image_url', 'video_url', 'audio_url']),
  image_url: Type.Optional(media),
  video_url: Type.Optional(media),
  audio_url: Type.Optional(media),
  role: optional(Type.Enum(['reference', 'driving', 'control'])),
});
export type InputReference = Static<typeof InputReference>;

const common = {
  model: Type.String(),
  prompt: Type.String({ description: 'Used as written' }),
  duration: optional(wholeNumber),
  seconds: optional(wholeNumber),
  resolution: optional(Type.String()),
  aspect_ratio: optional(Type.String()),
  size: optional(Type.String({ description: '`WIDTHxHEIGHT`' })),
  frame_images: optional(Type.Array(FrameImage, { maxItems: 2 })),
  input_references: optional(Type.Array(InputReference)),
  generate_audio: optional(Type.Boolean()),
  seed: optional(wholeNumber),
  ...settingProperties,
  callback_url: optional(Type.String({ description: 'https on a public host: told when the job has ended' })),
  provider: providerOf(settingProperties),
  /** Accepted and ignored. */
  user: Type.Optional(Type.Unknown()),
  session_id: Type.Optional(Type.Unknown()),
  trace: Type.Optional(Type.Unknown()),
};

export const FirstFrame = Type.Object({ image_url: Type.Union([url, media]) });

export const VideoBody = Type.Object({
  ...common,
  input_reference: Type.Optional(
    Type.Union([url, FirstFrame, Type.Null()], { description: 'The first frame' }),
  ),
});
export type VideoBody = Static<typeof VideoBody>;

export const VideoJob = closed({
  ...commonJobMembers,
  object: Type.Literal('video'),
  prompt: Type.String(),
  duration: Type.Integer(),
  seconds: Type.String({ description: 'The duration as OpenAI clients read it' }),
  resolution: Type.String(),
  aspect_ratio: Type.String(),
  size: Type.String(),
  quality: Type.String(),
  num_inference_steps: Type.Integer(),
  generate_audio: Type.Boolean(),
  seed: Type.Integer(),
  output: Type.Optional(
    closed({
      duration: Type.Number({ description: 'Seconds, on the frame grid' }),
      width: Type.Integer(),
      height: Type.Integer(),
      fps: Type.Number(),
      bytes: Type.Integer(),
      has_audio: Type.Boolean(),
    }),
  ),
  remixed_from_video_id: Type.Optional(Type.Null()),
});
