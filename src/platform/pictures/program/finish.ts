/** An engine's picture in the format, the quality and the opacity that the client asked for. */
import type { Sharp } from 'sharp';
import type { PictureFormat } from '../../../engines/contract/picture.ts';
import { emitAll } from '../../media/program/emit.ts';
import { Problem } from '../../media/program/problem.ts';
import type { JobOutput } from '../../media/program/protocol.ts';
import type { ReadHeic } from './heic.ts';
import { mostClearWebpPixels, mostWholePixels, toMegapixels } from './limits.ts';
import { decoding, type OpenPicture, openPicture, readChannel } from './open.ts';
import type { PictureJobKinds } from './protocol.ts';

type Finish = PictureJobKinds['finish'];

const usualQuality = 90;
const usualPngLevel = 6;
const highestPngLevel = 9;
const opaque = 255;
/** 2048 × 2048: up to here memory is no concern. */
const usualPixels = 2 ** 22;

export async function finish(
  { readHeic }: { readonly readHeic: ReadHeic },
  bytes: Buffer,
  { kind, format, compression, isOpaque }: Finish['options'],
  output: JobOutput,
): Promise<Finish['result']> {
  const picture = await openPicture(bytes, kind, readHeic);
  const { width, height, isAnimated, alphaChannel } = picture;
  const channel = await readChannel(picture, alphaChannel ?? 0);
  output.throwIfStopped();
  const isClear = alphaChannel !== undefined && channel.some((value) => value < opaque);
  const isFlat = isOpaque || format === 'jpeg';
  const isTransparent = isClear && !isFlat;
  const isKept = kind === format && compression === undefined && isClear === isTransparent && !isAnimated;
  if (!isKept) {
    checkWritable(picture, format, isTransparent);
    const upright = picture.read().autoOrient();
    // Also where no pixel is clear: the channel itself would stay.
    const drawn = isFlat && alphaChannel !== undefined ? upright.flatten({ background: '#ffffff' }) : upright;
    const written = write(drawn, { format, compression, pixels: width * height, isTransparent });
    await emitAll(await decoding(kind, () => written.toBuffer()), output);
  }
  return { width, height, isTransparent, isKept };
}

function checkWritable({ width, height }: OpenPicture, format: PictureFormat, isTransparent: boolean): void {
  const isClearWebp = format === 'webp' && isTransparent;
  const most = isClearWebp ? mostClearWebpPixels : mostWholePixels;
  if (width * height <= most) return;
  const such = isClearWebp ? 'a transparent webp' : format;
  throw new Problem(
    `is ${width} × ${height} pixels large: the limit for ${such} is ${toMegapixels(most)} megapixels`,
  );
}

interface WriteOptions {
  readonly format: PictureFormat;
  readonly compression: number | undefined;
  readonly pixels: number;
  readonly isTransparent: boolean;
}

function write(picture: Sharp, { format, compression, pixels, isTransparent }: WriteOptions): Sharp {
  const quality = Math.max(1, compression ?? usualQuality);
  switch (format) {
    case 'png': {
      const compressionLevel =
        compression === undefined ? usualPngLevel : Math.round((compression / 100) * highestPngLevel);
      return picture.png({ compressionLevel });
    }
    case 'jpeg':
      // The best tables are found by looking at all of it, with six bytes for a pixel.
      return picture.jpeg({ quality, optimiseCoding: pixels <= usualPixels });
    case 'webp':
      return picture.webp({ quality, effort: toEffort(pixels, isTransparent) });
  }
}

/** More effort takes more memory: 4096 × 4096 opaque pixels 200 MB with 4 and 100 with 2 (libwebp 1.6, x64). */
function toEffort(pixels: number, isTransparent: boolean): number {
  return pixels <= usualPixels / (isTransparent ? 2 : 1) ? 4 : 2;
}
