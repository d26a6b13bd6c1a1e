/** Reads the answers of one connection: each is expected, and none has anything behind it. */
import { MessageError } from '../message.ts';
import { MessageReader, type MessageSink } from '../message-reader.ts';
import { ResponseHead } from './response-head.ts';

export interface ResponseSink {
  onHead(head: ResponseHead): void;
  /** The bytes from `start` to `end` are there until this returns. */
  onBody(buffer: Buffer, start: number, end: number): void;
  /** `isMore`: bytes came behind it that nobody asked for, so the connection cannot be trusted any more. */
  onEnd(isMore: boolean): void;
}

const longestHead = 64 * 1024;
const mostInterim = 16;

export class ResponseReader implements MessageSink {
  readonly #sink: ResponseSink;
  readonly #reader = new MessageReader(this, longestHead);
  #interim = 0;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** A request was sent: its answer may come. */
  expect(): void {
    this.#reader.expect();
    this.#interim = 0;
  }

  /** Nothing is read any more. */
  stop(): void {
    this.#reader.stop();
  }

  /** Throws a `MessageError` for what is no answer, and for what nobody asked for. */
  push(buffer: Buffer, end: number): void {
    if (this.#reader.isOver) throw new MessageError('more came than was asked for');
    let at = 0;
    while (at < end && !this.#reader.isOver) at = this.#reader.push(buffer, at, end);
  }

  /** The connection has ended. True where that is how the body was to end. */
  close(): boolean {
    return this.#reader.close();
  }

  onHead(text: string): ResponseHead | undefined {
    const head = new ResponseHead(text);
    // Early hints and the like: the answer itself is still to come.
    if (head.status < 200) {
      if (head.status === 101 || !head.isKept || ++this.#interim > mostInterim)
        throw new MessageError(`the answer has the status ${head.status}`);
      return undefined;
    }
    this.#sink.onHead(head);
    return head;
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.#sink.onBody(buffer, start, end);
  }

  onEnd(isMore: boolean): void {
    this.#sink.onEnd(isMore);
  }
}
