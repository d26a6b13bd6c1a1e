/** Listens: on the network, and on the control socket. Answers what is not even HTTP, and ends in order. */
import { rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { GatewayError } from '../lib/errors.ts';
import { createRequestIds } from '../lib/ids.ts';
import type { App, Origin } from './app.ts';
import { toEnvelope } from './errors.ts';
import type { AnsweredConnection } from './exchange.ts';

export interface Listener {
  /** `http://127.0.0.1:8080`, or the socket's path. */
  readonly address: string;
  /** Takes no new connection, waits for running answers up to `drainMs`, then cuts what is left. */
  close(drainMs: number): Promise<void>;
}

export type Place = { host: string; port: number } | { socketPath: string };

/** Over what every real client sends, keys and tracing included; Node's own default. */
const maxHeaderBytes = 16 * 1024;

export async function listen(app: App, place: Place): Promise<Listener> {
  const origin: Origin = 'socketPath' in place ? 'local' : 'network';
  const connections = new Map<Socket, Connection>();
  const nextId = createRequestIds();
  let isDraining = false;

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const connection = connections.get(request.socket);
    if (connection !== undefined) connection.running += 1;
    // Said to the client, so that it opens its next connection elsewhere.
    if (isDraining) response.shouldKeepAlive = false;
    app.handle(request, response, origin, connection);
  }

  function toConnection(socket: Socket): Connection {
    return {
      running: 0,
      answered() {
        this.running -= 1;
        if (isDraining && this.running === 0) socket.destroySoon();
      },
    };
  }

  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    noDelay: true,
    keepAliveTimeout: 65_000,
    // Node would answer without an envelope; the app refuses it with one.
    requireHostHeader: false,
  });
  server.on('connection', (socket) => {
    connections.set(socket, toConnection(socket));
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', handle);
  // The body is invited once the key and the size are known to be right.
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  server.on('connect', (_request, socket: Socket) => refuse(tunnelError(), socket, nextId()));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Whatever is written now would be taken for the answer that is still under way.
    const isAnswering = (connections.get(socket)?.running ?? 0) > 0;
    if (isAnswering || error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuse(parserError(error), socket, nextId());
  });
  if ('socketPath' in place) rmSync(place.socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if ('socketPath' in place) listenForOwner(server, place.socketPath, resolve);
    else server.listen(place.port, place.host, 1024, resolve);
  });
  return {
    address: 'socketPath' in place ? place.socketPath : toAddress(server),
    close(drainMs) {
      isDraining = true;
      for (const [socket, { running }] of connections) if (running === 0) socket.destroySoon();
      return new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), drainMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
      });
    },
  };
}

interface Connection extends AnsweredConnection {
  /** Answers under way. */
  running: number;
}

/** The mode is set by the umask while the socket is made: a `chmod` afterwards would leave a moment for others. */
function listenForOwner(server: Server, socketPath: string, onListening: () => void): void {
  const usual = process.umask(0o177);
  try {
    server.listen(socketPath, onListening);
  } finally {
    process.umask(usual);
  }
}

function toAddress(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** What the parser refuses never becomes a request, but gets the same envelope and a request id. */
function refuse(error: GatewayError, socket: Socket, requestId: string): void {
  const { status, body } = toEnvelope(error, 'router', requestId);
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      `content-type: application/json; charset=utf-8\r\nx-request-id: ${requestId}\r\nrequest-id: ${requestId}\r\n` +
      `access-control-allow-origin: *\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
}

function tunnelError(): GatewayError {
  return new GatewayError('method_not_allowed', 'CONNECT is not allowed: this is no proxy');
}

function parserError(error: NodeJS.ErrnoException): GatewayError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError(
        'headers_too_large',
        `The headers are larger than the limit of ${maxHeaderBytes / 1024} KiB`,
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError('request_timeout', 'The request did not arrive in time');
    default:
      return new GatewayError('invalid_request', 'The request is not valid HTTP', { cause: error });
  }
}
