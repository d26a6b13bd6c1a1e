/** Sound through a real codec stack, in processes of its own. */
export { createMedia, type MediaParts } from './media.ts';
export type { AudioFormat, DecodeOptions, EncodeOptions, Media, MediaInfo } from './types.ts';
