/**
 * An answer that holds its pictures, as bytes: tens of megabytes of base64 have nothing in them that JSON would have to
 * look at, and are written one picture at a time, so that nobody else waits for all of them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ImageAnswer } from './schema.ts';

/** Inside of a text its quotes are escaped, so that this can only be the member. */
const place = '"b64_json":0';
const before = '"b64_json":"';
const after = '"';

/** `answer` without base64; `pictures` are what stands there, in its order. */
export async function writeAnswer(answer: ImageAnswer, pictures: readonly Buffer[]): Promise<Buffer> {
  const data = answer.data.map((picture) => ({ b64_json: 0, ...picture }));
  const [head = '', ...rest] = JSON.stringify({ ...answer, data }).split(place);
  const texts = rest.map((text) => after + text);
  const lengths = pictures.map(({ length }) => before.length + Math.ceil(length / 3) * 4);
  const bytes = Buffer.allocUnsafe(
    [head, ...texts].reduce((sum, text) => sum + Buffer.byteLength(text), 0) +
      lengths.reduce((sum, length) => sum + length, 0),
  );
  let at = bytes.write(head);
  for (const [index, picture] of pictures.entries()) {
    at += bytes.write(before, at, 'latin1');
    at += bytes.write(picture.toString('base64'), at, 'latin1');
    at += bytes.write(texts[index] ?? '', at);
    await nextTurn();
  }
  return bytes;
}
