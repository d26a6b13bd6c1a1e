/**
 * An HTTP/1.1 server: it takes connections, hands requests over, and ends in order.
 *
 * Our own, because a stream object for the request and one for its answer, with their events, cost 15 µs of CPU per
 * request more than this does (docs/decisions/0027).
 */
import { createServer, type Socket } from 'node:net';
import { Wheel } from '../../wheel.ts';
import { HttpDate } from './answer-head.ts';
import { type ConnectionParts, ServerConnection, socketOptions } from './connection.ts';

export type ServerParts = Pick<ConnectionParts, 'onRequest' | 'toRefusal' | 'maxHeadBytes' | 'times'>;

export class HttpServer {
  readonly #connections = new Set<ServerConnection>();
  readonly #wheel = new Wheel();
  readonly #parts: ConnectionParts;
  #isDraining = false;
  /** To be listened with, and asked for its address. */
  readonly net = createServer(socketOptions, (socket) => this.#take(socket));

  constructor(parts: ServerParts) {
    const onGone = (connection: ServerConnection) => void this.#connections.delete(connection);
    this.#parts = { ...parts, wheel: this.#wheel, date: new HttpDate(), onGone };
  }

  /** Takes no new connection, waits for answers under way up to `drainMs`, then cuts what is left. */
  close(drainMs: number): Promise<void> {
    this.#isDraining = true;
    for (const connection of this.#connections) connection.drain();
    return new Promise((resolve) => {
      const cut = setTimeout(() => {
        for (const connection of this.#connections) connection.destroy();
      }, drainMs);
      this.net.close(() => {
        clearTimeout(cut);
        this.#wheel.close();
        resolve();
      });
    });
  }

  #take(socket: Socket): void {
    const connection = new ServerConnection(socket, this.#parts);
    this.#connections.add(connection);
    if (this.#isDraining) connection.drain();
  }
}
