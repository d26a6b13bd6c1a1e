import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blankPng, drawPicture, makePicture, pngChunk } from '../../../test/support/picture-files.ts';
import { createLog } from '../../lib/log.ts';
import { createPictures, type PictureKind, type Pictures, sniffPicture } from './index.ts';

const signal = new AbortController().signal;
const allKinds: readonly PictureKind[] = ['png', 'jpeg', 'webp', 'gif', 'heic', 'heif', 'avif'];
const usualKinds: readonly PictureKind[] = ['png', 'jpeg', 'webp'];
let pictures: Pictures;

beforeAll(() => {
  pictures = createPictures({ log: createLog('silent'), limits: { processes: 1 } });
});

afterAll(() => pictures.close());

const accept = (bytes: Buffer, kinds = allKinds) =>
  pictures.accept(bytes, { param: 'image[1]', kinds }, signal);

describe("a client's picture", () => {
  it.each(usualKinds)('that is a %s stays the bytes that it is', async (kind) => {
    const bytes = await makePicture(kind);
    const taken = await accept(bytes);
    expect(taken).toMatchObject({ mediaType: `image/${kind}`, width: 64, height: 48 });
    expect(await taken.content.toBuffer()).toBe(bytes);
  });

  it.each(['gif', 'heic', 'heif', 'avif'] as const)('[VIDEO-34] that is a %s becomes a png', async (kind) => {
    const taken = await accept(await makePicture(kind));
    expect(taken).toMatchObject({ mediaType: 'image/png', width: 64, height: 48 });
    const png = await taken.content.toBuffer();
    expect(sniffPicture(png)).toBe('png');
    const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width: 64, height: 48 });
    // Each of them is brighter on the right.
    const red = (x: number) => data[(24 * info.width + x) * info.channels] ?? 0;
    expect(red(58)).toBeGreaterThan(red(6) + 60);
  });

  it('is judged by its bytes and by the kinds that the field takes', async () => {
    for (const kind of ['gif', 'heic', 'avif'] as const)
      await expect(accept(await makePicture(kind), usualKinds)).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'image[1]',
        message: 'image[1] is not a picture of an accepted kind: png, jpeg or webp',
      });
    await expect(accept(Buffer.from('hello'), ['png'])).rejects.toMatchObject({
      message: 'image[1] is not a picture of an accepted kind: png',
    });
    await expect(accept(Buffer.alloc(0))).rejects.toMatchObject({ message: 'image[1] is empty' });
  });

  it.each(usualKinds)('that is a %s is refused when a part of it is missing', async (kind) => {
    const bytes = await makePicture(kind, 200, 150);
    for (const part of [0.3, 0.6, 0.95])
      await expect(accept(bytes.subarray(0, bytes.length * part))).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'image[1]',
        message: `image[1] is broken: it cannot be decoded as ${kind}`,
      });
  });

  it('that is a jpeg is refused when its pixels end too early, whatever its last bytes are', async () => {
    const bytes = await makePicture('jpeg', 200, 150);
    const end = bytes.subarray(-2);
    await expect(accept(Buffer.concat([bytes.subarray(0, bytes.length * 0.8), end]))).rejects.toMatchObject({
      message: 'image[1] is broken: it cannot be decoded as jpeg',
    });
  });

  it('that is a whole jpeg with odd parameters, as some telephones write them, is taken', async () => {
    const bytes = await makePicture('jpeg', 200, 150);
    // The last coefficient of its scan: one that reads all of them does not look at it.
    bytes[bytes.indexOf(Buffer.from([0xff, 0xda])) + 12] = 0;
    expect(await accept(bytes)).toMatchObject({ width: 200, height: 150 });
  });

  it('is told upright, and its own orientation is left alone', async () => {
    for (const [orientation, width, height] of [
      [1, 60, 40],
      [3, 60, 40],
      [6, 40, 60],
      [8, 40, 60],
    ] as const) {
      const bytes = await drawPicture(60, 40).withMetadata({ orientation }).jpeg().toBuffer();
      const taken = await accept(bytes);
      expect(taken).toMatchObject({ width, height });
      expect(await taken.content.toBuffer()).toBe(bytes);
    }
  });

  it('that moves is handed on as its first frame', async () => {
    const frames = await Promise.all(
      [drawPicture(32, 20), drawPicture(32, 20).negate()].map((one) => one.png().toBuffer()),
    );
    const moving = await sharp(frames, { join: { animated: true } })
      .webp({ lossless: true })
      .toBuffer();
    const taken = await accept(moving);
    expect(taken).toMatchObject({ mediaType: 'image/png', width: 32, height: 20 });
    const [first, shown] = await Promise.all(
      [frames[0], await taken.content.toBuffer()].map((each) => sharp(each).removeAlpha().raw().toBuffer()),
    );
    expect(shown?.equals(first as Buffer)).toBe(true);
  });

  it.each([
    ['is 16385 × 1 pixels large: the limit is 16384 on a side', { width: 16_385, height: 1 }],
    [
      'is 8001 × 8000 pixels large: the limit is 64 megapixels',
      { width: 8001, height: 8000, depth: 1, colour: 0 },
    ],
    [
      'is 4097 × 4096 pixels large: the limit for interlaced png is 16.7 megapixels',
      { width: 4097, height: 4096, depth: 1, colour: 0, isInterlaced: true },
    ],
  ])('that %s is refused', async (problem, header) => {
    await expect(accept(blankPng(header))).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'image[1]',
      message: `image[1] ${problem}`,
    });
  });

  it('may be as large as the limits', async () => {
    expect(await accept(blankPng({ width: 16_384, height: 2, colour: 0 }))).toMatchObject({ width: 16_384 });
    expect(await accept(blankPng({ width: 8000, height: 8000, depth: 1, colour: 0 }))).toMatchObject({
      height: 8000,
    });
  });

  it('is refused when it has more bytes than are ever read', async () => {
    const padding = pngChunk('tEXt', Buffer.alloc(65 * 1024 * 1024, 'x'));
    await expect(accept(blankPng({ width: 8, height: 8 }, padding))).rejects.toMatchObject({
      kind: 'invalid_request',
      message: 'image[1] is larger than the limit of 64 MB',
    });
  });

  it('is given up when its signal comes', async () => {
    const leaving = new AbortController();
    const bytes = await makePicture('png');
    const waiting = pictures.accept(bytes, { param: 'image', kinds: allKinds }, leaving.signal);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    expect(await accept(bytes)).toMatchObject({ width: 64 });
  });
});

