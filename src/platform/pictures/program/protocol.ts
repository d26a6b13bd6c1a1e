/** The jobs of a picture process; how they are handed over is the same as for sound (`media/program/protocol.ts`). */
import type { PictureFormat } from '../../../engines/contract/picture.ts';
import type { Job } from '../../media/program/protocol.ts';
import type { PictureKind } from '../types.ts';

interface Size {
  readonly width: number;
  readonly height: number;
  /** Nothing had to change: the bytes are those that were sent, and none come back. */
  readonly isKept: boolean;
}

/** Every job there is: what it is told, and what it answers besides the bytes that it emits. */
export interface PictureJobKinds {
  accept: { options: { kind: PictureKind }; result: Size & { readonly format: PictureFormat } };
  finish: {
    options: {
      kind: PictureKind;
      format: PictureFormat;
      compression: number | undefined;
      isOpaque: boolean;
    };
    result: Size & { readonly isTransparent: boolean };
  };
}

export type PictureJobs = {
  [Kind in keyof PictureJobKinds]: Job<PictureJobKinds[Kind]['options'], PictureJobKinds[Kind]['result']>;
};
