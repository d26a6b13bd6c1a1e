/** Small real pictures of every kind, and the bytes of a png or a gif as one wants them. */
import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import type { PictureKind } from '../../src/platform/pictures/index.ts';

/** A slope of colours with some grain, half of it clear where asked. */
export function drawPicture(width: number, height: number, { isClear = false } = {}): Sharp {
  const channels = isClear ? 4 : 3;
  const data = Buffer.alloc(width * height * channels);
  for (let at = 0, y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const grain = (x * 7 + y * 13 + ((x * y) % 11)) % 24;
      data[at++] = (x * 200) / width + grain;
      data[at++] = (y * 200) / height + grain;
      data[at++] = 90 + grain;
      if (isClear) data[at++] = x * 2 < width ? 0 : 255;
    }
  return sharp(data, { raw: { width, height, channels } });
}

/** 64 × 48: one frame of x265 in the boxes that a phone writes around it. */
const heic =
  'AAAAGGZ0eXBoZWljAAAAAG1pZjFoZWljAAABJW1ldGEAAAAAAAAAIWhkbHIAAAAAAAAAAHBpY3QAAAAAAAAAAAAAAAAAAAAADnBp' +
  'dG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABRQAAAVAAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAA' +
  'AKlpcHJwAAAAjGlwY28AAABwaHZjQwEECAAAAJ+oAAAAAB7wAPz9+PgAAA8DoAABABdAAQwB//8ECAAAAwCfqAAAAwAAHroCQKEA' +
  'AQAlQgEBBAgAAAMAn6gAAAMAAB6gIIMWW6SkwuaAgAAAAwCAAAAMhKIAAQAGRAHAcYESAAAAFGlzcGUAAAAAAAAAQAAAADAAAAAV' +
  'aXBtYQAAAAAAAAABAAECgQIAAAFYbWRhdAAAAUwoAa1gFAwP2PX7t+5kb3e0QmxqE+/xK1DN/oQlXHV/8eNLX0i3kHbydVh+py9P' +
  'dxyLIoKF+zsPzbZq4KOvppJ5jsa/+T05ADVTq4/MWNjqRbo6IpcWshxh4DXoW0OMS34UNVzWigLTk0gNdvycV9ltiTqJ1b9bPYMh' +
  'abrcVAQNvf/gF46Bi0g8oNh/gdmVmr2E23MBYlWtIwxqjA6fT02XQDhr2F1leH7xZb1+TiPgdcHmXHJM8wk5JSGfhARX3zz5UxuH' +
  'n3ewmuLodMWk/Qz92Mx9k3ecm28acPAmcdHr1Fes2qeLshT8UVqRANrPDG0+3pSNJYXayCvkcl3vLa2EcLLMUpV+nE1qcokGk/jG' +
  'yUq9/5dEV6ccMGk6eSTqi0UGpVLUTo8Ww48BOqIFIMouzDf4m/ENCcCUI9zSB1ZP00Or5w6MeaPkwna3gA==';

export async function makePicture(kind: PictureKind, width = 64, height = 48): Promise<Buffer> {
  switch (kind) {
    case 'heic':
      return Buffer.from(heic, 'base64');
    case 'heif':
      return Buffer.from(heic, 'base64').fill('mif1', 8, 12);
    case 'avif':
      return drawPicture(width, height).avif({ effort: 0 }).toBuffer();
    default:
      return drawPicture(width, height).toFormat(kind).toBuffer();
  }
}

export interface PngHeader {
  readonly width: number;
  readonly height: number;
  readonly depth?: number;
  /** 0 grey, 2 colour, 3 palette, 4 grey and opacity, 6 colour and opacity. */
  readonly colour?: number;
  readonly isInterlaced?: boolean;
}

export const pngStart = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
export const pngEnd = pngChunk('IEND', Buffer.alloc(0));

export function pngHeader({ width, height, depth = 8, colour = 2, isInterlaced = false }: PngHeader): Buffer {
  const bytes = Buffer.alloc(13);
  bytes.writeUInt32BE(width, 0);
  bytes.writeUInt32BE(height, 4);
  bytes.set([depth, colour, 0, 0, isInterlaced ? 1 : 0], 8);
  return pngChunk('IHDR', bytes);
}

export function pngChunk(type: string, data: Buffer, crc?: number): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc ?? crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

/** A png of zeros: a megabyte of it takes a kilobyte. */
export function blankPng(header: PngHeader, ...chunks: Buffer[]): Buffer {
  const { width, height, depth = 8, colour = 2 } = header;
  const samples = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[colour] ?? 1;
  const rowBytes = Math.ceil((width * samples * depth) / 8) + 1;
  const data = pngChunk('IDAT', deflateSync(Buffer.alloc(rowBytes * height), { level: 1 }));
  return Buffer.concat([pngStart, pngHeader(header), ...chunks, data, pngEnd]);
}

export interface GifFrame {
  readonly width?: number;
  readonly height?: number;
  readonly left?: number;
  readonly top?: number;
  /** What stands for the packed pixels: a code size and blocks. */
  readonly pixels?: Buffer;
}

/** One pixel: clear, 0, end. */
const onePixel = Buffer.from([2, 2, 0x44, 0x01, 0]);

/** With a palette of four colours. */
export function makeGif(width: number, height: number, frames: readonly GifFrame[]): Buffer {
  const start = Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from([...u16(width), ...u16(height), 0x91, 0, 0]),
    Buffer.from([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255]),
  ]);
  const drawn = frames.map(({ width: wide = 1, height: high = 1, left = 0, top = 0, pixels = onePixel }) =>
    Buffer.concat([Buffer.from([0x2c, ...u16(left), ...u16(top), ...u16(wide), ...u16(high), 0]), pixels]),
  );
  return Buffer.concat([start, ...drawn, Buffer.from([0x3b])]);
}

function u16(value: number): [number, number] {
  return [value & 0xff, value >> 8];
}
