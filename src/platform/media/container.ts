/** Tells a container from a file's first bytes, never from its name. Whatever is not listed is not tried. Pure. */
import type { Container } from './program/protocol.ts';

/** In words for a refusal. */
export const acceptedSound = 'wav, mp3, flac, m4a, ogg, webm or aac';

/** Boxes with which films of the QuickTime family begin. */
const firstBoxes = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);
/** Some files have several; a chain of thousands is a trick. */
const mostTags = 8;
const tagHeaderBytes = 10;
/** How far behind its start an MP3 may begin: some recorders leave zeros in front. */
const searchBytes = 16 * 1024;

export function sniffContainer(file: Buffer): Container | undefined {
  const bytes = file.subarray(skipTags(file));
  const isTagged = bytes.length < file.length;
  if (has(bytes, 'fLaC')) return 'flac';
  if (!isTagged) {
    if ((has(bytes, 'RIFF') || has(bytes, 'RF64')) && has(bytes, 'WAVE', 8)) return 'wav';
    if (has(bytes, 'OggS')) return 'ogg';
    if (has(bytes, '\x1a\x45\xdf\xa3')) return 'matroska';
    if (has(bytes, 'ftypqt  ', 4)) return 'mov';
    // Without a brand it is read as MP4 (ISO 14496-12, section 4.3.1).
    if (firstBoxes.has(bytes.toString('latin1', 4, 8))) return 'mp4';
  }
  return sniffFrames(bytes);
}

/** Where the file begins behind its ID3 tags (id3.org, ID3v2.4 section 3.1). */
function skipTags(bytes: Buffer): number {
  let at = 0;
  for (
    let tags = 0;
    tags < mostTags && has(bytes, 'ID3', at) && at + tagHeaderBytes <= bytes.length;
    tags++
  ) {
    // Seven bits each, and a footer as long as the header where a flag says so.
    const size = [6, 7, 8, 9].reduce((sum, offset) => sum * 128 + ((bytes[at + offset] ?? 0) & 0x7f), 0);
    const hasFooter = ((bytes[at + 5] ?? 0) & 0x10) !== 0;
    at += tagHeaderBytes + size + (hasFooter ? tagHeaderBytes : 0);
  }
  return Math.min(at, bytes.length);
}

/** Two frames in a row: a lone sync word stands in any file. */
function sniffFrames(bytes: Buffer): 'mp3' | 'aac' | undefined {
  const end = Math.min(bytes.length - 4, searchBytes);
  for (let at = 0; at <= end; at++) {
    if (bytes[at] !== 0xff) continue;
    const frame = readFrame(bytes, at);
    if (frame === undefined) continue;
    const next = at + frame.bytes;
    // A file of one frame is one too.
    const isWhole = at === 0 && next === bytes.length;
    if (isWhole || readFrame(bytes, next)?.kind === frame.kind) return frame.kind;
  }
  return undefined;
}

interface FrameHeader {
  readonly kind: 'mp3' | 'aac';
  readonly bytes: number;
}

/** Both begin with a sync word; the layer bits are zero in AAC alone (ISO 13818-7, ISO 11172-3). */
function readFrame(bytes: Buffer, at: number): FrameHeader | undefined {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = bytes.subarray(at, at + 6);
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  const layer = (second >> 1) & 3;
  if (layer === 0) {
    if ((second & 0xf0) !== 0xf0) return undefined;
    const length = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5);
    return length > 7 ? { kind: 'aac', bytes: length } : undefined;
  }
  const length = toMpegFrameBytes((second >> 3) & 3, layer, third);
  return length === undefined ? undefined : { kind: 'mp3', bytes: length };
}

const bitRates = {
  first: [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  second: [
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
} as const;
const sampleRates = [44_100, 48_000, 32_000];

function toMpegFrameBytes(version: number, layerBits: number, third: number): number | undefined {
  const layer = 4 - layerBits;
  const kilobits = bitRates[version === 3 ? 'first' : 'second'][layer - 1]?.[third >> 4];
  const fullRate = sampleRates[(third >> 2) & 3];
  if (version === 1 || kilobits === undefined || kilobits === 0 || fullRate === undefined) return undefined;
  const rate = version === 3 ? fullRate : version === 2 ? fullRate / 2 : fullRate / 4;
  const padding = (third >> 1) & 1;
  if (layer === 1) return (Math.floor((12_000 * kilobits) / rate) + padding) * 4;
  const samples = layer === 3 && version !== 3 ? 72_000 : 144_000;
  return Math.floor((samples * kilobits) / rate) + padding;
}

function has(bytes: Buffer, magic: string, at = 0): boolean {
  return bytes.toString('latin1', at, at + magic.length) === magic;
}
