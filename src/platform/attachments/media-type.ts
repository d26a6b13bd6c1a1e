/** Tells what a file is from its first bytes, never from what a client says of it. Pure. */
import type { MediaKind } from '../../engines/contract/chat.ts';

/** What each kind of part may be, in words for a refusal. */
export const acceptedMedia: Readonly<Record<MediaKind, string>> = {
  image: 'png, jpeg, webp or gif',
  audio: 'wav, mp3, flac, ogg, m4a, webm or aac',
  video: 'mp4, mov or webm',
};

/** The media type, or undefined when the bytes are not of the kind. */
export function sniffMedia(kind: MediaKind, bytes: Buffer): string | undefined {
  switch (kind) {
    case 'image':
      return sniffImage(bytes);
    case 'audio':
      return sniffAudio(bytes);
    case 'video':
      return sniffVideo(bytes);
  }
}

function sniffImage(bytes: Buffer): string | undefined {
  if (has(bytes, '\x89PNG\r\n\x1a\n')) return 'image/png';
  if (has(bytes, '\xff\xd8\xff')) return 'image/jpeg';
  if (isRiff(bytes, 'WEBP')) return 'image/webp';
  if (has(bytes, 'GIF87a') || has(bytes, 'GIF89a')) return 'image/gif';
  return undefined;
}

function sniffAudio(bytes: Buffer): string | undefined {
  if (isRiff(bytes, 'WAVE')) return 'audio/wav';
  if (has(bytes, 'fLaC')) return 'audio/flac';
  if (has(bytes, 'OggS')) return 'audio/ogg';
  if (has(bytes, 'ID3')) return 'audio/mpeg';
  if (isWebm(bytes)) return 'audio/webm';
  // A container of the MP4 family: which tracks it holds, only a decoder can say.
  if (has(bytes, 'ftyp', 4)) return 'audio/mp4';
  const [first = 0, second = 0] = bytes;
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  // Both begin with a sync word; the layer bits are zero in AAC alone (ISO 13818-7, 11172-3).
  return (second & 0x06) === 0 ? ((second & 0xf0) === 0xf0 ? 'audio/aac' : undefined) : 'audio/mpeg';
}

const stillBrands = new Set(['heic', 'heix', 'mif1', 'msf1', 'avif', 'avis']);

function sniffVideo(bytes: Buffer): string | undefined {
  if (isWebm(bytes)) return 'video/webm';
  if (!has(bytes, 'ftyp', 4)) return undefined;
  const brand = bytes.toString('latin1', 8, 12);
  if (brand === 'qt  ') return 'video/quicktime';
  return stillBrands.has(brand) || brand.startsWith('M4A') ? undefined : 'video/mp4';
}

/** Matroska's frame, whose document type is named within its first bytes. */
function isWebm(bytes: Buffer): boolean {
  return has(bytes, '\x1a\x45\xdf\xa3') && bytes.subarray(0, 64).includes('webm');
}

function isRiff(bytes: Buffer, form: string): boolean {
  return has(bytes, 'RIFF') && has(bytes, form, 8);
}

function has(bytes: Buffer, magic: string, at = 0): boolean {
  return bytes.toString('latin1', at, at + magic.length) === magic;
}

export type DocumentKind = 'pdf' | 'docx' | 'html' | 'text';
export const acceptedDocuments = 'pdf, docx, html, txt, md or csv';

/** Undefined when it is none of the accepted kinds. */
export function sniffDocument(bytes: Buffer, filename: string, mediaType: string): DocumentKind | undefined {
  // Some producers put bytes before the header; readers accept it within the first kilobyte.
  if (bytes.subarray(0, 1024).includes('%PDF-')) return 'pdf';
  if (has(bytes, 'PK\x03\x04')) return 'docx';
  const hasMark = has(bytes, '\xff\xfe') || has(bytes, '\xfe\xff');
  if (!hasMark && bytes.includes(0)) return undefined;
  const start = bytes.toString('latin1', 0, 512).trimStart().toLowerCase();
  const isHtml =
    mediaType === 'text/html' ||
    /\.x?html?$/i.test(filename) ||
    start.startsWith('<!doctype html') ||
    start.startsWith('<html');
  return isHtml ? 'html' : 'text';
}

/** Text as it was meant: a byte order mark decides, then UTF-8, then what spreadsheets write on Windows. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
