/** What the speech routes take and answer. Null means omitted; unknown fields are ignored and never handed on. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

export const VoicesQuery = Type.Object({
  model: Type.Optional(Type.String({ description: 'Default: the default speech model.' })),
});

export const Voice = closed({
  id: Type.String(),
  object: Type.Literal('audio.voice'),
  name: Type.String(),
  type: Type.Union([Type.Literal('builtin'), Type.Literal('design'), Type.Literal('clone')]),
  languages: Type.Array(Type.String()),
  description: Type.String(),
});
export type Voice = Static<typeof Voice>;

export const VoiceList = closed({
  object: Type.Literal('list'),
  model: Type.String(),
  default_voice: Type.String(),
  voices: Type.Array(Type.String(), { description: 'The built-in speakers.' }),
  uploaded_voices: Type.Array(Type.String(), { maxItems: 0 }),
  data: Type.Array(Voice, { description: 'The built-in speakers, then the modes that the model has.' }),
});
export type VoiceList = Static<typeof VoiceList>;

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** What may also stand under `provider.options`; the top level wins. */
const settings = {
  instructions: optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'The style of a built-in speaker, or the description of the voice `design`',
    }),
  ),
  language: optional(
    Type.String({
      pattern: '^[A-Za-z][A-Za-z -]{1,40}$',
      description: '`auto` (default), an ISO 639-1 code or a name',
    }),
  ),
  speed: optional(Type.Number({ minimum: 0.25, maximum: 4, description: 'Default 1. The pitch stays' })),
  seed: optional(Type.Integer()),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(Type.Integer({ minimum: -1 })),
};
export const SpeechSettings = Type.Object(settings);
export type SpeechSettings = Static<typeof SpeechSettings>;

export const SpeechReference = Type.Union([
  Type.Object({
    type: Type.Literal('input_audio'),
    input_audio: Type.Object({
      data: Type.String({ minLength: 1, description: 'The clip in base64; no address' }),
      format: Type.Optional(Type.Unknown()),
    }),
  }),
  Type.Object({ type: Type.Literal('text'), text: Type.String({ minLength: 1, maxLength: 4096 }) }),
]);
export type SpeechReference = Static<typeof SpeechReference>;

export const SpeechBody = Type.Object({
  model: Type.String(),
  input: Type.String({ minLength: 1, description: 'At most the model’s `max_prompt_length` characters' }),
  voice: optional(
    Type.Union([Type.String({ minLength: 1 }), Type.Object({ id: Type.String({ minLength: 1 }) })], {
      description:
        'A built-in speaker, `design` or `clone`. Default: the model’s own, or `clone` when input_references is sent',
    }),
  ),
  input_references: optional(
    Type.Array(SpeechReference, {
      description: 'For `clone`: one clip of 1 to 60 seconds, and optionally its transcript',
    }),
  ),
  response_format: optional(Type.Enum(['mp3', 'opus', 'flac', 'wav', 'pcm'])),
  stream_format: optional(Type.Enum(['audio', 'sse'])),
  ...settings,
  /** Ignored, but for the settings in its `options`. */
  provider: Type.Optional(Type.Unknown()),
  user: Type.Optional(Type.Unknown()),
  session_id: Type.Optional(Type.Unknown()),
  trace: Type.Optional(Type.Unknown()),
});
export type SpeechBody = Static<typeof SpeechBody>;

export type SpeechFormat = 'mp3' | 'opus' | 'flac' | 'wav' | 'pcm';
