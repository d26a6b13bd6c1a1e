/** A picture of a known kind, measured before a pixel is decoded. */
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp';
import { Problem } from '../../media/program/problem.ts';
import type { PictureKind } from '../types.ts';
import type { ReadHeic } from './heic.ts';
import { checkSize, mostPixels } from './limits.ts';

export interface OpenPicture {
  readonly kind: PictureKind;
  /** As it is looked at: turned as the file says. */
  readonly width: number;
  readonly height: number;
  readonly isAnimated: boolean;
  /** The place of its opacity among its channels. */
  readonly alphaChannel: number | undefined;
  /** Its first frame, anew for each use: a picture is read once from top to bottom. */
  readonly read: (options?: Pick<SharpOptions, 'ignoreIcc' | 'failOn'>) => Sharp;
}

/** What libjpeg says of the photos of some telephones, which are whole. */
const harmless = /Invalid SOS parameters|extraneous bytes before marker/;

/** What each kind is for libvips. */
const formats: Readonly<Record<PictureKind, string>> = {
  png: 'png',
  jpeg: 'jpeg',
  webp: 'webp',
  gif: 'gif',
  avif: 'heif',
  heic: 'heif',
  heif: 'heif',
};

export async function openPicture(
  bytes: Buffer,
  kind: PictureKind,
  readHeic: ReadHeic,
): Promise<OpenPicture> {
  if (kind === 'heic' || kind === 'heif') return openHeic(bytes, kind, readHeic);
  const toSharp = (options: SharpOptions) =>
    sharp(bytes, { failOn: 'error', sequentialRead: true, ...options });
  const metadata = await decoding(kind, () => toSharp({ limitInputPixels: false }).metadata());
  if (metadata.format !== formats[kind]) throw broken(kind);
  checkSize({ kind, ...toSize(metadata), isProgressive: metadata.isProgressive === true });
  return {
    kind,
    ...toSize(metadata.autoOrient),
    isAnimated: (metadata.pages ?? 1) > 1,
    alphaChannel: metadata.hasAlpha ? metadata.channels - 1 : undefined,
    read: (options) => toSharp({ limitInputPixels: mostPixels, ...options }),
  };
}

async function openHeic(bytes: Buffer, kind: PictureKind, readHeic: ReadHeic): Promise<OpenPicture> {
  const { width, height, channels, data } = await decoding(kind, () =>
    readHeic(bytes, (size) => checkSize({ kind, ...size, isProgressive: false })),
  );
  return {
    kind,
    width,
    height,
    isAnimated: false,
    alphaChannel: channels === 4 ? 3 : undefined,
    read: () => sharp(data, { raw: { width, height, channels } }),
  };
}

/** Any failure of a decoder is the file's. */
export async function decoding<Result>(kind: PictureKind, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw broken(kind, error);
  }
}

/** One channel of every pixel. To make it, the whole picture is decoded, so it also proves that it can be. */
export function readChannel({ kind, read }: OpenPicture, channel: number): Promise<Buffer> {
  const readWith = (failOn: 'warning' | 'error') =>
    read({ ignoreIcc: true, failOn })
      .extractChannel(channel as 0)
      .raw({ depth: 'uchar' })
      .toBuffer();
  return decoding(kind, async () => {
    // To libjpeg the end of a file in the middle of its pixels is something to warn of.
    if (kind !== 'jpeg') return readWith('error');
    try {
      return await readWith('warning');
    } catch (error) {
      if (error instanceof Error && harmless.test(error.message)) return readWith('error');
      throw error;
    }
  });
}

function broken(kind: PictureKind, cause?: unknown): Problem {
  return new Problem(`is broken: it cannot be decoded as ${kind}`, { cause });
}

function toSize({ width, height }: Pick<Metadata, 'width' | 'height'>): { width: number; height: number } {
  return { width, height };
}
