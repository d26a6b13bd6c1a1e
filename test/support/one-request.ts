/** A server that is asked one thing after another by a client which says every byte itself. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { ServerAnswer } from '../../src/lib/http1/server/answer.ts';
import { HttpDate } from '../../src/lib/http1/server/answer-head.ts';
import { type Refusal, ServerConnection, socketOptions } from '../../src/lib/http1/server/connection.ts';
import type { BodySink, Break, ServerRequest } from '../../src/lib/http1/server/request.ts';
import { HttpServer } from '../../src/lib/http1/server/server.ts';
import type { Times } from '../../src/lib/http1/server/times.ts';
import { Wheel } from '../../src/lib/wheel.ts';
import { Peer, turns, Watched } from './raw-server.ts';

export interface Asked {
  readonly request: ServerRequest;
  readonly answer: ServerAnswer;
}

export interface OneClient {
  readonly server: HttpServer;
  readonly client: Socket;
  /** The next request, once its head has come. */
  next(): Promise<Asked>;
  /** How many have come so far. */
  readonly count: number;
  close(): Promise<void>;
}

const usualTimes: Times = {
  headMs: 60_000,
  bodyMs: 60_000,
  idleMs: 60_000,
  lingerMs: 1_000,
  stuckReaderMs: 30_000,
};
const usualHeadBytes = 16 * 1024;

const toRefusal = (why: Refusal) => `HTTP/1.1 400 ${why}\r\nconnection: close\r\n\r\n`;

/** Requests in the order in which they come, for whoever waits for the next one. */
class Requests {
  readonly #come: Asked[] = [];
  readonly #waiting: ((asked: Asked) => void)[] = [];
  count = 0;

  readonly add = (request: ServerRequest, answer: ServerAnswer): void => {
    this.count++;
    const asked = { request, answer };
    const first = this.#waiting.shift();
    if (first === undefined) this.#come.push(asked);
    else first(asked);
  };

  next(): Promise<Asked> {
    return new Promise((resolve) => {
      const first = this.#come.shift();
      if (first === undefined) this.#waiting.push(resolve);
      else resolve(first);
    });
  }
}

export async function openOneClient(
  times: Partial<Times> = {},
  maxHeadBytes = usualHeadBytes,
): Promise<OneClient> {
  const requests = new Requests();
  const server = new HttpServer({
    maxHeadBytes,
    times: { ...usualTimes, ...times },
    onRequest: requests.add,
    toRefusal,
  });
  const client = await connectTo(server.net);
  return {
    server,
    client,
    next: () => requests.next(),
    get count() {
      return requests.count;
    },
    close() {
      client.destroy();
      return server.close(0);
    },
  };
}

async function connectTo(server: Server): Promise<Socket> {
  if (!server.listening) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const { port } = server.address() as AddressInfo;
  // Half open, so that an end of the server is seen as one.
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  client.on('error', () => {});
  await once(client, 'connect');
  return client;
}

export interface OneConnection {
  readonly connection: ServerConnection;
  /** The server's side of it. */
  readonly socket: Socket;
  readonly client: Peer;
  readonly wheel: Wheel;
  /** What was refused, in order. */
  readonly refusals: readonly Refusal[];
  /** The next request, once its head has come. */
  next(): Promise<Asked>;
  /** How many have come so far. */
  readonly count: number;
  /** How often the connection said that it is gone. */
  readonly goneCount: number;
  /** So much time passes, at once. */
  pass(ms: number): void;
  /** Sends this, and waits until the server has read it. */
  sent(bytes: string): Promise<void>;
  /** Until the server has closed. */
  gone(): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectionSetup {
  readonly times?: Partial<Times>;
  readonly maxHeadBytes?: number;
  /** Answers at once, before anything else happens. */
  readonly onRequest?: (asked: Asked) => void;
}

/** A single connection whose clock stands still, and whose two ends can be looked at. */
export async function openConnection(setup: ConnectionSetup = {}): Promise<OneConnection> {
  const { times = {}, maxHeadBytes = usualHeadBytes, onRequest } = setup;
  const requests = new Requests();
  const refusals: Refusal[] = [];
  let now = 0;
  let goneCount = 0;
  const wheel = new Wheel({ now: () => now });
  const server = createServer(socketOptions);
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = new Peer(await connectTo(server), true);
  const [socket] = await accepted;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const connection = new ServerConnection(socket, {
    wheel,
    date: new HttpDate(),
    times: { ...usualTimes, ...times },
    maxHeadBytes,
    onRequest(request, answer) {
      requests.add(request, answer);
      onRequest?.({ request, answer });
    },
    toRefusal(why) {
      refusals.push(why);
      return toRefusal(why);
    },
    onGone() {
      goneCount++;
    },
  });
  return {
    connection,
    socket,
    client,
    wheel,
    refusals,
    next: () => requests.next(),
    get count() {
      return requests.count;
    },
    get goneCount() {
      return goneCount;
    },
    pass(ms) {
      now += ms;
      wheel.turn();
    },
    async sent(bytes) {
      const to = client.socket.bytesWritten + Buffer.byteLength(bytes, 'latin1');
      client.write(bytes);
      while (socket.bytesRead < to && !socket.destroyed) await turns(1);
    },
    async gone() {
      await closed;
    },
    async close() {
      client.socket.destroy();
      socket.destroy();
      await closed;
      wheel.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A reader of a body that keeps what it hears. */
export class BodyRecorder extends Watched implements BodySink {
  /** `data`, `end`, or why it broke, in the order in which they came. */
  readonly events: string[] = [];
  length = 0;
  readonly #pieces: Buffer[] = [];

  get body(): string {
    return Buffer.concat(this.#pieces).toString('latin1');
  }

  onData(piece: Buffer): void {
    this.#pieces.push(piece);
    this.length += piece.length;
    this.#tell('data');
  }

  onEnd(): void {
    this.#tell('end');
  }

  onBroken(why: Break): void {
    this.#tell(why);
  }

  /** Its one end. */
  async over(): Promise<this> {
    await this.until(() => this.events.length > 0 && this.events.at(-1) !== 'data');
    return this;
  }

  /** How it ended, however many pieces came before. */
  get ends(): string[] {
    return this.events.filter((event) => event !== 'data');
  }

  #tell(event: string): void {
    this.events.push(event);
    this.changed();
  }
}

/** Until the answer is out, or never will be. */
export function closed(answer: ServerAnswer): Promise<void> {
  return new Promise((resolve) => answer.watch({ onClosed: resolve }));
}

/** How often the answer has been told over. */
export class ClosedCounter extends Watched {
  count = 0;

  constructor(answer: ServerAnswer) {
    super();
    answer.watch(this);
  }

  onClosed(): void {
    this.count++;
    this.changed();
  }

  async first(): Promise<void> {
    await this.until(() => this.count > 0);
  }
}
