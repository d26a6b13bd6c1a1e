/** Pictures through a real codec stack, in processes of its own. */
export { sniffPicture } from './kind.ts';
export { createPictures, type PicturesParts, type RunningPictures } from './pictures.ts';
export type {
  AcceptedPicture,
  AcceptOptions,
  FinishedPicture,
  FinishOptions,
  PictureInfo,
  PictureKind,
  Pictures,
} from './types.ts';
