/** Asks an app without a socket: a request goes through the server's own reader, and its answer is read whole. */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ResponseHead } from '../lib/http1/client/response-head.ts';
import { ResponseReader, type ResponseSink } from '../lib/http1/client/response-reader.ts';
import { HttpDate } from '../lib/http1/server/answer-head.ts';
import { ServerConnection } from '../lib/http1/server/connection.ts';
import { Wheel } from '../lib/wheel.ts';
import type { App, Origin } from './app.ts';

export interface MemoryRequest {
  readonly method: string;
  /** A path with its query. */
  readonly target: string;
  /** Lower-case names; the length is added. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  readonly origin: Origin;
}

export interface MemoryAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
}

const hourMs = 3_600_000;
const times = { headMs: hourMs, bodyMs: hourMs, idleMs: hourMs, lingerMs: hourMs, stuckReaderMs: hourMs };

/** Fails when the answer breaks off. */
export function askInMemory(app: App, request: MemoryRequest): Promise<MemoryAnswer> {
  return new Promise((resolve, reject) => {
    const wheel = new Wheel();
    const collector = new AnswerCollector(request.method === 'HEAD', (answer) => {
      resolve(answer);
      wheel.close();
      // Later, because its writer is still about to say that this was the end.
      process.nextTick(() => socket.destroy());
    });
    const socket = new MemorySocket((bytes) => collector.take(bytes));
    socket.on('close', () => reject(new Error('the answer broke off')));
    new ServerConnection(socket as Duplex as Socket, {
      wheel,
      date: new HttpDate(),
      times,
      maxHeadBytes: 64 * 1024,
      onRequest: (asked, answer) => app.handle(asked, answer, request.origin),
      toRefusal: (why) => {
        reject(new Error(`the request was refused: ${why}`));
        return '';
      },
      onGone() {},
    });
    socket.push(toBytes(request));
  });
}

/** The server's end of a connection that is a piece of memory. */
class MemorySocket extends Duplex {
  readonly #onBytes: (bytes: Buffer) => void;

  constructor(onBytes: (bytes: Buffer) => void) {
    super();
    this.#onBytes = onBytes;
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    done();
    this.#onBytes(bytes);
  }

  destroySoon(): void {
    this.destroy();
  }

  setTimeout(): this {
    return this;
  }
}

class AnswerCollector implements ResponseSink {
  readonly #reader = new ResponseReader(this);
  readonly #pieces: Buffer[] = [];
  readonly #isHead: boolean;
  readonly #onAnswer: (answer: MemoryAnswer) => void;
  #head: ResponseHead | undefined;

  constructor(isHead: boolean, onAnswer: (answer: MemoryAnswer) => void) {
    this.#isHead = isHead;
    this.#onAnswer = onAnswer;
    this.#reader.expect();
  }

  take(bytes: Buffer): void {
    // They are the writer's, and chunks are moved together where they stand.
    const copy = Buffer.from(bytes);
    this.#reader.push(copy, copy.length);
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
    if (!this.#isHead) return;
    this.#reader.stop();
    this.onEnd();
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.#pieces.push(Buffer.from(buffer.subarray(start, end)));
  }

  onEnd(): void {
    const { status, headers } = this.#head!;
    this.#onAnswer({ status, headers: Object.fromEntries(headers), bytes: Buffer.concat(this.#pieces) });
  }
}

function toBytes({ method, target, headers = {}, body }: MemoryRequest): Buffer {
  const all = {
    host: 'localhost:80',
    ...(body === undefined ? {} : { 'content-length': String(body.length) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}
