/** What the video routes take and answer. */
import Type, { type Static, type TProperties } from 'typebox';

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
