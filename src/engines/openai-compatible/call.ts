/**
 * One call of an engine under way: a handler that undici calls straight from the socket read, without a
 * promise or a timer of its own. `request` and `stream` cost 20 to 25 % more and hold 100 MB more.
 *
 *   waiting ── status 200 ── answering ── end of the answer ── draining ── closed
 *      │  └─ other status ── refused ────────────────────────────┐            │
 *      └─ abort, deadline, lost connection ────────── settled, connection destroyed
 */
import type { Dispatcher } from 'undici';
import { GatewayError } from '../../lib/errors.ts';
import type { Deadline, Wheel } from '../../lib/wheel.ts';
import type { ChatResult, ChatRun, ChatSink } from '../contract/chat.ts';
import { failures, toRefusal } from './failures.ts';
import { ChatEventReader } from './sse.ts';
import { readWhole } from './whole.ts';
import type { Asked } from './wire.ts';

export interface CallParts {
  readonly pool: Dispatcher;
  readonly wheel: Wheel;
  readonly options: Dispatcher.DispatchOptions;
  /** Until the first token, or the whole answer's head. */
  readonly timeoutMs: number;
  /** Between two signs of life after that. */
  readonly idleTimeoutMs: number;
  /** More of an answer than this is not read. */
  readonly maxBytes?: number | undefined;
}

/** A refusal is a sentence, sometimes a page of HTML. */
const longestRefusal = 64 * 1024;
const longestWhole = 64 * 1024 * 1024;
/** What an engine may take to close an answer that was read to its end; then its connection is given up. */
const drainMs = 5_000;

export type IncomingHeaders = Record<string, string | string[] | undefined>;

export abstract class EngineCall implements Dispatcher.DispatchHandler, Deadline, ChatRun {
  dueAt = 0;
  slot = -1;
  protected readonly parts: CallParts;
  /** The caller has heard the end, or wants to hear nothing. */
  protected isSettled = false;
  protected hasStarted = false;
  #controller: Dispatcher.DispatchController | undefined;
  #isStarting = false;
  #isPaused = false;
  #status = 0;
  #retryAfter: string | undefined;
  #refusal: Buffer[] = [];
  #refusalLength = 0;

  constructor(parts: CallParts) {
    this.parts = parts;
  }

  start(): this {
    const { wheel, pool, options, timeoutMs } = this.parts;
    wheel.add(this, timeoutMs);
    this.#isStarting = true;
    pool.dispatch(options, this);
    this.#isStarting = false;
    return this;
  }

  protected abstract take(chunk: Buffer): void;
  protected abstract finish(): void;
  protected abstract fail(error: GatewayError): void;
  /** The connection broke after the answer had begun. */
  protected abstract lose(error: GatewayError): void;

