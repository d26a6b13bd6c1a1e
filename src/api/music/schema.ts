/** What the music routes take and answer. */
import Type, { type Static, type TProperties } from 'typebox';

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
