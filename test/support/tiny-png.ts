/** Real PNG files of one colour, a bit per pixel, so that even a large one is made at once; and what such a file says. */
import { crc32, deflateSync } from 'node:zlib';

export interface TinyPng {
  readonly width: number;
  readonly height: number;
  readonly color?: readonly [number, number, number];
  /** Nothing of it can be seen. */
  readonly isClear?: boolean;
  /** Bytes that mean nothing, to make the file larger. */
  readonly padding?: number;
}

const magic = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

export function toPng({ width, height, color = [1, 2, 3], isClear = false, padding = 0 }: TinyPng): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // One bit a pixel, of a palette.
  head.set([1, 3, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (1 + Math.ceil(width / 8)));
  return Buffer.concat([
    magic,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(color)),
    ...(isClear ? [chunk('tRNS', Buffer.from([0]))] : []),
    ...(padding === 0 ? [] : [chunk('paDd', Buffer.alloc(padding))]),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** The size that stands in a PNG's head. */
export function sizeOfPng(bytes: Buffer): { width: number; height: number } {
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

export function hasClearPixels(bytes: Buffer): boolean {
  return bytes.includes('tRNS');
}
