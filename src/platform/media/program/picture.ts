/** Pictures to pixels and back, through libvips; HEIC through libheif, which alone decodes it. */
import type Sharp from 'sharp';
import type { MediaFile, PictureFormat, Pixels } from '../../../engines/contract/picture.ts';
import { Problem } from './problem.ts';

export type SharpModule = typeof Sharp;
export type DecodeHeic = (file: { buffer: Uint8Array }) => Promise<{
  width: number;
  height: number;
  data: Uint8ClampedArray;
}>;

/** As many as are let in at the door, `platform/pictures`. */
const mostPixels = 64_000_000;
const usualQuality = 90;
const usualEffort = 60;
const channels = 4;
const heicBrands = new Set(['heic', 'heix', 'hevc', 'hevx', 'mif1', 'msf1']);

export function isHeic(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(4, 12)).toString('latin1');
  return start.startsWith('ftyp') && heicBrands.has(start.slice(4));
}

export async function readPicture(
  sharp: SharpModule,
  decodeHeic: DecodeHeic | undefined,
  bytes: Uint8Array,
  maxSide: number | undefined,
): Promise<Pixels> {
  try {
    const opened = decodeHeic
      ? openRaw(sharp, await decodeHeic({ buffer: bytes }))
      : sharp(bytes, { limitInputPixels: mostPixels, failOn: 'error' }).autoOrient();
    const sized =
      maxSide === undefined
        ? opened
        : opened.resize({ width: maxSide, height: maxSide, fit: 'inside', withoutEnlargement: true });
    const { data, info } = await sized
      .toColourspace('srgb')
      .ensureAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return { width: info.width, height: info.height, data };
  } catch (error) {
    throw new Problem('cannot be decoded as a picture', { cause: error });
  }
}

/** Where a format has no clear pixels, white is behind them. */
export async function writePicture(
  sharp: SharpModule,
  pixels: Pixels,
  { format, compression }: { format: PictureFormat; compression?: number },
): Promise<MediaFile> {
  const picture = openRaw(sharp, pixels);
  const quality = Math.max(1, compression ?? usualQuality);
  switch (format) {
    case 'png': {
      const compressionLevel = Math.round(((compression ?? usualEffort) * 9) / 100);
      return { bytes: await picture.png({ compressionLevel }).toBuffer(), mediaType: 'image/png' };
    }
    case 'jpeg': {
      const flat = picture.flatten({ background: '#ffffff' });
      return { bytes: await flat.jpeg({ quality }).toBuffer(), mediaType: 'image/jpeg' };
    }
    case 'webp':
      return { bytes: await picture.webp({ quality }).toBuffer(), mediaType: 'image/webp' };
  }
}

function openRaw(
  sharp: SharpModule,
  { width, height, data }: Pick<Pixels, 'width' | 'height'> & { data: Uint8Array | Uint8ClampedArray },
): ReturnType<SharpModule> {
  return sharp(data, { raw: { width, height, channels } });
}
