/** What the speech routes take and answer. */
import Type, { type Static, type TProperties } from 'typebox';

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
