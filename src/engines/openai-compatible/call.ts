/**
 * One call of an engine under way, told of its answer straight from the socket read, without a promise or a timer of
 * its own.
 *
 *   waiting ── status 200 ── answering ── end of the answer ── draining ── closed
 *      │  └─ other status ── refused ────────────────────────────┐            │
 *      └─ abort, deadline, lost connection ────────── settled, connection destroyed
 */
import { GatewayError } from '../../lib/errors.ts';
import type { AnswerHandler, Connection } from '../../lib/http1/client/connection.ts';
import type { ConnectionPool, Request } from '../../lib/http1/client/pool.ts';
import type { ResponseHead } from '../../lib/http1/client/response-head.ts';
import type { Deadline, Wheel } from '../../lib/wheel.ts';
import type { ChatResult, ChatRun, ChatSink } from '../contract/chat.ts';
import { failures, toRefusal } from './failures.ts';
import type { PlainAnswers } from './plain-answers.ts';
import { ChatEventReader } from './sse.ts';
import { readWhole } from './whole.ts';
import type { Asked } from './wire.ts';

export interface CallParts {
  readonly pool: ConnectionPool;
  readonly wheel: Wheel;
  readonly request: Request;
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
const nothing = Buffer.alloc(0);

export abstract class EngineCall implements AnswerHandler, Deadline, ChatRun {
  dueAt = 0;
  slot = -1;
  protected readonly parts: CallParts;
  /** The caller has heard the end, or wants to hear nothing. */
  protected isSettled = false;
  protected hasStarted = false;
  #connection: Connection | undefined;
  #isPaused = false;
  #status = 0;
  #retryAfter: string | undefined;
  #refusal: Buffer[] = [];
  #refusalLength = 0;

  constructor(parts: CallParts) {
    this.parts = parts;
  }

  start(): this {
    const { wheel, pool, request, timeoutMs } = this.parts;
    wheel.add(this, timeoutMs);
    this.#connection = pool.send(request, this);
    return this;
  }

  /** The bytes from `start` to `end` are there until this returns. */
  protected abstract take(buffer: Buffer, start: number, end: number): void;
  protected abstract finish(): void;
  protected abstract fail(error: GatewayError): void;
  /** The connection broke after the answer had begun. */
  protected abstract lose(error: GatewayError): void;

  abort(): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.#disconnect();
  }

  pause(): void {
    this.#isPaused = true;
    // An engine that is held back cannot be late.
    this.dueAt = Number.POSITIVE_INFINITY;
    this.#connection?.pause(this);
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.dueAt = this.parts.wheel.after(this.parts.idleTimeoutMs);
    this.#connection?.resume(this);
  }

  expire(): void {
    const isLate = !this.hasStarted;
    if (!this.isSettled) this.settleWith(isLate ? failures.late() : failures.silent());
    // The answer was read to its end, but never closed.
    else this.#disconnect();
  }

