/** Hostile pictures of the kinds that are containers: webp, gif, avif and heic. */
import { either, type HostilePicture, noise, refused } from './hostile-pictures.ts';
import { makeGif } from './picture-files.ts';

export interface ContainerSamples {
  readonly webp: Buffer;
  readonly lossless: Buffer;
  readonly gif: Buffer;
  readonly avif: Buffer;
  readonly heic: Buffer;
}

export function hostileContainers(samples: ContainerSamples): HostilePicture[] {
  return [...webps(samples), ...gifs(samples), ...boxes(samples)];
}

function webps({ webp, lossless }: ContainerSamples): HostilePicture[] {
  /** All chunks behind `RIFF`, their length and `WEBP`. */
  const file = (...chunks: Buffer[]) => {
    const body = Buffer.concat(chunks);
    return Buffer.concat([Buffer.from('RIFF'), u32le(body.length + 4), Buffer.from('WEBP'), body]);
  };
  const chunk = (type: string, data: Buffer) =>
    Buffer.concat([Buffer.from(type), u32le(data.length), data, Buffer.alloc(data.length % 2)]);
  const canvas = (width: number, height: number, flags: number) =>
    chunk('VP8X', Buffer.from([flags, 0, 0, 0, ...u24le(width - 1), ...u24le(height - 1)]));
  const image = webp.subarray(12);
  const clear = lossless.subarray(12);
  const frame = (left: number, top: number, width: number, height: number, data = image) =>
    chunk(
      'ANMF',
      Buffer.concat([
        Buffer.from([left, top, width - 1, height - 1, 10].flatMap(u24le)),
        Buffer.from([0]),
        data,
      ]),
    );
  const loop = chunk('ANIM', Buffer.alloc(6));
  const patched = (bytes: Buffer, at: number, ...values: number[]) => {
    const copy = Buffer.from(bytes);
    copy.set(values, at);
    return copy;
  };
  return [
    refused('webp that claims 16,383 × 16,383', patched(webp, 26, 0xff, 0x3f, 0xff, 0x3f)),
    refused('lossless webp that claims 16,384 × 16,384', patched(lossless, 21, 0xff, 0xff, 0xff, 0xff)),
    refused('webp on a canvas of 16 million squared', file(canvas(2 ** 24, 2 ** 24, 0), image)),
    refused('webp on a canvas that is larger than it', file(canvas(9000, 9000, 0), image)),
    refused(
      'webp bomb: a canvas of 16,000 × 16,000 that moves',
      file(canvas(16_000, 16_000, 2), loop, frame(0, 0, 64, 48)),
    ),
    either('webp of 5000 frames', file(canvas(64, 48, 2), loop, ...Array(5000).fill(frame(0, 0, 64, 48)))),
    either('webp with a frame outside', file(canvas(64, 48, 2), loop, frame(5000, 5000, 64, 48))),
    refused('webp with a frame of noise', file(canvas(64, 48, 2), loop, frame(0, 0, 64, 48, noise(300)))),
    refused('webp that moves and has no frame', file(canvas(64, 48, 2), loop)),
    refused('webp without a picture', file(canvas(64, 48, 0))),
    refused('webp of noise', file(chunk('VP8 ', noise(3000)))),
    refused('lossless webp of noise', file(chunk('VP8L', Buffer.concat([Buffer.from([0x2f]), noise(3000)])))),
    either('webp with noise for its opacity', file(canvas(64, 48, 16), chunk('ALPH', noise(200)), image)),
    either('webp with 8 MB of profile', file(canvas(64, 48, 32), chunk('ICCP', noise(8e6)), image)),
    either('webp with 8 MB of EXIF', file(canvas(64, 48, 8), image, chunk('EXIF', noise(8e6)))),
    either(
      'webp with 50,000 chunks of its own',
      file(canvas(64, 48, 0), image, ...Array(50_000).fill(chunk('evil', Buffer.alloc(2)))),
    ),
    either('webp that says it is 4 GB long', patched(webp, 4, 0xff, 0xff, 0xff, 0xff)),
    either('webp that says it is empty', patched(webp, 4, 0, 0, 0, 0)),
    refused('webp whose picture says it is 4 GB long', patched(webp, 16, 0xff, 0xff, 0xff, 0xff)),
    either('webp in a webp', file(chunk('VP8X', Buffer.alloc(10)), webp, clear)),
  ];
}

