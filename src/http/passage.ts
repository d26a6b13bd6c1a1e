/**
 * One request on its way through its route, once it is known who asks for what: reads the body, calls the handler,
 * sends what it answers. A small state machine instead of a chain of async functions: where a body has come and an answer
 * is ready there is nothing to wait for. The shell as a whole took 6 % more CPU of a short request with its nine promises.
 */
import type { Platform } from '../platform/index.ts';
import { type BodyTaker, readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import { answerOnce, idempotencyKeyOf } from './idempotent.ts';
import type { ParsedBody, Route } from './route.ts';

export class Passage implements BodyTaker {
  readonly #exchange: Exchange;
  readonly #route: Route;
  readonly #platform: Platform;
  #leaveRoom: (() => void) | undefined;

  /** `leaveRoom` gives back the room that was kept for a large body. */
  constructor(
    exchange: Exchange,
    route: Route,
    platform: Platform,
    leaveRoom: (() => void) | undefined = undefined,
  ) {
    this.#exchange = exchange;
    this.#route = route;
    this.#platform = platform;
    this.#leaveRoom = leaveRoom;
  }

  /** Tells every failure itself, as all of its steps do. */
  start(): void {
    const { before } = this.#route;
    if (!takesBody(this.#route)) this.#handle();
    else if (before === undefined) this.#read();
    else this.#readAfter(before);
  }

  async #readAfter(before: NonNullable<Route['before']>): Promise<void> {
    try {
      await before(this.#exchange, this.#platform);
    } catch (thrown) {
      this.fail(thrown);
      return;
    }
    this.#read();
  }

  #read(): void {
    try {
      readBody(this.#exchange.request, this.#route, this.#platform, this);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  take({ body, uploads, stored }: ParsedBody): void {
    this.#exchange.body = body;
    this.#exchange.uploads = uploads;
    this.#exchange.stored = stored;
    this.#handle();
  }

  #handle(): void {
    const exchange = this.#exchange;
    const route = this.#route;
    const platform = this.#platform;
    try {
      const key = route.idempotent ? idempotencyKeyOf(exchange.headers) : undefined;
      if (key !== undefined) {
        this.#await(answerOnce(exchange, { route, platform, key }));
        return;
      }
      const result = route.handle(exchange, platform);
      if (result instanceof Promise)
        result.then(
          (value) => this.#answer(value),
          (thrown) => this.fail(thrown),
        );
      else this.#answer(result);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  #answer(result: unknown): void {
    try {
      const sending = this.#exchange.answer(result);
      if (sending === undefined) this.#giveBack();
      else this.#await(sending);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  #await(answering: Promise<void>): void {
    answering.then(
      () => this.#giveBack(),
      (thrown) => this.fail(thrown),
    );
  }

  fail(thrown: unknown): void {
    this.#giveBack(() => this.#exchange.fail(thrown));
  }

  /** What was taken for the request; only then a failure is told. */
  #giveBack(then?: () => void): void {
    const { uploads } = this.#exchange;
    if (uploads.length === 0) this.#end(then);
    else void Promise.allSettled(uploads.map(({ content }) => content.close())).then(() => this.#end(then));
  }

  #end(then?: () => void): void {
    this.#leaveRoom?.();
    this.#leaveRoom = undefined;
    then?.();
  }
}

export function takesBody({ body, multipart }: Route): boolean {
  return body !== undefined || multipart !== undefined;
}
