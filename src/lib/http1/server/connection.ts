/**
 * One connection of a client: a request and its answer at a time. What follows a request waits until it is answered.
 *
 *   idle ──(a byte)──▶ head ──(the empty line)──▶ asked ──(body read, answer out)──▶ idle
 *    │                  │                           │
 *    │                  └──(no HTTP, or late)──▶ refused ──(client done, or a moment)──▶ gone
 *    └──(too long, or the server ends)──────────────┴──(left, or not to be kept)────────▶ gone
 *
 * A body that is late or no HTTP, and too much behind a request, make it deaf: what is under way gets its answer, which
 * is the last one.
 */
import type { Socket } from 'node:net';
import type { Deadline, Wheel } from '../../wheel.ts';
import { MessageError } from '../message.ts';
import { HeadTooLongError, MessageReader, type MessageSink } from '../message-reader.ts';
import { type AnswerPlace, ServerAnswer } from './answer.ts';
import type { HttpDate } from './answer-head.ts';
import { type BodySource, type Break, ServerRequest } from './request.ts';
import { checkPart, RequestHead } from './request-head.ts';
import type { Times } from './times.ts';

/** Why something never became a request. */
export type Refusal = 'malformed' | 'head-too-long' | 'late' | 'tunnel';

/** The server says when its side is closed, so that what is on the way goes out. */
export const socketOptions = { noDelay: true, allowHalfOpen: true };

export interface ConnectionParts {
  readonly wheel: Wheel;
  readonly date: HttpDate;
  readonly times: Times;
  readonly maxHeadBytes: number;
  /** Answers it, now or later. */
  onRequest(request: ServerRequest, answer: ServerAnswer): void;
  /** The whole answer to what never became a request, its head included. */
  toRefusal(why: Refusal, cause: unknown): string;
  onGone(connection: ServerConnection): void;
}

/** What may wait for its turn, or of a body that nobody reads yet, before nothing more is read from the socket. */
const maxHeldBytes = 16 * 1024;
/** What may wait behind a request. A client who sends more is not answered beyond it: unread, it could leave unseen. */
const maxPipelinedBytes = 128 * 1024;
/** Heads and bodies that are read in one turn of the loop: a read can hold thousands, and others wait as well. */
const maxSteps = 32;
const carriageReturn = 13;
const lineFeed = 10;