describe("an engine's picture", () => {
  const formats = ['png', 'jpeg', 'webp'] as const;

  it.each(formats)('[IMG-38] stays the bytes that it is when it is %s already', async (format) => {
    const bytes = await makePicture(format);
    const finished = await pictures.finish(bytes, { format, isOpaque: true }, signal);
    expect(finished).toMatchObject({
      mediaType: `image/${format}`,
      width: 64,
      height: 48,
      isTransparent: false,
    });
    expect(finished.bytes).toBe(bytes);
  });

  it.each(formats.flatMap((from) => formats.filter((to) => to !== from).map((to) => [from, to] as const)))(
    '[IMG-10] [IMG-11] of %s becomes %s with the same pixels',
    async (from, format) => {
      const bytes = await makePicture(from, 80, 40);
      const finished = await pictures.finish(bytes, { format, isOpaque: false }, signal);
      expect(sniffPicture(finished.bytes)).toBe(format);
      expect(finished).toMatchObject({
        mediaType: `image/${format}`,
        width: 80,
        height: 40,
        isTransparent: false,
      });
      expect(await sharp(finished.bytes).metadata()).toMatchObject({ format, width: 80, height: 40 });
      const [before, after] = await Promise.all(
        [bytes, finished.bytes].map(async (each) =>
          (await sharp(each).stats()).channels.map(({ mean }) => mean),
        ),
      );
      for (const [channel, mean] of (after ?? []).entries())
        expect(Math.abs(mean - (before?.[channel] ?? 0))).toBeLessThan(4);
    },
  );

  it.each(['jpeg', 'webp'] as const)('[IMG-40] is smaller as %s with less quality', async (format) => {
    const bytes = await makePicture('png', 200, 150);
    const sizes = await Promise.all(
      [0, 40, 100].map(
        async (compression) =>
          (await pictures.finish(bytes, { format, compression, isOpaque: true }, signal)).bytes.length,
      ),
    );
    expect(sizes[0]).toBeLessThan(sizes[1] ?? 0);
    expect(sizes[1]).toBeLessThan(sizes[2] ?? 0);
  });

  it('[IMG-40] is smaller as png with a higher level, and loses nothing', async () => {
    const bytes = await makePicture('png', 200, 150);
    const finish = async (compression: number) =>
      (await pictures.finish(bytes, { format: 'png', compression, isOpaque: true }, signal)).bytes;
    const [least, most] = [await finish(0), await finish(100)];
    expect(least.length).toBeGreaterThan(200 * 150 * 3);
    expect(most.length).toBeLessThan(least.length * 0.95);
    const pixels = await sharp(bytes).raw().toBuffer();
    for (const each of [least, most]) expect((await sharp(each).raw().toBuffer()).equals(pixels)).toBe(true);
  });

  it.each(['png', 'webp'] as const)(
    '[IMG-12] of %s is transparent when a pixel is, and not before',
    async (format) => {
      const opacity = (alpha: number) => {
        const data = Buffer.alloc(16 * 16 * 4, 255);
        data[16 * 16 * 4 - 1] = alpha;
        return sharp(data, { raw: { width: 16, height: 16, channels: 4 } })
          .toFormat(format, { lossless: true })
          .toBuffer();
      };
      const finish = async (alpha: number) =>
        pictures.finish(await opacity(alpha), { format, isOpaque: false }, signal);
      expect((await sharp(await opacity(255)).metadata()).hasAlpha).toBe(format === 'png');
      expect(await finish(255)).toMatchObject({ isTransparent: false });
      expect(await finish(254)).toMatchObject({ isTransparent: true });
      expect(await finish(0)).toMatchObject({ isTransparent: true });
    },
  );

  it('[IMG-12] is also transparent by a palette, in grey, and with 16 bits', async () => {
    const clear = drawPicture(20, 20, { isClear: true });
    for (const bytes of [
      await clear.clone().png({ palette: true }).toBuffer(),
      await clear.clone().toColourspace('b-w').png().toBuffer(),
      await clear.clone().toColourspace('rgb16').png().toBuffer(),
    ])
      expect(await pictures.finish(bytes, { format: 'png', isOpaque: false }, signal)).toMatchObject({
        isTransparent: true,
      });
  });

  it('[IMG-12] gets white behind its clear pixels when it is to be opaque', async () => {
    const bytes = await drawPicture(20, 20, { isClear: true }).png().toBuffer();
    for (const format of formats) {
      const finished = await pictures.finish(bytes, { format, isOpaque: true }, signal);
      expect(finished.isTransparent).toBe(false);
      const { data, info } = await sharp(finished.bytes).raw().toBuffer({ resolveWithObject: true });
      expect(info.channels).toBe(3);
      // The left half was clear.
      const at = (10 * info.width + 3) * info.channels;
      for (const value of data.subarray(at, at + 3)) expect(value).toBeGreaterThan(250);
    }
  });

  it('keeps its clear pixels in webp, and has none in jpeg', async () => {
    const bytes = await drawPicture(20, 20, { isClear: true }).png().toBuffer();
    const webp = await pictures.finish(bytes, { format: 'webp', isOpaque: false }, signal);
    expect(webp.isTransparent).toBe(true);
    expect((await sharp(webp.bytes).stats()).isOpaque).toBe(false);
    expect(await pictures.finish(bytes, { format: 'jpeg', isOpaque: false }, signal)).toMatchObject({
      isTransparent: false,
      mediaType: 'image/jpeg',
    });
  });

  it('is turned upright when it is written anew', async () => {
    const bytes = await drawPicture(60, 40).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const finished = await pictures.finish(bytes, { format: 'png', isOpaque: true }, signal);
    expect(finished).toMatchObject({ width: 40, height: 60 });
    expect(await sharp(finished.bytes).metadata()).toMatchObject({ width: 40, height: 60 });
  });

  it('[IMG-68] that is none is a fault of the engine', async () => {
    const finish = (bytes: Buffer) => pictures.finish(bytes, { format: 'png', isOpaque: true }, signal);
    const png = await makePicture('png');
    for (const bytes of [Buffer.alloc(0), Buffer.from('{"error":"busy"}'), png.subarray(0, png.length / 2)])
      await expect(finish(bytes)).rejects.toMatchObject({ kind: 'unreachable', param: undefined });
    await expect(finish(png.subarray(0, png.length / 2))).rejects.toMatchObject({
      message: 'The picture that the engine made is broken: it cannot be decoded as png',
    });
  });

  it('is not written anew past what fits into memory', async () => {
    const large = blankPng({ width: 4097, height: 4096, depth: 1, colour: 0 });
    expect(await pictures.finish(large, { format: 'png', isOpaque: true }, signal)).toMatchObject({
      width: 4097,
    });
    await expect(pictures.finish(large, { format: 'webp', isOpaque: true }, signal)).rejects.toMatchObject({
      kind: 'unreachable',
      message:
        'The picture that the engine made is 4097 × 4096 pixels large: the limit for webp is 16.7 megapixels',
    });
  });
});
