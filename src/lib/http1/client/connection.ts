/**
 * One connection to a server: a request and its answer at a time, then idle until the next one.
 *
 *   connecting ──▶ busy ──(answer read to its end)──▶ idle ──(`send`)──▶ busy
 *        │  ▲        │                                 │  │
 *        │  └────────│── lost before a request was written┘
 *        └───────────┴── lost, aborted, not to be kept, idle for too long ──▶ gone
 */
import { connect, type Socket } from 'node:net';
import { finished, type Readable } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Deadline, Wheel } from '../../wheel.ts';
import type { ResponseHead } from './response-head.ts';
import { ResponseReader, type ResponseSink } from './response-reader.ts';

/** Hears of one answer: its head, its body piece by piece, and then one of `onEnd` and `onError`. */
export interface AnswerHandler {
  onHead(head: ResponseHead): void;
  /** The bytes from `start` to `end` are there until this returns: what is kept has to be copied. */
  onBody(buffer: Buffer, start: number, end: number): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** A stream whose length is known. It is destroyed when the request ends before it. */
export interface SizedBody {
  readonly stream: Readable;
  readonly length: number;
}

export type RequestBody = string | SizedBody | undefined;

export interface ConnectionParts {
  readonly origin: URL;
  /** What the server is called, in its certificate too. */
  readonly name: string;
  readonly wheel: Wheel;
  readonly connectMs: number;
  /** How long it may stay unused, unless the server says less. */
  readonly idleMs: number;
  /** Read into by every connection: what a read brings is used up before the next one. */
  readonly buffer: Buffer;
  readonly tls: ConnectionOptions | undefined;
  /** What the last handshake agreed on: the next one is short. */
  session?: Buffer | undefined;
  onIdle(connection: Connection): void;
  onGone(connection: Connection): void;
}

/** A server says when it closes, and a request may already be on its way then. */
const marginMs = 1_000;
/** After this long unused, what the server has sent meanwhile is read before a request is written. */
const trustedMs = 500;
/** A router in between forgets a connection on which nothing moves, and an engine may think for minutes. */
const probeMs = 60_000;

export class Connection implements Deadline, ResponseSink {
  dueAt = 0;
  slot = -1;
  readonly #parts: ConnectionParts;
  #socket: Socket;
  readonly #reader = new ResponseReader(this);
  /** Whose request is under way. */
  #handler: AnswerHandler | undefined;
  #stream: Readable | undefined;
  /** A request that waits until what the server has sent meanwhile is read. */
  #unsent: { head: string; body: RequestBody } | undefined;
  #head: ResponseHead | undefined;
  #failure: Error | undefined;
  #isConnected = false;
  #isPaused = false;
  /** The answer ended while it was paused: that is told when it goes on. */
  #owesEnd = false;
  #isKept = true;
  #idleSince = 0;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#socket = this.#open();
  }

  /** Nothing can be sent on it any more, though its end may still be on its way to the pool. */
  get isLost(): boolean {
    return this.#socket.destroyed;
  }

