/** A client's picture, decoded wholly to prove that it is one, as an engine can take it. */
import { emitAll } from '../../media/program/emit.ts';
import type { JobOutput } from '../../media/program/protocol.ts';
import type { ReadHeic } from './heic.ts';
import { decoding, openPicture, readChannel } from './open.ts';
import type { PictureJobKinds } from './protocol.ts';

type Accept = PictureJobKinds['accept'];

export async function accept(
  { readHeic }: { readonly readHeic: ReadHeic },
  bytes: Buffer,
  { kind }: Accept['options'],
  output: JobOutput,
): Promise<Accept['result']> {
  const picture = await openPicture(bytes, kind, readHeic);
  const { width, height, isAnimated } = picture;
  const format = kind === 'png' || kind === 'jpeg' || kind === 'webp' ? kind : undefined;
  // Of an animation only the first frame is looked at, so only that one is handed on.
  if (format !== undefined && !isAnimated) {
    await readChannel(picture, 0);
    return { format, width, height, isKept: true };
  }
  output.throwIfStopped();
  const png = await decoding(kind, () => picture.read().autoOrient().png().toBuffer());
  await emitAll(png, output);
  return { format: 'png', width, height, isKept: false };
}
