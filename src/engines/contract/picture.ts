/** Pictures, as ports and studios hand them to each other. */
import type { Content } from '../../lib/content.ts';

export const pictureFormats = ['png', 'jpeg', 'webp'] as const;
export type PictureFormat = (typeof pictureFormats)[number];

/** A whole file whose kind was told from its bytes. */
export interface MediaFile {
  readonly bytes: Buffer;
  readonly mediaType: string;
}

/** The same, where its bytes need not stand in memory. */
export interface PictureFile {
  readonly content: Content;
  readonly mediaType: string;
}

/** Eight bits each of red, green, blue and opacity, row by row from the top. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}
