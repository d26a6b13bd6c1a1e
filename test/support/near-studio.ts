/** A studio without a process of its own: renders where the test runs, with the pictures of sharp. For tests alone. */
import sharp from 'sharp';
import type { MediaFile, PictureFormat, Pixels } from '../../src/engines/contract/picture.ts';
import type { Render, Stage, Studio, StudioOrder, StudioTools } from '../../src/engines/contract/studio.ts';
import { toContent } from '../../src/lib/content.ts';

export interface NearStudio extends Studio {
  /** What was asked for, oldest first. */
  readonly orders: StudioOrder[];
  /** What the renders returned. */
  readonly results: unknown[];
}

export function createNearStudio(): NearStudio {
  const orders: StudioOrder[] = [];
  const results: unknown[] = [];
  return {
    orders,
    results,
    async *render(order, signal) {
      orders.push(order);
      const emitted: Uint8Array[] = [];
      const stage: Stage = {
        tools,
        emit: async (bytes) => {
          emitted.push(bytes);
        },
        throwIfStopped: () => signal.throwIfAborted(),
      };
      const { render } = (await import(order.module.href)) as { render: Render };
      const inputs = await Promise.all(order.inputs.map((each) => toContent(each).toBuffer()));
      // Nothing but what can be cloned reaches another process.
      const result = await render(structuredClone(order.request), inputs, stage);
      results.push(result);
      // In pieces that know nothing of the files' borders.
      const all = Buffer.concat(emitted);
      for (let at = 0; at < all.length; at += 50_000) yield all.subarray(at, at + 50_000);
      return result;
    },
  };
}

const unused = (): never => {
  throw new Error('no film and no sound in this test');
};

const tools: StudioTools = {
  readPicture: readPixels,
  writePicture: writePixels,
  readFilm: unused,
  readSound: unused,
  createFilm: unused,
};

export async function readPixels(bytes: Uint8Array, maxSide?: number): Promise<Pixels> {
  let image = sharp(bytes).rotate().ensureAlpha();
  if (maxSide !== undefined)
    image = image.resize({ width: maxSide, height: maxSide, fit: 'inside', withoutEnlargement: true });
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

export async function writePixels(
  { width, height, data }: Pixels,
  { format, compression }: { format: PictureFormat; compression?: number },
): Promise<MediaFile> {
  const image = sharp(data, { raw: { width, height, channels: 4 } });
  const quality = compression === undefined ? {} : { quality: Math.max(1, compression) };
  const bytes =
    format === 'png'
      ? await image.png({ compressionLevel: 1 }).toBuffer()
      : format === 'jpeg'
        ? await image.flatten({ background: 'white' }).jpeg(quality).toBuffer()
        : await image.webp(quality).toBuffer();
  return { bytes, mediaType: `image/${format}` };
}