  abort(): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.#disconnect('the call was aborted');
  }

  pause(): void {
    this.#isPaused = true;
    // An engine that is held back cannot be late.
    this.dueAt = Number.POSITIVE_INFINITY;
    this.#controller?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.dueAt = this.parts.wheel.after(this.parts.idleTimeoutMs);
    this.#controller?.resume();
  }

  expire(): void {
    const isLate = !this.hasStarted;
    if (!this.isSettled) this.settleWith(isLate ? failures.late() : failures.silent());
    else this.#disconnect('the answer was not closed');
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isSettled) controller.abort(new Error('the call was aborted'));
    else if (this.#isPaused) controller.pause();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHeaders): void {
    this.#status = status;
    if (this.#isAnswer) return;
    const { 'retry-after': retryAfter } = headers;
    this.#retryAfter = typeof retryAfter === 'string' ? retryAfter : undefined;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isSettled) return;
    if (this.#isAnswer) {
      this.take(chunk);
      return;
    }
    this.#refusal.push(chunk);
    this.#refusalLength += chunk.length;
    if (this.#refusalLength > longestRefusal) this.settleWith(this.#toRefusal());
  }

  onResponseEnd(): void {
    this.parts.wheel.remove(this);
    if (this.isSettled) return;
    if (this.#isAnswer) this.finish();
    else this.settleWith(this.#toRefusal());
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    // A pool that is closed says so at once, to a caller who has no handle yet.
    if (this.#isStarting) {
      process.nextTick(() => this.onResponseError(controller, error));
      return;
    }
    this.parts.wheel.remove(this);
    if (this.isSettled) return;
    if (this.#status === 0) this.settleWith(failures.unreachable(error));
    else if (this.#isAnswer) this.lose(failures.lost(error));
    else this.settleWith(this.#toRefusal());
  }

  /** Creating a job is answered with 202 here and there. */
  get #isAnswer(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  /** The call failed: the engine need not go on with it. */
  protected settleWith(error: GatewayError): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.#disconnect(error.message);
    this.fail(error);
  }

  /** The answer is read to its end; the connection is used again once the engine has closed it. */
  protected settleWell(): void {
    this.isSettled = true;
    this.dueAt = this.parts.wheel.after(drainMs);
    this.#controller?.resume();
  }

  #disconnect(why: string): void {
    this.parts.wheel.remove(this);
    // Not yet connected: `onRequestStart` will see that it is settled.
    this.#controller?.abort(new Error(why));
  }

  #toRefusal(): GatewayError {
    const text = Buffer.concat(this.#refusal).toString('utf8');
    return toRefusal(this.#status, text, this.#retryAfter);
  }
}

export class StreamCall extends EngineCall {
  readonly #sink: ChatSink;
  readonly #reader: ChatEventReader;
  #isFlushing = false;

  constructor(parts: CallParts, sink: ChatSink, asked: Asked) {
    super(parts);
    this.#sink = sink;
    this.#reader = new ChatEventReader(sink, asked);
  }

  override abort(): void {
    if (this.#reader.isOver) return;
    this.#reader.close();
    super.abort();
  }

  /** The last bytes may find a slow reader too, but then there is nothing left to hold back. */
  override pause(): void {
    if (!this.#reader.isOver) super.pause();
  }

  /** For `process.nextTick`: a function per read would cost more. */
  static flush(call: StreamCall): void {
    call.#isFlushing = false;
    if (!call.#reader.isOver) call.#sink.flush();
  }

  protected override take(chunk: Buffer): void {
    const reader = this.#reader;
    const { events } = reader;
    reader.push(chunk);
    if (reader.isOver) {
      this.#end();
      return;
    }
    if (!this.hasStarted) this.hasStarted = reader.hasStarted;
    // Comments are no sign of life: a proxy sends them for a dead engine too.
    if (this.hasStarted && reader.events !== events && this.dueAt !== Number.POSITIVE_INFINITY) {
      this.dueAt = this.parts.wheel.after(this.parts.idleTimeoutMs);
    }
    // undici hands over every HTTP chunk of a read by itself; one write each would cost four times the CPU.
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    process.nextTick(StreamCall.flush, this);
  }

  protected override finish(): void {
    this.#reader.end();
    this.isSettled = true;
  }

  protected override lose(error: GatewayError): void {
    this.#reader.end(error);
    this.isSettled = true;
  }

  protected override fail(error: GatewayError): void {
    this.#reader.fail(error);
  }

  /** The reader has told the sink how it ended; after a failure the engine is stopped. */
  #end(): void {
    if (this.isSettled) return;
    if (this.#reader.isWell) this.settleWell();
    else super.abort();
  }
}

/** An answer that is read when all of it is there. */
abstract class BodyCall<T> extends EngineCall {
  readonly #done: (error: GatewayError | undefined, result?: T) => void;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(parts: CallParts, done: (error: GatewayError | undefined, result?: T) => void) {
    super(parts);
    this.#done = done;
  }

  /** Throws when the body is not what was asked for. */
  protected abstract read(body: Buffer): T;

  protected override take(chunk: Buffer): void {
    this.hasStarted = true;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > (this.parts.maxBytes ?? longestWhole)) this.settleWith(failures.tooLong());
    else if (this.dueAt !== Number.POSITIVE_INFINITY)
      this.dueAt = this.parts.wheel.after(this.parts.idleTimeoutMs);
  }

  protected override finish(): void {
    this.isSettled = true;
    const [only] = this.#chunks;
    const body = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks);
    let result: T;
    try {
      result = this.read(body);
    } catch (error) {
      this.#done(error instanceof GatewayError ? error : failures.unreadable(error));
      return;
    }
    this.#done(undefined, result);
  }

  protected override lose(error: GatewayError): void {
    this.settleWith(error);
  }

  protected override fail(error: GatewayError): void {
    this.#done(error);
  }
}

export class WholeCall extends BodyCall<ChatResult> {
  readonly #asked: Asked;

  constructor(
    parts: CallParts,
    done: (error: GatewayError | undefined, result?: ChatResult) => void,
    asked: Asked,
  ) {
    super(parts, done);
    this.#asked = asked;
  }

  protected override read(body: Buffer): ChatResult {
    return readWhole(body, this.#asked);
  }
}

/** Any other question that is answered once. */
export class AnswerCall<T> extends BodyCall<T> {
  readonly #reader: (body: Buffer, headers: IncomingHeaders) => T;
  #headers: IncomingHeaders = {};

  constructor(
    parts: CallParts,
    done: (error: GatewayError | undefined, result?: T) => void,
    reader: (body: Buffer, headers: IncomingHeaders) => T,
  ) {
    super(parts, done);
    this.#reader = reader;
  }

  override onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHeaders,
  ): void {
    this.#headers = headers;
    super.onResponseStart(controller, status, headers);
  }

  protected override read(body: Buffer): T {
    return this.#reader(body, this.#headers);
  }
}
