/** How large a picture may be, so that a process stays below 300 MB whatever the picture. Pure. */
import { Problem } from '../../media/program/problem.ts';
import type { PictureKind } from '../types.ts';

export const longestSide = 16_384;
/** Where rows are read one after the other: 8000 × 8000, more than the cameras of phones have. */
export const mostPixels = 64_000_000;
/** Where all of it has to be in memory at once, up to ten bytes for a pixel: 4096 × 4096. */
export const mostWholePixels = 2 ** 24;
/** libaom and libvips together take 25 bytes for a pixel of 12 bits. */
export const mostAvifPixels = 6_000_000;
/** libwebp packs opacity without loss, with 30 bytes for a pixel: 2048 × 2048. */
export const mostClearWebpPixels = 2 ** 22;

export interface Shape {
  readonly kind: PictureKind;
  readonly width: number;
  readonly height: number;
  /** Written in passes over the whole picture: progressive jpeg, interlaced png. */
  readonly isProgressive: boolean;
}

export function checkSize({ kind, width, height, isProgressive }: Shape): void {
  if (!(width > 0 && height > 0)) throw new Problem('is a picture without pixels');
  const size = `is ${width} × ${height} pixels large`;
  if (width > longestSide || height > longestSide)
    throw new Problem(`${size}: the limit is ${longestSide} on a side`);
  const isByRows = (kind === 'png' || kind === 'jpeg') && !isProgressive;
  const most = isByRows ? mostPixels : kind === 'avif' ? mostAvifPixels : mostWholePixels;
  const manner = isProgressive ? (kind === 'png' ? 'interlaced ' : 'progressive ') : '';
  const such = isByRows ? '' : ` for ${manner}${kind}`;
  if (width * height > most)
    throw new Problem(`${size}: the limit${such} is ${toMegapixels(most)} megapixels`);
}

export function toMegapixels(pixels: number): number {
  return Math.floor(pixels / 1e5) / 10;
}
