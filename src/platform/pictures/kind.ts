/** Tells a picture's kind from its first bytes, never from its name or its declared type. Pure. */
import type { PictureKind, SniffPicture } from './types.ts';

const pngStart = '\x89PNG\r\n\x1a\n';
const heicBrands: ReadonlySet<string> = new Set([
  'heic',
  'heix',
  'heim',
  'heis',
  'hevc',
  'hevx',
  'hevm',
  'hevs',
]);
const avifBrands: ReadonlySet<string> = new Set(['avif', 'avis']);
/** Any codec may be behind these: the other brands say which. */
const openBrands: ReadonlySet<string> = new Set(['mif1', 'mif2', 'msf1']);
const webpChunks: ReadonlySet<string> = new Set(['VP8 ', 'VP8L', 'VP8X']);
const boxHeaderBytes = 8;
/** Real files name a handful. */
const mostBrands = 64;

export const sniffPicture: SniffPicture = (bytes) => {
  if (has(bytes, pngStart) && has(bytes, 'IHDR', 12)) return 'png';
  if (has(bytes, '\xff\xd8\xff')) return 'jpeg';
  if (has(bytes, 'RIFF') && has(bytes, 'WEBP', 8) && webpChunks.has(textAt(bytes, 12))) return 'webp';
  if (has(bytes, 'GIF87a') || has(bytes, 'GIF89a')) return 'gif';
  if (has(bytes, 'ftyp', 4)) return sniffBrands(bytes);
  return undefined;
};

/** ISO 23008-12, section 10: the first brand is the file's own, those behind its version are others that it follows. */
function sniffBrands(bytes: Buffer): PictureKind | undefined {
  const brand = textAt(bytes, boxHeaderBytes);
  if (heicBrands.has(brand)) return 'heic';
  if (avifBrands.has(brand)) return 'avif';
  if (!openBrands.has(brand)) return undefined;
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, 4 * mostBrands);
  for (let at = boxHeaderBytes * 2; at + 4 <= end; at += 4)
    if (avifBrands.has(textAt(bytes, at))) return 'avif';
  return 'heif';
}

/** In words for a refusal: "png, jpeg or webp". */
export function toKindList(kinds: readonly PictureKind[]): string {
  const last = kinds.at(-1) ?? 'none';
  return kinds.length < 2 ? last : `${kinds.slice(0, -1).join(', ')} or ${last}`;
}

function textAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4);
}

function has(bytes: Buffer, magic: string, at = 0): boolean {
  return bytes.toString('latin1', at, at + magic.length) === magic;
}
