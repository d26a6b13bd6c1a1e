/**
 * The pictures that a request brings: references, images to edit, a mask, as files of a form, addresses or data URIs.
 * First which ones there are, then their content, proven to be pictures that the model takes.
 */
import type { PictureFile } from '../../engines/contract/picture.ts';
import type { Upload } from '../../http/route.ts';
import { tooLarge } from '../../http/too-large.ts';
import { type Bytes, toContent } from '../../lib/content.ts';
import { GatewayError, refusal } from '../../lib/errors.ts';
import type { ImageModel } from '../../platform/catalog/index.ts';
import type { Platform } from '../../platform/index.ts';
import type { PictureKind } from '../../platform/pictures/types.ts';
import { checkParameter } from './parameters.ts';
import { type EditImage, type ImageBody, maxImageBytes, maxTotalImageBytes } from './schema.ts';

/** A picture that is not read yet. */
export interface Input {
  /** Where it stands in the request. */
  readonly param: string;
  readonly source: string | Bytes;
}

export interface Inputs {
  readonly references: readonly Input[];
  readonly mask: Input | undefined;
}

export interface ReadInputs {
  readonly references: readonly PictureFile[];
  readonly mask?: PictureFile;
}

/** Files first, then what the body names, in the order of its fields. Pure. */
export function toInputs(body: ImageBody, uploads: readonly Upload[], model: ImageModel): Inputs {
  const files = uploads.filter(({ field }) => field === 'image');
  if (files.length > 0) checkParameter('image', files, model);
  const maskFile = uploads.find(({ field }) => field === 'mask');
  if (maskFile !== undefined) checkParameter('mask', maskFile, model);
  const { images, input_references: named } = body;
  const references = [
    ...files.map(({ content }, index) => ({
      param: files.length === 1 ? 'image' : `image[${index}]`,
      source: content,
    })),
    ...(images ?? []).map((image, index) => toInput(image, `images[${index}]`)),
    ...(named ?? []).map(({ image_url: { url } }, index) => ({
      param: `input_references[${index}].image_url.url`,
      source: url,
    })),
  ];
  const most = model.references?.max ?? 0;
  if (references.length > most) {
    const last = named === undefined || named === null ? 'images' : 'input_references';
    throw refusal(last, `must have at most ${most} images, those in other fields included`);
  }
  const mask =
    maskFile !== undefined
      ? { param: 'mask', source: maskFile.content }
      : body.mask === undefined || body.mask === null
        ? undefined
        : toInput(body.mask, 'mask');
  if (mask !== undefined && references.length === 0) throw refusal('mask', 'needs an image beside it');
  return { references, mask };
}

function toInput({ image_url: source, file_id }: EditImage, place: string): Input {
  if (file_id !== undefined && file_id !== null)
    throw new GatewayError(
      'unsupported_parameter',
      `${place}.file_id is not supported: send the image as image_url`,
      { param: `${place}.file_id` },
    );
  const param = `${place}.image_url`;
  if (source === undefined || source === null) throw refusal(param, 'is required');
  return { param, source };
}

/** Read at once for one request: what all of them may weigh is told only when they are here. */
const atOnce = 4;

export async function readInputs(
  { references, mask }: Inputs,
  { references: declared }: ImageModel,
  { attachments, pictures }: Pick<Platform, 'attachments' | 'pictures'>,
  signal: AbortSignal,
): Promise<ReadInputs> {
  const formats: readonly PictureKind[] = declared?.formats ?? [];
  let totalBytes = 0;

  async function read({ param, source }: Input, kinds: readonly PictureKind[], stop: AbortSignal) {
    const content = toContent(
      typeof source === 'string'
        ? await attachments.read(source, { param, maxBytes: maxImageBytes }, stop)
        : source,
    );
    totalBytes += content.length;
    if (totalBytes > maxTotalImageBytes) throw tooLarge('The sum of the images', maxTotalImageBytes);
    const { mediaType, content: accepted } = await pictures.accept(content, { param, kinds }, stop);
    return { mediaType, content: accepted };
  }

  const readings = [
    ...references.map((input) => (stop: AbortSignal) => read(input, formats, stop)),
    ...(mask === undefined ? [] : [(stop: AbortSignal) => read(mask, ['png'], stop)]),
  ];
  const files = await inTurns(readings, signal);
  const maskFile = mask === undefined ? undefined : files.pop();
  return { references: files, ...(maskFile === undefined ? {} : { mask: maskFile }) };
}

/** A few at once, in order. The first failure ends the others, and is told when they have ended. */
async function inTurns<T>(
  works: readonly ((stop: AbortSignal) => Promise<T>)[],
  signal: AbortSignal,
): Promise<T[]> {
  const results: T[] = [];
  const failure = new AbortController();
  const stop = AbortSignal.any([signal, failure.signal]);
  let next = 0;
  const worker = async () => {
    while (next < works.length && !stop.aborted) {
      const index = next++;
      try {
        results[index] = await works[index]!(stop);
      } catch (error) {
        failure.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, works.length) }, worker));
  signal.throwIfAborted();
  failure.signal.throwIfAborted();
  return results;
}
