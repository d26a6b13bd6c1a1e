/** A server that shows every byte and every end of its connections, and a handler that keeps what it hears. */
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { AnswerHandler } from '../../src/lib/http1/client/connection.ts';
import type { ResponseHead } from '../../src/lib/http1/client/response-head.ts';

/** Something that changes by events, and can be waited for. */
export class Watched extends EventEmitter<{ change: [] }> {
  protected changed(): void {
    this.emit('change');
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await once(this, 'change');
  }
}

/** The server's side of one connection. */
export class Peer extends Watched {
  readonly socket: Socket;
  received = '';
  reads = 0;
  isEnded = false;
  isClosed = false;

  constructor(socket: Socket, isReading: boolean) {
    super();
    this.socket = socket;
    if (isReading)
      socket.on('data', (bytes: Buffer) => {
        this.received += bytes.toString('latin1');
        this.reads += 1;
        this.changed();
      });
    socket.on('end', () => {
      this.isEnded = true;
      this.changed();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isClosed = true;
      this.changed();
    });
  }

  /** Waits for a request, and takes it away: all up to and with this. */
  async request(end = '\r\n\r\n'): Promise<string> {
    await this.until(() => this.received.includes(end));
    const length = this.received.indexOf(end) + end.length;
    const text = this.received.slice(0, length);
    this.received = this.received.slice(length);
    return text;
  }

  async closed(): Promise<void> {
    await this.until(() => this.isClosed);
  }

  write(text: string): void {
    this.socket.write(text, 'latin1');
  }
}

export class RawServer extends Watched {
  readonly peers: Peer[] = [];
  readonly #server: Server;

  constructor({ tls, isReading = true }: { tls?: TlsOptions; isReading?: boolean } = {}) {
    super();
    const take = (socket: Socket) => {
      this.peers.push(new Peer(socket, isReading));
      this.changed();
    };
    // Half open, so that an end of the client is seen as one.
    this.#server =
      tls === undefined
        ? createServer({ allowHalfOpen: true, noDelay: true }, take)
        : createTlsServer(tls, take);
  }

  async listen(host = '127.0.0.1'): Promise<this> {
    this.#server.listen(0, host);
    await once(this.#server, 'listening');
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The peer of the connection with this number, from 0. */
  async peer(number: number): Promise<Peer> {
    await this.until(() => this.peers.length > number);
    return this.peers[number]!;
  }

  async close(): Promise<void> {
    for (const { socket } of this.peers) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export class RecordingHandler extends Watched implements AnswerHandler {
  /** `head`, `body`, `end`, `error`, in the order in which they came. */
  readonly events: string[] = [];
  head: ResponseHead | undefined;
  error: Error | undefined;
  length = 0;
  readonly #pieces: Buffer[] = [];

  get body(): string {
    return Buffer.concat(this.#pieces).toString('latin1');
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  onHead(head: ResponseHead): void {
    this.head = head;
    this.#tell('head');
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.#pieces.push(Buffer.copyBytesFrom(buffer, start, end - start));
    this.length += end - start;
    this.#tell('body');
  }

  onEnd(): void {
    this.#tell('end');
  }

  onError(error: Error): void {
    this.error = error;
    this.#tell('error');
  }

  async heard(event: string): Promise<this> {
    await this.until(() => this.events.includes(event));
    return this;
  }

  /** Its one end. */
  async over(): Promise<this> {
    await this.until(() => this.events.includes('end') || this.events.includes('error'));
    return this;
  }

  #tell(event: string): void {
    this.events.push(event);
    this.changed();
  }
}

/** Lets the loop turn, for what must not happen. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
