/** The voices of a speech model. */
import type { SpeechModel } from '../../platform/catalog/index.ts';
import type { Voice, VoiceList } from './schema.ts';

/** Modes, not speakers: they stand in `data` only, where their type tells them apart. */
const modes = {
  design: { name: 'Design', description: 'A new voice made from the description in instructions.' },
  clone: { name: 'Clone', description: 'The voice of the clip in input_references.' },
} as const;

export function toVoiceList(model: SpeechModel): VoiceList {
  const builtIn = model.voices.map(
    ({ id, name = id, languages = [], description = '' }): Voice => ({
      id,
      object: 'audio.voice',
      name,
      type: 'builtin',
      languages: [...languages],
      description,
    }),
  );
  const offered = (['design', 'clone'] as const)
    .filter((mode) => model[mode] === true)
    .map((mode): Voice => ({ id: mode, object: 'audio.voice', type: mode, languages: [], ...modes[mode] }));
  return {
    object: 'list',
    model: model.id,
    default_voice: model.defaultVoice,
    voices: builtIn.map((voice) => voice.id),
    uploaded_voices: [],
    data: [...builtIn, ...offered],
  };
}