  onHead(head: ResponseHead): void {
    this.#status = head.status;
    if (!this.#isAnswer) this.#retryAfter = head.get('retry-after');
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    if (this.isSettled) return;
    if (this.#isAnswer) {
      this.take(buffer, start, end);
      return;
    }
    this.#refusal.push(copied(buffer, start, end));
    this.#refusalLength += end - start;
    if (this.#refusalLength > longestRefusal) this.settleWith(this.#toRefusal());
  }

  onEnd(): void {
    this.parts.wheel.remove(this);
    if (this.isSettled) return;
    if (this.#isAnswer) this.finish();
    else this.settleWith(this.#toRefusal());
  }

  onError(error: Error): void {
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
    this.#disconnect();
    this.fail(error);
  }

  /** The answer is read to its end; the connection is used again once the engine has closed it. */
  protected settleWell(): void {
    this.isSettled = true;
    this.dueAt = this.parts.wheel.after(drainMs);
    this.#connection?.resume(this);
  }

  #disconnect(): void {
    this.parts.wheel.remove(this);
    this.#connection?.abort(this);
  }

  #toRefusal(): GatewayError {
    const text = Buffer.concat(this.#refusal).toString('utf8');
    return toRefusal(this.#status, text, this.#retryAfter);
  }
}

export class StreamCall extends EngineCall {
  readonly #sink: ChatSink;
  readonly #reader: ChatEventReader;

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

  protected override take(buffer: Buffer, start: number, end: number): void {
    const reader = this.#reader;
    const { events } = reader;
    reader.push(buffer, start, end);
    if (reader.isOver) {
      this.#end();
      return;
    }
    if (!this.hasStarted) this.hasStarted = reader.hasStarted;
    // Comments are no sign of life: a proxy sends them for a dead engine too.
    if (this.hasStarted && reader.events !== events && this.dueAt !== Number.POSITIVE_INFINITY) {
      this.dueAt = this.parts.wheel.after(this.parts.idleTimeoutMs);
    }
    // Once for all that a read has brought: one write for each chunk would cost four times the CPU.
    this.#sink.flush();
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
  /** Of the announced length, or grows by doubling: a list of reads would be dear where an engine trickles. */
  #body: Buffer = nothing;
  #length = 0;
  #announced = 0;

  constructor(parts: CallParts, done: (error: GatewayError | undefined, result?: T) => void) {
    super(parts);
    this.#done = done;
  }

  /** Throws when the body is not what was asked for. */
  protected abstract read(body: Buffer): T;

  override onHead(head: ResponseHead): void {
    super.onHead(head);
    if (head.length <= (this.parts.maxBytes ?? longestWhole)) this.#announced = head.length;
  }

  protected override take(buffer: Buffer, start: number, end: number): void {
    this.hasStarted = true;
    this.#add(buffer, start, end);
    if (this.#length > (this.parts.maxBytes ?? longestWhole)) this.settleWith(failures.tooLong());
    else if (this.dueAt !== Number.POSITIVE_INFINITY)
      this.dueAt = this.parts.wheel.after(this.parts.idleTimeoutMs);
  }

  protected override finish(): void {
    this.isSettled = true;
    let result: T;
    try {
      result = this.read(this.#body.subarray(0, this.#length));
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

  #add(buffer: Buffer, start: number, end: number): void {
    const length = this.#length + end - start;
    // Most answers come by one read.
    if (this.#length === 0 && length >= this.#announced) this.#body = copied(buffer, start, end);
    else {
      if (length > this.#body.length) this.#grow(Math.max(length, this.#announced, 2 * this.#body.length));
      buffer.copy(this.#body, this.#length, start, end);
    }
    this.#length = length;
  }

  #grow(capacity: number): void {
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.#body.copy(larger, 0, 0, this.#length);
    this.#body = larger;
  }
}

export class WholeCall extends BodyCall<ChatResult> {
  readonly #asked: Asked;
  readonly #known: PlainAnswers;

  constructor(
    parts: CallParts,
    done: (error: GatewayError | undefined, result?: ChatResult) => void,
    asked: Asked,
    known: PlainAnswers,
  ) {
    super(parts, done);
    this.#asked = asked;
    this.#known = known;
  }

  protected override read(body: Buffer): ChatResult {
    return readWhole(body, this.#asked, this.#known);
  }
}

/** Any other question that is answered once. */
export class AnswerCall<T> extends BodyCall<T> {
  readonly #reader: (body: Buffer, head: ResponseHead) => T;
  #head: ResponseHead | undefined;

  constructor(
    parts: CallParts,
    done: (error: GatewayError | undefined, result?: T) => void,
    reader: (body: Buffer, head: ResponseHead) => T,
  ) {
    super(parts, done);
    this.#reader = reader;
  }

  override onHead(head: ResponseHead): void {
    this.#head = head;
    super.onHead(head);
  }

  protected override read(body: Buffer): T {
    return this.#reader(body, this.#head!);
  }
}

/** What a read has brought is gone with the next one. */
export function copied(buffer: Buffer, start: number, end: number): Buffer {
  return Buffer.copyBytesFrom(buffer, start, end - start);
}
