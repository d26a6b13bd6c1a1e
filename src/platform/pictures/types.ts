/**
 * Pictures through a real codec stack, in child processes that hostile files cannot use against the gateway: bounded
 * time, memory and pixels, no network, no file but what they are handed. Loses nothing when a process dies but the
 * one picture, which is then refused.
 */
import type { MediaFile, PictureFile, PictureFormat } from '../../engines/contract/picture.ts';
import type { Bytes } from '../../lib/content.ts';

export type PictureKind = 'png' | 'jpeg' | 'webp' | 'gif' | 'heic' | 'heif' | 'avif';

export interface PictureInfo {
  readonly kind: PictureKind;
  readonly width: number;
  readonly height: number;
  /** Some pixel really lets something through. */
  readonly isTransparent: boolean;
}

export interface AcceptOptions {
  /** The field's path: failures name it. */
  readonly param: string;
  readonly kinds: readonly PictureKind[];
}

export interface AcceptedPicture extends PictureFile {
  readonly width: number;
  readonly height: number;
}

export interface FinishOptions {
  readonly format: PictureFormat;
  /** 0 to 100: the quality of jpeg and webp, the effort of png. */
  readonly compression?: number;
  /** Anything behind clear pixels becomes white. */
  readonly isOpaque: boolean;
}

export interface FinishedPicture extends MediaFile {
  readonly width: number;
  readonly height: number;
  readonly isTransparent: boolean;
}

export interface Pictures {
  /**
   * A client's picture, decoded once to prove that it is one, as an engine can take it: png, jpeg and webp that stand
   * still stay the bytes that they are, the first frame of the rest becomes a png. Width and height are those of the
   * picture as it is looked at. Rejects with `invalid_request` naming `param` when the bytes are no picture of an
   * accepted kind, broken, or larger than can be drawn.
   */
  accept(file: Bytes, options: AcceptOptions, signal: AbortSignal): Promise<AcceptedPicture>;
  /**
   * An engine's picture as the client asked for it. Stays the bytes that it is where nothing has to change. Rejects with
   * `unreachable` when the engine's bytes are no picture, or one that is too large to be written anew.
   */
  finish(bytes: Buffer, options: FinishOptions, signal: AbortSignal): Promise<FinishedPicture>;
  close(): Promise<void>;
}

/** What a file says that it is, from its first bytes. */
export type SniffPicture = (bytes: Buffer) => PictureKind | undefined;
