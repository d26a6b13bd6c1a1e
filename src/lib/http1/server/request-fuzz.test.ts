/**
 * Random and damaged requests, several on a connection and cut anywhere, held against Node's own server (llhttp): what
 * is accepted here is accepted there too, with the same method, target, headers and body, and there are as many of
 * them. Where two readers understand a request differently, one of them can be made to read a request in it that the
 * other one has let pass. The other way round it need not be. Refused here and not there are:
 *
 * - any transfer encoding but one `chunked`: no client sends another, and readers disagree on lists of them
 * - lengths of more than 15 digits, sizes of chunks of more than 16 or of 2^48: zeros without end are no number
 * - a backslash in an extension of a chunk, `transfer-encoding` as a trailer: nobody needs them
 * - a length or an encoding twice, though they say the same
 * - CONNECT: nothing is tunnelled
 * - a request line without a version, which Node takes for HTTP/0.9
 *
 * Accepted here and not there are two things that the application refuses, with an answer that tells why: a method that
 * nobody knows, and a target that is neither a path nor an address. Everything up to them has to be alike. Behind a
 * request that offers an upgrade Node reads nothing, and behind one of HTTP/1.0 that asks both to keep and to close the
 * connection it reads on: there the comparison ends.
 */
import {
  createServer,
  type IncomingMessage,
  METHODS,
  type Server as NodeServer,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RandomMessages } from '../../../../test/support/random-messages.ts';
import { turns } from '../../../../test/support/raw-server.ts';
import { randomLengths } from '../../../../test/support/read-answer.ts';
import { Wheel } from '../../wheel.ts';
import type { ServerAnswer } from './answer.ts';
import { HttpDate } from './answer-head.ts';
import { ServerConnection } from './connection.ts';
import type { ServerRequest } from './request.ts';

interface Understood {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Undefined where it did not come to its end. */
  body: string | undefined;
}

interface Reading {
  readonly requests: Understood[];
  /** Something was no HTTP, or did not end as it has to. */
  isRefused: boolean;
}

/** The server's end of a connection that is a piece of memory. */
class MemorySocket extends Duplex {
  override _read(): void {}

  override _write(_bytes: Buffer, _encoding: string, done: () => void): void {
    done();
  }

  destroySoon(): void {
    this.destroy();
  }

  setTimeout(): this {
    return this;
  }
}

/** When a request is answered: in the middle of its last byte, a turn later, or before its body, which nobody reads. */
type Way = 'at once' | 'later' | 'unread';

const times = { headMs: 60_000, bodyMs: 60_000, idleMs: 60_000, lingerMs: 60_000, stuckReaderMs: 60_000 };

async function readByUs(bytes: Buffer, lengths: Iterable<number>, way: Way): Promise<Reading> {
  const told: Reading = { requests: [], isRefused: false };
  const wheel = new Wheel();
  const socket = new MemorySocket();
  new ServerConnection(socket as unknown as Socket, {
    wheel,
    date: new HttpDate(),
    times,
    maxHeadBytes: 64 * 1024,
    onRequest(request: ServerRequest, answer: ServerAnswer) {
      const { method, target, headers } = request;
      const version = request.isHttp10 ? '1.0' : '1.1';
      const understood: Understood = { method, target, version, headers: { ...headers }, body: undefined };
      told.requests.push(understood);
      const send = () => answer.send(200, '', 'ok');
      if (way === 'unread') {
        send();
        return;
      }
      let body = '';
      request.read({
        onData(piece) {
          body += piece.toString('latin1');
        },
        onEnd() {
          understood.body = body;
          if (way === 'at once') send();
          else setImmediate(send);
        },
        onBroken(why) {
          if (why !== 'left') told.isRefused = true;
        },
      });
    },
    toRefusal() {
      told.isRefused = true;
      return 'refused';
    },
    onGone() {},
  });
  let at = 0;
  for (const length of lengths) {
    if (at >= bytes.length || socket.destroyed) break;
    // A copy, because chunks are moved together where they stand.
    socket.push(Buffer.copyBytesFrom(bytes, at, length));
    at += length;
    if (way === 'later') await turns(1);
  }
  let seen = -1;
  while (seen < told.requests.length) {
    seen = told.requests.length;
    await turns(2);
  }
  socket.destroy();
  await turns(1);
  expect(wheel.size).toBe(0);
  wheel.close();
  return told;
}

