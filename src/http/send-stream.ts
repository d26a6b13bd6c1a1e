/** Sends a stream as the body of an answer, at the pace of its reader. */
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ServerAnswer } from '../lib/http1/server/answer.ts';

/** Fails with the stream, or when the client leaves before its end. Either way the stream is closed. */
export async function sendStream(answer: ServerAnswer, body: Readable): Promise<void> {
  await pipeline(body, new AnswerWritable(answer));
}

class AnswerWritable extends Writable {
  readonly #answer: ServerAnswer;

  constructor(answer: ServerAnswer) {
    super({ decodeStrings: true });
    this.#answer = answer;
    answer.onLost(() => this.destroy(new Error('The client left')));
  }

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    if (this.#answer.write(piece)) done();
    else this.#answer.onRoom(done);
  }

  override _final(done: () => void): void {
    this.#answer.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (error !== null) this.#answer.destroy();
    done(error);
  }
}
