/** What the music routes take and answer. Null means omitted. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { commonJobMembers } from '../../http/jobs/schema.ts';
import { providerOf } from '../../http/provider-options.ts';
import { wholeNumber } from '../../http/whole-number.ts';

function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

export const MusicModelEntry = closed({
  id: Type.String(),
  canonical_slug: Type.String(),
  name: Type.String(),
  created: Type.Integer({ description: 'Unix seconds' }),
  description: Type.String(),
  hugging_face_id: Type.Union([Type.String(), Type.Null()]),
  supported_formats: Type.Array(Type.String()),
  duration: closed({
    type: Type.Literal('range'),
    min: Type.Integer(),
    max: Type.Integer(),
    default: Type.Integer(),
  }),
  max_outputs: Type.Integer(),
  max_prompt_length: Type.Integer(),
  max_lyrics_length: Type.Union([Type.Integer(), Type.Null()]),
  lyrics: Type.Boolean(),
  instrumental: Type.Boolean(),
  seed: Type.Boolean(),
  supported_input_references: Type.Union([
    closed({ audio_url: Type.Integer(), total: Type.Integer() }),
    Type.Null(),
  ]),
  sample_rate: Type.Integer(),
  channels: Type.Integer(),
  streaming: Type.Union([
    closed({
      progressive: Type.Literal(true),
      format: Type.Literal('wav'),
      sample_rate: Type.Integer(),
      bit_depth: Type.Literal(16),
      channels: Type.Integer(),
    }),
    closed({ progressive: Type.Literal(false) }),
  ]),
  pricing_skus: Type.Union([closed({ duration_seconds: Type.String() }), Type.Null()], {
    description: 'Dollars per second; null when unpriced.',
  }),
  allowed_passthrough_parameters: Type.Array(Type.String(), {
    description: 'What the model also takes under provider.options.',
  }),
});
export type MusicModelEntry = Static<typeof MusicModelEntry>;

export const MusicModels = closed({ data: Type.Array(MusicModelEntry) });

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

export const maxSoundBytes = 15e6;
/** A reference in base64, and something around it. */
export const maxMusicBodyBytes = 32e6;

export const musicFormats = ['mp3', 'wav', 'flac', 'opus'] as const;

/** What may stand under `provider.options` too. */
export const settingProperties = {
  negative_prompt: optional(Type.String()),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(Type.Integer({ minimum: 0 })),
  guidance_scale: optional(Type.Number({ minimum: 0, maximum: 100 })),
  num_inference_steps: optional(Type.Integer({ minimum: 1, maximum: 1000 })),
};
export const MusicSettings = Type.Object(settingProperties);

const instrumental = optional(Type.Boolean());
const format = optional(Type.Enum([...musicFormats]));

export const MusicBody = Type.Object({
  model: Type.String(),
  prompt: Type.String(),
  lyrics: optional(Type.String()),
  lyrics_text: optional(Type.String({ description: 'Another name of lyrics' })),
  instrumental,
  is_instrumental: instrumental,
  force_instrumental: instrumental,
  duration: optional(wholeNumber),
  seconds: optional(wholeNumber),
  music_length_ms: optional(wholeNumber),
  n: optional(wholeNumber),
  response_format: format,
  output_format: format,
  seed: optional(wholeNumber),
  ...settingProperties,
  input_references: optional(
    Type.Array(
      Type.Object({
        type: Type.Literal('audio_url'),
        audio_url: Type.Object({
          url: Type.String({ minLength: 1, description: 'An https address, or a base64 data URI' }),
        }),
      }),
      { maxItems: 1 },
    ),
  ),
  callback_url: optional(Type.String({ description: 'https on a public host: told when the job has ended' })),
  provider: providerOf(settingProperties),
  /** Accepted and ignored. */
  user: Type.Optional(Type.Unknown()),
  session_id: Type.Optional(Type.Unknown()),
  trace: Type.Optional(Type.Unknown()),
});
export type MusicBody = Static<typeof MusicBody>;

export const MusicJob = closed({
  ...commonJobMembers,
  object: Type.Literal('music'),
  prompt: Type.String(),
  lyrics: Type.Optional(Type.String()),
  instrumental: Type.Boolean(),
  duration: Type.Integer(),
  response_format: Type.String(),
  seed: Type.Integer(),
  stream_url: Type.Optional(
    Type.String({ description: 'While it is made, on models that stream: the song from its first note' }),
  ),
  outputs: Type.Optional(
    Type.Array(
      closed({
        index: Type.Integer(),
        url: Type.String(),
        duration: Type.Number({ description: 'Seconds' }),
        format: Type.String(),
        media_type: Type.String(),
        sample_rate: Type.Integer(),
        channels: Type.Integer(),
        bytes: Type.Integer(),
      }),
    ),
  ),
});

export const StreamQuery = Type.Object({ index: Type.Optional(Type.Integer({ minimum: 0 })) });