async function readByNode(server: NodeServer, bytes: Buffer): Promise<Reading> {
  const told: Reading = { requests: [], isRefused: false };
  const socket = new MemorySocket();
  readings.set(socket, told);
  server.emit('connection', socket);
  socket.push(Buffer.from(bytes));
  await turns(6);
  socket.destroy();
  await turns(1);
  return told;
}

const readings = new WeakMap<Duplex, Reading>();

function createNodeServer(): NodeServer {
  const server = createServer({
    insecureHTTPParser: false,
    // A missing host is refused by the application.
    requireHostHeader: false,
    maxHeaderSize: 64 * 1024,
  });
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const headers: Record<string, string> = Object.create(null);
    const { rawHeaders, method = '', url = '', httpVersion: version } = request;
    // Not `headers`, where Node drops some of what is sent twice.
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]!.toLowerCase();
      const value = rawHeaders[at + 1]!;
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
    }
    const understood: Understood = { method, target: url, version, headers: { ...headers }, body: undefined };
    readings.get(request.socket)?.requests.push(understood);
    let body = '';
    request.setEncoding('latin1');
    request.on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      understood.body = body;
      response.end('ok');
    });
    request.on('error', () => {});
  };
  server.on('request', take);
  server.on('checkContinue', take);
  server.on('checkExpectation', take);
  server.on('clientError', (_error, socket) => {
    const told = readings.get(socket);
    if (told !== undefined) told.isRefused = true;
  });
  return server;
}

const requestLines = [
  'GET / HTTP/1.1',
  'POST /v1/chat?a=b&c=%C3%A4 HTTP/1.1',
  'POST /v1/chat HTTP/1.1',
  'PUT /a/../b//c HTTP/1.1',
  'HEAD /a#b HTTP/1.1',
  'DELETE http://other:80/a?b HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'PATCH /a HTTP/1.1',
  'PATCH /\xe4 HTTP/1.1',
  'POST / HTTP/1.0',
];
const fields = [
  'host: x',
  'Host: x',
  'content-type: application/json',
  'X-Empty:',
  'x-tab:\ta\tb\t',
  'x-high: \xe4\xa0\xff\xa0',
  'x-list: a',
  'X-List: b',
  '__proto__: a',
  'constructor: b',
  'cookie: a=b',
  'authorization: Bearer a',
  'connection: keep-alive',
  'connection: keep-alive',
  'Connection: close',
  'connection: Upgrade',
  'upgrade: h2c',
  'expect: 100-continue',
  'keep-alive: timeout=5',
  'te: trailers, chunked',
  'trailer: x-sum',
];
const trailers = ['x-sum: 1', 'X-Empty:', 'content-length: 3', 'transfer-encoding: chunked', 'host: y'];
const spice = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\n\n',
  ' ',
  '\t',
  '\0',
  '\xa0',
  '\x7f',
  '\x01',
  '\x0b',
  ':',
  ';',
  ',',
  '=',
  '"',
  '+',
  '-',
  '#',
  '?',
  '0',
  '1',
  'f',
  'F',
  'g',
  'x',
  '0\r\n\r\n',
  'content-length: 3\r\n',
  'Content-Length: 0\r\n',
  'Transfer-Encoding: chunked\r\n',
  'transfer-encoding: identity\r\n',
  'connection: close\r\n',
  'GET /smuggled HTTP/1.1\r\n\r\n',
  'POST / HTTP/1.0\r\n\r\n',
  ' HTTP/1.1\r\n',
  ';a=b',
  ';a="b"',
  ' chunked',
  ', chunked',
  'chunked, ',
  '\xb5',
];

function createConnections(seed: number) {
  const messages = new RandomMessages(seed, { fields, trailers, spice });

  function toBody(): [field: string | undefined, body: string] {
    const way = messages.below(10);
    if (way < 3) return [undefined, ''];
    return way < 6 ? messages.withLength() : messages.inChunks();
  }

  function toRequest(): string {
    const [field, body] = toBody();
    const before = messages.pick(['', '', '', '', '\r\n', '\r\n\r\n', '\n', '\r']);
    const head = [messages.pick(requestLines), ...messages.fields(field)].join('\r\n');
    return `${before}${head}\r\n\r\n${body}`;
  }

  return () => {
    let text = '';
    for (let count = 1 + messages.below(3); count > 0; count--) text += toRequest();
    return {
      bytes: Buffer.from(messages.damaged(text), 'latin1'),
      lengths: () => randomLengths(messages.random, 1 + messages.below(60)),
    };
  };
}

