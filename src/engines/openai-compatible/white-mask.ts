/** Masks the other way: OpenAI draws anew what is clear, most engines what is white. Turned round in the studio. */
import assert from 'node:assert';
import type { Bytes } from '../../lib/content.ts';
import type { Render, Studio } from '../contract/studio.ts';

const module = new URL(import.meta.url);
const maxBytes = 64 * 1024 * 1024;
const maxCpuMs = 20_000;

export async function whitenMask(
  mask: Bytes,
  studio: Studio | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  assert(studio !== undefined, 'an engine that is configured has a studio');
  const pieces: Uint8Array[] = [];
  const order = { module, request: {}, inputs: [mask], maxBytes, maxCpuMs };
  for await (const piece of studio.render(order, signal)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Runs in the studio's process: clear becomes white, the rest black, and what is half clear grey. */
export const render: Render = async (_request, inputs, stage) => {
  const [bytes] = inputs;
  assert(bytes !== undefined, 'there is a mask');
  const { width, height, data } = await stage.tools.readPicture(bytes);
  const turned = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at += 4) {
    turned.fill(255 - (data[at + 3] ?? 0), at, at + 3);
    turned[at + 3] = 255;
  }
  const mask = await stage.tools.writePicture({ width, height, data: turned }, { format: 'png' });
  await stage.emit(mask.bytes);
};
