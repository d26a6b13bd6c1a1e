/** Listens: on the network, and on the control socket. Answers what is not even HTTP, and ends in order. */
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { GatewayError } from '../lib/errors.ts';
import { createRequestIds } from '../lib/ids.ts';
import type { App, Origin } from './app.ts';
import { errorTable, toEnvelope } from './errors.ts';

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
  const server = createServer(
    { maxHeaderSize: maxHeaderBytes, noDelay: true, keepAliveTimeout: 65_000 },
    (request, response) => app.handle(request, response, origin),
  );
  const nextId = createRequestIds();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuse(error, socket, nextId()));
  // A request without Expect support is still a request: answer it instead of Node's bare 417.
  server.on('checkExpectation', (request, response) => app.handle(request, response, origin));
  if ('socketPath' in place) rmSync(place.socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if ('socketPath' in place) listenForOwner(server, place.socketPath, resolve);
    else server.listen(place.port, place.host, 1024, resolve);
  });
  return {
    address: 'socketPath' in place ? place.socketPath : toAddress(server),
    close: (drainMs) => close(server, drainMs),
  };
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

function close(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** What the parser refuses never becomes a request, but gets the same envelope and a request id. */
function refuse(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body } = toEnvelope(parserError(error), 'router', requestId);
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${status === errorTable.headers_too_large.status ? 'Request Header Fields Too Large' : 'Bad Request'}\r\n` +
      `content-type: application/json; charset=utf-8\r\nx-request-id: ${requestId}\r\nrequest-id: ${requestId}\r\n` +
      `access-control-allow-origin: *\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
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
