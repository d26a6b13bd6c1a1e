/** Sound, film and renders through a real codec stack, in processes of its own. */
export { createMedia, type MediaParts } from './media.ts';
export { createStudio, type RunningStudio, type StudioParts } from './studio.ts';
export type {
  AudioFormat,
  CutOptions,
  DecodeOptions,
  EncodeOptions,
  FilmInfo,
  Media,
  MediaInfo,
  SoundShape,
} from './types.ts';
export { type WavShape, wavHeader } from './wav.ts';
