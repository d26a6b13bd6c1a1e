/** What the transcription route takes and answers. Null means omitted; unknown fields are ignored and never handed on. */
import Type, { type Static, type TSchema } from 'typebox';

/** Decoded from JSON, or as a file. */
export const maxAudioBytes = 25e6;
export const maxAudioSeconds = 4 * 3600;

export const audioFormats = ['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'aac'] as const;

function optional<S extends TSchema>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const common = {
  model: Type.String(),
  language: optional(
    Type.String({ description: 'An ISO 639-1 code; without it the language is told from the speech' }),
  ),
  prompt: optional(Type.String({ description: 'How names and terms are spelt' })),
  temperature: optional(Type.Number({ minimum: 0, maximum: 1 })),
  response_format: optional(Type.Enum(['json', 'text'])),
  stream: optional(Type.Boolean()),
  timestamp_granularities: Type.Optional(Type.Unknown({ description: 'Refused: there are no timestamps' })),
  /** Accepted and ignored. */
  provider: Type.Optional(Type.Unknown()),
  user: Type.Optional(Type.Unknown()),
  session_id: Type.Optional(Type.Unknown()),
  trace: Type.Optional(Type.Unknown()),
};

export const TranscriptionFields = Type.Object(common);
export type TranscriptionFields = Static<typeof TranscriptionFields>;

export const TranscriptionBody = Type.Object({
  ...common,
  input_audio: Type.Object({
    data: Type.String({ minLength: 1, description: 'Raw base64: neither a data URI nor an address' }),
    format: Type.Enum([...audioFormats]),
  }),
});
export type TranscriptionBody = Static<typeof TranscriptionBody>;

/** Answers are closed, so that a test finds what should not be there. */
const closed = { additionalProperties: false } as const;

export const TranscriptionUsage = Type.Object(
  {
    type: Type.Literal('duration'),
    seconds: Type.Integer({ minimum: 0, description: 'Of the audio, rounded up: what is billed' }),
    cost: Type.Number({ description: 'Dollars billed' }),
  },
  closed,
);
export type TranscriptionUsage = Static<typeof TranscriptionUsage>;

export const Transcription = Type.Object(
  {
    text: Type.String(),
    task: Type.Literal('transcribe'),
    language: Type.Optional(Type.String()),
    duration: Type.Number({ description: 'Seconds' }),
    usage: TranscriptionUsage,
  },
  closed,
);
export type Transcription = Static<typeof Transcription>;
