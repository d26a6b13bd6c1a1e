/** The stream side of an answer on the hot path: a late head, back-pressure, and a sign of life in silence, without a promise per write. */
import type { GatewayError } from '../lib/errors.ts';
import type { ServerAnswer } from '../lib/http1/server/answer.ts';
import type { StreamOut } from './reply.ts';

/** Bytes that wait for a slow reader before the producer is paused. */
const highWaterBytes = 64 * 1024;
const keepAliveMs = 15_000;

export class AnswerOut implements StreamOut {
  readonly #answer: ServerAnswer;
  readonly #begin: () => void;
  readonly #keepAlive: string;
  /** What the stream ended with, where it did not end well. */
  failure: GatewayError | undefined;
  #flow: { pause(): void; resume(): void } | undefined;
  #isPaused = false;
  #isEnded = false;
  #lastWriteAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `begin` gives the answer its head. */
  constructor(answer: ServerAnswer, begin: () => void, keepAlive: string) {
    this.#answer = answer;
    this.#begin = begin;
    this.#keepAlive = keepAlive;
  }

  get isStarted(): boolean {
    return this.#answer.isBegun;
  }

  onPressure(flow: { pause(): void; resume(): void }): void {
    this.#flow = flow;
  }

  write(bytes: string): void {
    if (this.#isEnded || bytes === '') return;
    this.#start();
    const hasRoom = this.#answer.write(bytes);
    this.#lastWriteAt = Date.now();
    if (!hasRoom) this.#press();
  }

  end(bytes: string, failure?: GatewayError): void {
    if (this.#isEnded) return;
    this.failure = failure;
    this.#start();
    this.stop();
    this.#answer.end(bytes);
  }

  /** Nothing is written any more: the stream has ended, or its reader is gone. */
  stop(): void {
    this.#isEnded = true;
    clearInterval(this.#timer);
  }

  #start(): void {
    if (this.#answer.isBegun) return;
    this.#begin();
    this.#timer = setInterval(this.#beat, keepAliveMs).unref();
  }

  readonly #beat = (): void => {
    if (Date.now() - this.#lastWriteAt >= keepAliveMs) this.write(this.#keepAlive);
  };

  #press(): void {
    const answer = this.#answer;
    if (this.#isPaused || answer.waitingBytes <= highWaterBytes) return;
    this.#isPaused = true;
    this.#flow?.pause();
    answer.onRoom(() => {
      this.#isPaused = false;
      this.#flow?.resume();
    });
  }
}