const knownMethods = new Set(METHODS);
const knownTarget = /^(?:\/|\*$|[a-z]+:\/\/[\w.:-]+(?:[/?]|$))/i;

function isKnown({ method, target }: Understood): boolean {
  return knownMethods.has(method) && knownTarget.test(target);
}

function isLastToCompare({ headers, version }: Understood): boolean {
  const connection = headers['connection'] ?? '';
  if (headers['upgrade'] !== undefined && /upgrade/i.test(connection)) return true;
  return version === '1.0' && /close/i.test(connection) && /keep-alive/i.test(connection);
}

/** Why the two do not understand the same. */
function difference(ours: Reading, node: Reading): string | undefined {
  for (const [at, request] of ours.requests.entries()) {
    const other = node.requests[at];
    // Of a request that does not come to its end the head is told all the same.
    if (other === undefined) return isKnown(request) ? `Node has refused ${at}` : undefined;
    for (const part of ['method', 'target', 'version'] as const)
      if (request[part] !== other[part]) return part;
    if (JSON.stringify(toSorted(request.headers)) !== JSON.stringify(toSorted(other.headers)))
      return 'headers';
    if (request.body !== undefined && request.body !== other.body) return 'body';
    if (request.body === undefined && other.body !== undefined && !ours.isRefused) return 'the end';
    if (isLastToCompare(request)) return undefined;
  }
  // Whoever refuses may refuse what Node takes; whoever does not has seen all that Node has.
  const more = node.requests[ours.requests.length];
  if (!ours.isRefused && more?.body !== undefined && more.version !== '0.9') return 'the number of requests';
  return undefined;
}

function toSorted(headers: Understood['headers']): unknown[] {
  return Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1));
}

function isAlike(one: Reading, other: Reading): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What is the same when nobody reads the bodies. */
function toHeads({ requests }: Reading): string {
  return JSON.stringify(requests.map(({ method, target, headers }) => [method, target, headers]));
}

let server: NodeServer;
beforeEach(() => {
  server = createNodeServer();
});
afterEach(() => {
  server.closeAllConnections();
});

describe('a reader of requests', () => {
  it.each([1, 2, 3, 4])(
    "accepts nothing that Node's own does not, and understands it alike, however it is cut (seed %i)",
    { timeout: 60_000 },
    async (seed) => {
      const next = createConnections(seed);
      let whole = 0;
      let refused = 0;
      for (let round = 0; round < 1_000; round++) {
        const { bytes, lengths } = next();
        const ours = await readByUs(bytes, [bytes.length], 'at once');
        const later = await readByUs(bytes, round % 4 === 0 ? lengths() : [bytes.length], 'later');
        const cut = await readByUs(bytes, lengths(), 'at once');
        const node = await readByNode(server, bytes);
        whole += ours.requests.filter(({ body }) => body !== undefined).length;
        if (ours.isRefused) refused += 1;
        const why =
          difference(ours, node) ??
          (isAlike(ours, later) ? undefined : 'answered later') ??
          (isAlike(ours, cut) ? undefined : 'cut');
        if (why !== undefined)
          expect.fail(
            `${why}: ${JSON.stringify({ sent: bytes.toString('latin1'), ours, node, later, cut }, null, 1)}`,
          );
      }
      // Neither side of the comparison may be empty.
      expect(Math.min(whole, refused)).toBeGreaterThan(200);
    },
  );

  it('finds the next request behind a body that nobody has read', { timeout: 60_000 }, async () => {
    const next = createConnections(5);
    let several = 0;
    for (let round = 0; round < 1_000; round++) {
      const { bytes, lengths } = next();
      const read = await readByUs(bytes, [bytes.length], 'at once');
      // Who was not told to send its body closes.
      if (read.requests.some(({ headers }) => headers['expect'] !== undefined)) continue;
      const unread = await readByUs(bytes, lengths(), 'unread');
      if (read.requests.length > 1) several += 1;
      if (toHeads(read) !== toHeads(unread))
        expect.fail(JSON.stringify({ sent: bytes.toString('latin1'), read, unread }, null, 1));
    }
    expect(several).toBeGreaterThan(100);
  });
});