  /** Writes a request and hands its answer to the handler. Only while it is new or idle. */
  send(head: string, body: RequestBody, handler: AnswerHandler): void {
    const { wheel } = this.#parts;
    this.#handler = handler;
    if (this.#isConnected) {
      wheel.remove(this);
      // An end, or bytes that nobody asked for, may have come since the loop last looked.
      if (wheel.now - this.#idleSince > trustedMs) {
        this.#unsent = { head, body };
        // Two turns: reading may have begun again in this one.
        setImmediate(setImmediate, () => this.isLost || this.#writeUnsent());
        return;
      }
    }
    this.#write(head, body);
  }

  /** The handler wants to hear nothing more. */
  abort(handler: AnswerHandler): void {
    if (this.#handler !== handler) return;
    this.#handler = undefined;
    if (typeof this.#unsent?.body === 'object') this.#unsent.body.stream.destroy();
    this.#unsent = undefined;
    this.destroy();
  }

  /** Nothing more is read until `resume`, beyond what one read has brought. */
  pause(handler: AnswerHandler): void {
    if (this.#handler !== handler || this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(handler: AnswerHandler): void {
    if (this.#handler !== handler || !this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
    if (this.#owesEnd) this.#finish();
  }

  destroy(): void {
    this.#isKept = false;
    this.#reader.stop();
    this.#stream?.destroy();
    this.#socket.destroy();
  }

  /** It was idle for too long, or could not be made in time. */
  expire(): void {
    if (!this.#isConnected) this.#failure = new Error('the connection could not be made in time');
    this.destroy();
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
    this.#handler?.onHead(head);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.#handler?.onBody(buffer, start, end);
  }

  onEnd(isMore: boolean): void {
    // A server may refuse a request that it has not read to its end.
    const isSent = this.#socket.writableLength === 0 && this.#stream?.readableEnded !== false;
    if (isMore || !isSent || this.#head?.isKept !== true) this.#isKept = false;
    if (this.#isPaused) this.#owesEnd = true;
    else this.#finish();
  }

  #open(): Socket {
    const { wheel, connectMs, origin } = this.#parts;
    const socket = open(this.#parts, (length, buffer) => this.#read(length, buffer as Buffer));
    socket.once(origin.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      this.#isConnected = true;
      wheel.remove(this);
    });
    socket.once('end', () => this.#ended());
    socket.on('error', (error) => {
      this.#failure ??= error;
    });
    socket.once('close', () => this.#closed());
    socket.on('session', (session: Buffer) => {
      this.#parts.session = session;
    });
    wheel.add(this, connectMs);
    return socket;
  }

  #writeUnsent(): void {
    if (this.#unsent === undefined) return;
    const { head, body } = this.#unsent;
    this.#unsent = undefined;
    this.#write(head, body);
  }

  #write(head: string, body: RequestBody): void {
    this.#reader.expect();
    if (body === undefined) this.#socket.write(`${head}\r\n`, 'latin1');
    // One string, so that it leaves by one system call.
    else if (typeof body === 'string')
      this.#socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    else {
      this.#socket.write(`${head}content-length: ${body.length}\r\n\r\n`, 'latin1');
      this.#pipe(body);
    }
  }

  /** Not a byte more than was announced, which would be read as the next request; nor is one less an end. */
  #pipe({ stream, length }: SizedBody): void {
    this.#stream = stream;
    let left = length;
    const fail = (error: Error) => {
      if (this.#stream !== stream) return;
      this.#failure ??= error;
      this.destroy();
    };
    stream.on('data', (piece: Uint8Array) => {
      left -= piece.length;
      if (left < 0) fail(new Error('the body of the request is longer than was said'));
    });
    finished(stream, { writable: false }, (error) => {
      if (error) fail(error);
      else if (left > 0) fail(new Error('the body of the request is shorter than was said'));
    });
    stream.pipe(this.#socket, { end: false });
  }

  #read(length: number, buffer: Buffer): boolean {
    try {
      this.#reader.push(buffer, length);
    } catch (error) {
      this.#failure ??= error as Error;
      this.destroy();
    }
    return !this.#isPaused;
  }

  /** The answer has been read to its end. */
  #finish(): void {
    const handler = this.#handler;
    this.#handler = undefined;
    // First, so that what the handler asks next finds it.
    if (this.#isKept) this.#rest();
    else this.destroy();
    this.#owesEnd = false;
    this.#stream = undefined;
    try {
      handler?.onEnd();
    } catch (error) {
      // It may be busy with another's request by now, which must not suffer.
      handler?.onError(error as Error);
    }
  }

  #rest(): void {
    const { wheel, idleMs, onIdle } = this.#parts;
    const keptMs = this.#head?.keptMs;
    const restMs = keptMs === undefined ? idleMs : Math.min(idleMs, keptMs - marginMs);
    if (restMs <= 0) {
      this.destroy();
      return;
    }
    wheel.add(this, restMs);
    // Nothing was read while it was paused, perhaps for long.
    this.#idleSince = this.#owesEnd ? Number.NEGATIVE_INFINITY : wheel.now;
    onIdle(this);
  }

  /** The server has closed its side. */
  #ended(): void {
    if (this.#reader.close()) this.onEnd(false);
    else this.#failure ??= new Error('the server closed the connection');
    this.#socket.destroy();
  }

  #closed(): void {
    const { wheel, onGone } = this.#parts;
    wheel.remove(this);
    if (this.#unsent !== undefined) {
      this.#reopen();
      return;
    }
    this.destroy();
    onGone(this);
    // Who has paused hears of the end when it goes on.
    if (this.#owesEnd) return;
    const handler = this.#handler;
    this.#handler = undefined;
    handler?.onError(this.#failure ?? new Error('the connection was closed'));
  }

  /** It was lost while idle, and nothing of the request is written: that goes on by a new one. */
  #reopen(): void {
    this.#isConnected = false;
    this.#isKept = true;
    this.#failure = undefined;
    this.#socket = this.#open();
    if (this.#isPaused) this.#socket.pause();
    this.#writeUnsent();
  }
}

function open(
  { origin, name, buffer, tls, session }: ConnectionParts,
  callback: (length: number, buffer: Uint8Array) => boolean,
): Socket {
  const isTls = origin.protocol === 'https:';
  const host = bare(origin.hostname);
  const port = Number(origin.port === '' ? (isTls ? 443 : 80) : origin.port);
  const options = {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: probeMs,
    onread: { buffer, callback },
  };
  if (!isTls) return connect(options);
  // An address has no name that could be asked for.
  const servername = /^[\d.]+$|:/.test(name) ? '' : name;
  return connectTls({
    ...options,
    servername,
    ALPNProtocols: ['http/1.1'],
    ...(session && { session }),
    ...tls,
  });
}

/** `[::1]` as `::1`. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