export class ServerConnection implements Deadline, MessageSink, BodySource, AnswerPlace {
  dueAt = 0;
  slot = -1;
  readonly socket: Socket;
  readonly #parts: ConnectionParts;
  readonly #reader: MessageReader;
  /** What is under way; both, until both are over. */
  #request: ServerRequest | undefined;
  #answer: ServerAnswer | undefined;
  /** Came behind what is under way. */
  #held: Buffer | undefined;
  #isFeeding = false;
  /** Since the last read, or the last turn that was left to others. */
  #steps = 0;
  /** Nothing is read from the socket. */
  #isPaused = false;
  /** Nothing of the next request has come. */
  #isIdle = false;
  #isKept = true;
  /** The client waits to be told that it may send its body. */
  #isBodyOwed = false;
  /** Nothing that comes is looked at any more. */
  #isDeaf = false;
  /** More came behind a request than may wait. */
  #isFlooded = false;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.socket = socket;
    this.#parts = parts;
    this.#reader = new MessageReader(this, parts.maxHeadBytes);
    this.#reader.expect();
    parts.wheel.add(this, parts.times.headMs);
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('drain', () => this.#answer?.drained());
    socket.on('end', () => this.#ended());
    // What there is to do is done when it has closed.
    socket.on('error', () => {});
    socket.on('close', () => this.#closed());
  }

  get date(): HttpDate {
    return this.#parts.date;
  }

  get wheel(): Wheel {
    return this.#parts.wheel;
  }

  get times(): Times {
    return this.#parts.times;
  }

  get isKept(): boolean {
    // A client who was not told to send its body may leave it out, or not: nobody knows what follows.
    return this.#isKept && (!this.#isBodyOwed || this.#request?.isWhole === true);
  }

  /** Ends when nothing is under way: at once, or with the answer. */
  drain(): void {
    this.#isKept = false;
    if (this.#request === undefined || this.#answer?.isOut === true) this.socket.destroySoon();
  }

  destroy(): void {
    this.socket.destroy();
  }

  expire(): void {
    const request = this.#request;
    if (request !== undefined) this.#break(request, 'late');
    else if (this.#isIdle || this.#isDeaf) this.socket.destroy();
    else this.#refuse('late', undefined);
  }

  onHead(text: string): RequestHead {
    const head = new RequestHead(text);
    const { wheel, onRequest } = this.#parts;
    wheel.remove(this);
    if (head.method === 'CONNECT') throw new TunnelError();
    if (!head.isKept) this.#isKept = false;
    this.#isBodyOwed = head.isWaitingToSend;
    const request = new ServerRequest(head, this);
    const isHead = head.method === 'HEAD';
    const answer = new ServerAnswer({ place: this, isHead, isHttp10: head.isHttp10 });
    this.#request = request;
    this.#answer = answer;
    onRequest(request, answer);
    return head;
  }

  onPart(text: string, from: number): void {
    checkPart(text, from);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    const isAll = start === 0 && end === buffer.length;
    this.#request?.take(isAll ? buffer : buffer.subarray(start, end));
  }

  onEnd(): void {
    this.#parts.wheel.remove(this);
    this.#request?.finish();
    this.#adjust();
    this.#settle();
  }

  pauseBody(): void {
    this.#adjust();
  }

  resumeBody(): void {
    this.#goOn();
  }

  inviteBody(): void {
    if (!this.#isBodyOwed || this.#answer?.isBegun === true) return;
    this.#isBodyOwed = false;
    this.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
  }

  answered(): void {
    if (this.#answer?.isLast === true) this.#isKept = false;
    // What nobody has read of the request is read away, or the next one would never be found.
    if (this.#isKept && this.#request?.isFlowing === false) this.#request.discard();
    this.#settle();
  }

  #take(bytes: Buffer): void {
    if (this.#isDeaf) return;
    this.#steps = 0;
    if (this.#held === undefined) this.#feed(bytes);
    else this.#hold(Buffer.concat([this.#held, bytes]));
  }

  #feed(bytes: Buffer): void {
    const end = bytes.length;
    let at = 0;
    this.#isFeeding = true;
    try {
      while (at < end && this.#steps < maxSteps && this.#isReady()) {
        this.#steps++;
        // Some clients end a body with a line end that belongs to nothing (RFC 9112, section 2.2).
        if (this.#reader.isFresh) at = skipLineEnds(bytes, at);
        if (at < end) at = this.#reader.push(bytes, at, end);
      }
    } catch (error) {
      this.#isFeeding = false;
      this.#fail(error);
      return;
    }
    this.#isFeeding = false;
    if (this.#isDeaf || this.socket.destroyed) return;
    if (at < end) {
      this.#hold(at === 0 ? bytes : bytes.subarray(at));
      if (this.#isReady()) setImmediate(() => this.#goOnNextTurn());
    }
    this.#watch();
  }

  /** Whether what comes next can be read now. */
  #isReady(): boolean {
    const request = this.#request;
    if (this.#isDeaf || this.socket.destroyed) return false;
    return request === undefined || (!request.isWhole && request.isFlowing);
  }

  #hold(bytes: Buffer): void {
    if (bytes.length > maxPipelinedBytes && this.#request?.isWhole === true) {
      this.#held = undefined;
      this.#isKept = false;
      this.#isDeaf = true;
      this.#isFlooded = true;
    } else this.#held = bytes;
    this.#adjust();
  }

  /** What was held back is read as far as it can be now. */
  #goOn(): void {
    if (this.socket.destroyed) return;
    const held = this.#held;
    if (held !== undefined && !this.#isFeeding) {
      this.#held = undefined;
      this.#feed(held);
    }
    this.#adjust();
  }

  #goOnNextTurn(): void {
    this.#steps = 0;
    this.#goOn();
  }

  /** Reads from the socket unless enough waits, or the reader of the body has paused. */
  #adjust(): void {
    const request = this.#request;
    const isFull = request?.isWhole !== true && (this.#held?.length ?? 0) > maxHeldBytes;
    const isPaused = isFull || request?.isPaused === true;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }

  /** Sets the time until which what has begun has to be there. */
  #watch(): void {
    const { wheel, times } = this.#parts;
    if (this.#request !== undefined) {
      if (!this.#request.isWhole && this.slot < 0) wheel.add(this, times.bodyMs);
    } else if (this.#isIdle && !this.#reader.isFresh) {
      this.#isIdle = false;
      this.dueAt = wheel.after(times.headMs);
    }
  }

  /** Once the request is read and its answer is out, the next one may come. */
  #settle(): void {
    if (this.#answer?.isOut !== true) return;
    if (!this.#isKept) {
      this.#end();
      return;
    }
    if (this.#request?.isWhole !== true) return;
    this.#request = undefined;
    this.#answer = undefined;
    this.#reader.expect();
    this.#isIdle = true;
    this.#parts.wheel.add(this, this.#parts.times.idleMs);
    this.#goOn();
  }

  #end(): void {
    this.#isDeaf = true;
    this.#request = undefined;
    this.#answer = undefined;
    if (this.#isFlooded) this.#linger('');
    else this.socket.destroySoon();
  }

  #fail(error: unknown): void {
    if (!(error instanceof MessageError)) {
      this.socket.destroy();
      throw error;
    }
    if (this.#request !== undefined) this.#break(this.#request, 'malformed');
    else if (error instanceof TunnelError) this.#refuse('tunnel', error);
    else this.#refuse(error instanceof HeadTooLongError ? 'head-too-long' : 'malformed', error);
  }

  /** The rest of a body will not be read: whoever reads it can still say so, as the last answer. */
  #break(request: ServerRequest, why: Break): void {
    this.#isDeaf = true;
    this.#isKept = false;
    this.#parts.wheel.remove(this);
    this.#reader.stop();
    request.break(why);
    if (this.#answer?.isOut === true) this.socket.destroySoon();
  }

  #refuse(why: Refusal, cause: unknown): void {
    this.#isDeaf = true;
    this.#reader.stop();
    this.#linger(this.#parts.toRefusal(why, cause));
  }

  /**
   * A client that still sends would see a reset instead of its last answer if the connection closed at once: what it
   * sends is read away for a moment (RFC 9112, section 9.6).
   */
  #linger(last: string): void {
    const { wheel, times } = this.#parts;
    this.socket.end(last);
    wheel.remove(this);
    wheel.add(this, times.lingerMs);
  }

  /** The client has closed its side, which is how clients leave. One that has its whole answer on the way may read it. */
  #ended(): void {
    this.#isKept = false;
    if (this.#answer === undefined || this.#answer.isOut) this.socket.destroySoon();
    else if (!this.#answer.isEnded) this.socket.destroy();
  }

  #closed(): void {
    this.#isDeaf = true;
    this.#held = undefined;
    this.#parts.wheel.remove(this);
    this.#reader.stop();
    this.#request?.break('left');
    this.#answer?.lose();
    this.#parts.onGone(this);
  }
}

class TunnelError extends MessageError {}

function skipLineEnds(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === carriageReturn || bytes[at] === lineFeed) at++;
  return at;
}
