/**
 * Kept connections to one server: HTTP/1.1, one request at a time on each, as many as there are requests.
 *
 * undici can do the same and more, but has a stream for every socket, a parser behind the border of WebAssembly, a turn
 * of the loop before each request, a call and a buffer for each chunk: a bare pass-through of a burst of 100 tokens
 * costs 203 µs with it and 58 with this, that of a JSON answer 45 and 37 (docs/decisions/0025).
 */
import type { ConnectionOptions } from 'node:tls';
import { Wheel } from '../../wheel.ts';
import { type AnswerHandler, Connection, type RequestBody } from './connection.ts';
import { type RequestHead, toRequestHead } from './request-head.ts';

export interface Request extends RequestHead {
  readonly body?: RequestBody;
}

export interface PoolParts {
  /** `http://host:8000` */
  readonly origin: string;
  /** What the server is called, where its address has another name: several servers may be behind one. */
  readonly host?: string | undefined;
  readonly connectMs: number;
  /** How long a connection is kept unused, unless the server says less. */
  readonly idleMs: number;
  readonly tls?: ConnectionOptions | undefined;
  /** Watches over connections that are being made and that are idle. */
  readonly wheel?: Wheel;
}

const readBytes = 64 * 1024;

export class ConnectionPool {
  /** Stands still where another one was given. */
  readonly #ownWheel = new Wheel();
  readonly #host: string;
  readonly #open: () => Connection;
  readonly #connections = new Set<Connection>();
  /** The one that rested last is taken first, so that those that are too many grow old and go. */
  readonly #idle: Connection[] = [];
  /** The head of the last request, because most are the same. */
  #last: { request: Request; text: string } | undefined;
  #closing: Promise<void> | undefined;
  #onEmpty: (() => void) | undefined;

  constructor({ origin, host, connectMs, idleMs, tls, wheel = this.#ownWheel }: PoolParts) {
    const url = new URL(origin);
    this.#host = host ?? url.host;
    const { hostname: name } = new URL(`${url.protocol}//${this.#host}`);
    const buffer = Buffer.allocUnsafeSlow(readBytes);
    const onIdle = (connection: Connection) => this.#rest(connection);
    const onGone = (connection: Connection) => this.#forget(connection);
    const parts = { origin: url, name, wheel, connectMs, idleMs, buffer, tls, onIdle, onGone };
    this.#open = () => new Connection(parts);
  }

  /**
   * What becomes of the request is told to the handler, never before this has returned. The connection takes the
   * handler's orders for as long as the request is under way on it.
   */
  send(request: Request, handler: AnswerHandler): Connection | undefined {
    const { body } = request;
    let connection: Connection;
    let head: string;
    try {
      if (this.#closing !== undefined) throw new Error('the pool is closed');
      head = this.#toHead(request);
      connection = this.#take();
    } catch (error) {
      if (typeof body === 'object') body.stream.destroy();
      process.nextTick(() => handler.onError(error as Error));
      return undefined;
    }
    connection.send(head, body, handler);
    return connection;
  }

  /** Takes nothing more; what is under way is waited for. */
  close(): Promise<void> {
    this.#closing ??= new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      if (this.#connections.size === 0) resolve();
    }).then(() => this.#ownWheel.close());
    for (const connection of this.#idle.splice(0)) connection.destroy();
    return this.#closing;
  }

  #toHead(request: Request): string {
    const { method, path, headers } = request;
    const last = this.#last;
    if (
      last !== undefined &&
      last.request.headers === headers &&
      last.request.path === path &&
      last.request.method === method
    )
      return last.text;
    const text = toRequestHead(this.#host, request);
    this.#last = { request: { method, path, headers }, text };
    return text;
  }

  #take(): Connection {
    let connection = this.#idle.pop();
    // One that was lost is forgotten when its socket has closed, a turn of the loop later.
    while (connection?.isLost === true) connection = this.#idle.pop();
    return connection ?? this.#add();
  }

  #add(): Connection {
    const connection = this.#open();
    this.#connections.add(connection);
    return connection;
  }

  #rest(connection: Connection): void {
    if (this.#closing !== undefined) connection.destroy();
    else this.#idle.push(connection);
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    if (this.#connections.size === 0) this.#onEmpty?.();
  }
}
