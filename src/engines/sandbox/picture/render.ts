/** What the studio's process runs: makes the pictures of one request, one after the other, and puts out their files. */
import type { PictureFormat } from '../../contract/picture.ts';
import type { Render } from '../../contract/studio.ts';
import { toSeed } from '../seed.ts';
import { makePicture, type PictureRequest } from './picture.ts';

export interface PictureOrder extends PictureRequest {
  readonly count: number;
  readonly seed: number;
  readonly format: PictureFormat;
  readonly compression?: number;
  /** How many of the inputs are references; a mask comes after them. */
  readonly references: number;
}

export interface PictureResult {
  /** The lengths of the files, in the order in which they were put out. */
  readonly lengths: readonly number[];
  /** How often each picture was refined. */
  readonly updates: number;
}

export const render: Render<PictureOrder, PictureResult> = async (order, inputs, stage) => {
  const { count, seed, format, compression, width, height } = order;
  // More than can be seen in the result is not worth its memory.
  const maxSide = Math.max(width, height) * 2;
  const references = [];
  for (const bytes of inputs.slice(0, order.references))
    references.push(await stage.tools.readPicture(bytes, maxSide));
  const maskBytes = inputs[order.references];
  const mask = maskBytes === undefined ? undefined : await stage.tools.readPicture(maskBytes, maxSide);
  const lengths: number[] = [];
  let updates = 0;
  for (let index = 0; index < count; index++) {
    stage.throwIfStopped();
    const made = makePicture(order, {
      // Of one request together: another count gives other pictures.
      seed: toSeed([seed, order.prompt, count, index]),
      references,
      ...(mask === undefined ? {} : { mask }),
    });
    updates = made.updates;
    const { bytes } = await stage.tools.writePicture(made.canvas, {
      format,
      ...(compression === undefined ? {} : { compression }),
    });
    lengths.push(bytes.length);
    await stage.emit(bytes);
  }
  return { lengths, updates };
};
