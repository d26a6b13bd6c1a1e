/** Listens: on the network, and on the control socket. Answers what is not even HTTP, and ends in order. */
import { rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '../lib/errors.ts';
import { toAnswerHead } from '../lib/http1/server/answer-head.ts';
import type { Refusal } from '../lib/http1/server/connection.ts';
import { HttpServer } from '../lib/http1/server/server.ts';
import { createRequestIds } from '../lib/ids.ts';
import type { App, Origin } from './app.ts';
import { toEnvelope } from './errors.ts';
import { jsonField, toCommonFields } from './fields.ts';

export interface Listener {
  /** `http://127.0.0.1:8080`, or the socket's path. */
  readonly address: string;
  /** Takes no new connection, waits for running answers up to `drainMs`, then cuts what is left. */
  close(drainMs: number): Promise<void>;
}

export type Place = { host: string; port: number } | { socketPath: string };

/** Over what every real client sends, keys and tracing included. */
const maxHeadBytes = 16 * 1024;
const times = { headMs: 60_000, bodyMs: 300_000, idleMs: 65_000, lingerMs: 2_000, stuckReaderMs: 30_000 };

export async function listen(app: App, place: Place): Promise<Listener> {
  const origin: Origin = 'socketPath' in place ? 'local' : 'network';
  const nextId = createRequestIds();
  const server = new HttpServer({
    maxHeadBytes,
    times,
    onRequest: (request, answer) => app.handle(request, answer, origin),
    toRefusal: (why, cause) => refuse(toError(why, cause), nextId()),
  });
  if ('socketPath' in place) rmSync(place.socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.net.once('error', reject);
    if ('socketPath' in place) listenForOwner(server, place.socketPath, resolve);
    else server.net.listen(place.port, place.host, 1024, resolve);
  });
  return {
    address: 'socketPath' in place ? place.socketPath : toAddress(server),
    close: (drainMs) => server.close(drainMs),
  };
}

/** The mode is set by the umask while the socket is made: a `chmod` afterwards would leave a moment for others. */
function listenForOwner(server: HttpServer, socketPath: string, onListening: () => void): void {
  const usual = process.umask(0o177);
  try {
    server.net.listen(socketPath, onListening);
  } finally {
    process.umask(usual);
  }
}

function toAddress({ net }: HttpServer): string {
  const { address, port, family } = net.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** What never becomes a request gets the same envelope and a request id. */
function refuse(error: GatewayError, requestId: string): string {
  const { status, body } = toEnvelope(error, 'router', requestId);
  const text = JSON.stringify(body);
  const fields = `${toCommonFields(requestId)}${jsonField}content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n`;
  return `${toAnswerHead(status, fields, new Date().toUTCString())}\r\n${text}`;
}

function toError(why: Refusal, cause: unknown): GatewayError {
  switch (why) {
    case 'head-too-long':
      return new GatewayError(
        'headers_too_large',
        `The headers are larger than the limit of ${maxHeadBytes / 1024} KiB`,
      );
    case 'late':
      return new GatewayError('request_timeout', 'The request did not arrive in time');
    case 'tunnel':
      return new GatewayError('method_not_allowed', 'CONNECT is not allowed: this is no proxy');
    case 'malformed':
      return new GatewayError('invalid_request', 'The request is not valid HTTP', { cause });
  }
}
