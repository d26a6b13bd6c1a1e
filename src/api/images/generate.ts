/**
 * Pictures from a request: admitted, asked of an engine, brought into the form that was asked for, kept for those who
 * want a link, billed when all of that has succeeded, and only then.
 */
import assert from 'node:assert';
import type { GeneratedImage, ImageRequest } from '../../engines/contract/image.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Platform } from '../../platform/index.ts';
import type { Operation } from '../../platform/inference/types.ts';
import type { FinishedPicture } from '../../platform/pictures/types.ts';
import { readInputs } from './inputs.ts';
import type { AskedImage } from './translate.ts';

export interface MadePicture extends FinishedPicture {
  /** Only where the engine really rewrote the prompt. */
  readonly revisedPrompt?: string;
  /** Where it lies, for those who asked for a link. */
  readonly link?: Link;
}

export interface Link {
  /** Relative to `/v1`, with its signature. */
  readonly path: string;
}

export interface MadeImages {
  readonly pictures: readonly MadePicture[];
  readonly megapixels: number;
  readonly costPicoUsd: bigint;
}

export type ImagePlatform = Pick<Platform, 'attachments' | 'inference' | 'links' | 'objects' | 'pictures'>;

const linkLifeMs = 3_600_000;

export function makeImages(
  platform: ImagePlatform,
  operation: Operation,
  asked: AskedImage,
  isLinked: boolean,
): Promise<MadeImages> {
  const { model, inputs, isStreamed } = asked;
  return platform.inference.session(
    operation,
    model,
    async (session) => {
      const request: ImageRequest = {
        ...asked.request,
        ...(await readInputs(inputs, model, platform, session.signal)),
      };
      // What the engine answers is looked at before another cannot be asked any more.
      const pictures = await session.call(async ({ image }, signal) => {
        assert(image !== undefined, 'the catalogue gives image models only engines that have the port');
        const generated = await image.generate(request, signal);
        return finish(platform, request, generated, signal);
      });
      session.signal.throwIfAborted();
      const made = isLinked ? await keep(platform, operation.id, pictures) : pictures;
      const megapixels = toMegapixels(pictures, asked.billedScale);
      const costPicoUsd = await session.bill({ quantities: { megapixels }, outcome: 'stop' });
      return { pictures: made, megapixels, costPicoUsd };
    },
    { streamed: isStreamed },
  );
}

function finish(
  { pictures }: ImagePlatform,
  { count, outputFormat, outputCompression, background }: ImageRequest,
  generated: readonly GeneratedImage[],
  signal: AbortSignal,
): Promise<MadePicture[]> {
  if (generated.length === 0) throw new GatewayError('unreachable', 'The engine answered without an image');
  const options = {
    format: outputFormat,
    // Jpeg has no clear pixels: what stood there shall be white, not black.
    isOpaque: background === 'opaque' || outputFormat === 'jpeg',
    ...(outputCompression === undefined ? {} : { compression: outputCompression }),
  };
  return Promise.all(
    generated.slice(0, count).map(async ({ bytes, revisedPrompt }) => ({
      ...(await pictures.finish(bytes, options, signal)),
      ...(revisedPrompt === undefined ? {} : { revisedPrompt }),
    })),
  );
}

function keep(
  { objects, links }: ImagePlatform,
  id: string,
  pictures: readonly MadePicture[],
): Promise<MadePicture[]> {
  const expiresAt = Date.now() + linkLifeMs;
  return Promise.all(
    pictures.map(async (picture, index) => {
      const ending = picture.mediaType.slice('image/'.length);
      const key = objects.passingKey('images', expiresAt, `${id}-${index}.${ending}`);
      await objects.put(key, picture.bytes);
      const path = `/objects/${key}`;
      return { ...picture, link: { path: `${path}?${links.sign(path, expiresAt)}` } };
    }),
  );
}

/** To a millionth, as the price is reckoned. What was sent along is not billed. */
function toMegapixels(pictures: readonly MadePicture[], scale: number): number {
  const pixels = pictures.reduce((sum, { width, height }) => sum + width * height, 0);
  return Math.round(pixels * scale) / 1e6;
}