function gifs({ gif }: ContainerSamples): HostilePicture[] {
  const block = (...bytes: number[]) => Buffer.from([bytes.length, ...bytes]);
  const endless = Buffer.concat([Buffer.from([2]), ...Array(20_000).fill(block(...Array(255).fill(0x44)))]);
  return [
    either('gif of 65,535 × 65,535', makeGif(65_535, 65_535, [{}])),
    refused('gif bomb of 16,000 × 16,000', makeGif(16_000, 16_000, [{ width: 16_000, height: 16_000 }])),
    either('gif of 0 × 0', makeGif(0, 0, [{}])),
    either('gif with a frame of 0 × 0', makeGif(9, 9, [{ width: 0, height: 0 }])),
    either('gif with a frame outside', makeGif(9, 9, [{ left: 60_000, top: 60_000 }])),
    refused(
      'gif with a frame of 65,535 × 65,535 on 9 × 9',
      makeGif(9, 9, [{ width: 65_535, height: 65_535 }]),
    ),
    either('gif of 4000 × 4000 for one pixel', makeGif(4000, 4000, [{}])),
    either('gif of 20,000 frames', makeGif(64, 64, Array(20_000).fill({}))),
    either(
      'gif of 300 frames of 4000 × 4000',
      makeGif(4000, 4000, Array(300).fill({ width: 4000, height: 4000 })),
    ),
    refused('gif without a frame', makeGif(9, 9, [])),
    refused('gif with codes of 13 bits', makeGif(9, 9, [{ pixels: Buffer.from([13, 2, 0x44, 1, 0]) }])),
    either(
      'gif with a code that is not there yet',
      makeGif(9, 9, [{ pixels: Buffer.from([2, 2, 0xff, 0xff, 0]) }]),
    ),
    either(
      'gif with 5 MB for one pixel',
      makeGif(9, 9, [{ pixels: Buffer.concat([endless, Buffer.alloc(1)]) }]),
    ),
    refused('gif cut to 13 bytes', gif.subarray(0, 13)),
    either('gif cut to a half', gif.subarray(0, gif.length >> 1)),
    either(
      'gif with 5 MB of comments',
      makeGif(9, 9, [{}]).subarray(0, -1),
      Buffer.from([0x21, 0xfe]),
      endless.subarray(1),
      [0, 0x3b],
    ),
  ];
}

function boxes({ avif, heic }: ContainerSamples): HostilePicture[] {
  const box = (type: string, ...parts: Buffer[]) => {
    const body = Buffer.concat(parts);
    return Buffer.concat([u32be(body.length + 8), Buffer.from(type, 'latin1'), body]);
  };
  const brands = (brand: string) =>
    box('ftyp', Buffer.from(brand), u32be(0), Buffer.from('mif1'), Buffer.from(brand));
  /** Its size stands behind the version of the property. */
  const sized = (file: Buffer, width: number, height: number) => {
    const copy = Buffer.from(file);
    const at = copy.indexOf('ispe');
    copy.writeUInt32BE(width, at + 8);
    copy.writeUInt32BE(height, at + 12);
    return copy;
  };
  const broken = (file: Buffer, type: string, ...values: number[]) => {
    const copy = Buffer.from(file);
    copy.set(values, copy.indexOf(type) + 4);
    return copy;
  };
  const emptied = (file: Buffer) => Buffer.from(file).fill(0, file.indexOf('mdat') + 4);
  let nested = box('meta', Buffer.alloc(4));
  for (let depth = 0; depth < 2000; depth++) nested = box('iprp', box('ipco', nested));
  const kinds = { heic, avif };
  return [
    ...['heic', 'heix', 'hevc', 'mif1', 'msf1', 'avif', 'avis'].flatMap((brand) => [
      refused(`${brand} that is its name`, brands(brand)),
      refused(`${brand} of noise`, brands(brand), noise(5000)),
    ]),
    ...Object.entries(kinds).flatMap(([name, file]) => [
      refused(`${name} that claims 100,000 × 100,000`, sized(file, 100_000, 100_000)),
      refused(`${name} that claims 5000 × 5000`, sized(file, 5000, 5000)),
      either(`${name} that claims 4000 × 1400`, sized(file, 4000, 1400)),
      either(`${name} that claims 1 × 1`, sized(file, 1, 1)),
      refused(`${name} that claims 0 × 0`, sized(file, 0, 0)),
      refused(`${name} without its pixels`, emptied(file)),
      refused(
        `${name} whose pixels are elsewhere`,
        broken(file, 'iloc', 0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0),
      ),
      refused(`${name} with 65,535 places`, broken(file, 'iloc', 0, 0, 0, 0, 0x44, 0, 0xff, 0xff)),
      either(`${name} with noise for its codec`, file.subarray(0, 200), noise(60), file.subarray(260)),
    ]),
    refused('heic with 2000 boxes in each other', brands('heic'), nested),
    refused('heic with a million brands', box('ftyp', Buffer.from('heic'), Buffer.alloc(4e6, 'heic'))),
    refused(
      'heif with a first box of 4 GB',
      Buffer.from('\xff\xff\xff\xffftypmif1\0\0\0\0', 'latin1'),
      noise(500),
    ),
    refused(
      'heic with a box of no length',
      brands('heic'),
      Buffer.from('\0\0\0\x01meta', 'latin1'),
      noise(500),
    ),
  ];
}

function u24le(value: number): number[] {
  return [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff];
}

function u32le(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u32be(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
