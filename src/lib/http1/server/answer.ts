/**
 * The answer to one request, in as few writes as it can: a whole one in a single one, and of a stream the head leaves
 * with the first piece and the end with the last.
 */
import type { Socket } from 'node:net';
import type { Deadline, Wheel } from '../../wheel.ts';
import { type HttpDate, toAnswerHead } from './answer-head.ts';
import type { Times } from './times.ts';

/** Hears once that the answer has gone out, or never will. */
export interface AnswerWatcher {
  onClosed(): void;
}

/** Of the connection, what an answer has to know. */
export interface AnswerPlace {
  readonly socket: Socket;
  readonly date: HttpDate;
  readonly wheel: Wheel;
  /** Another request may follow. */
  readonly isKept: boolean;
  readonly times: Times;
  /** The last byte has gone out. */
  answered(): void;
}

export interface AnswerParts {
  readonly place: AnswerPlace;
  /** HEAD is answered without a body. */
  readonly isHead: boolean;
  readonly isHttp10: boolean;
}

/** How its end is told; `none`: it has no body, whatever is written. */
type Framing = 'length' | 'chunked' | 'close' | 'none';

const lastChunk = '0\r\n\r\n';
/** A larger answer is written piece by piece: of one piece it is not known how much its reader has taken. */
const pieceBytes = 64 * 1024;

export class ServerAnswer implements Deadline {
  dueAt = 0;
  slot = -1;
  readonly #place: AnswerPlace;
  readonly #isHead: boolean;
  readonly #isHttp10: boolean;
  #watcher: AnswerWatcher | undefined;
  #onRoom: (() => void) | undefined;
  #onLost: (() => void) | undefined;
  /** The head, until something follows it. */
  #unsent = '';
  #framing: Framing = 'none';
  /** Of the length that was said. */
  #left = 0;
  /** Bytes that the system had taken when the reader was looked at last. */
  #taken = 0;
  /** 0 until it has begun. */
  status = 0;
  /** Nothing is written any more. */
  isEnded = false;
  /** Its last byte has gone out. */
  isOut = false;
  /** The connection ends with it, whatever the client asked for. */
  isLast = false;

  constructor({ place, isHead, isHttp10 }: AnswerParts) {
    this.#place = place;
    this.#isHead = isHead;
    this.#isHttp10 = isHttp10;
  }

  get isBegun(): boolean {
    return this.status !== 0;
  }

  /** Nobody is there to read it. */
  get isGone(): boolean {
    return this.#place.socket.destroyed;
  }

  /** Bytes that the system has not taken yet. */
  get waitingBytes(): number {
    return this.#place.socket.writableLength;
  }

  watch(watcher: AnswerWatcher): void {
    this.#watcher = watcher;
  }

  /** A whole answer. `fields` are lines by `toField`, without a length. */
  send(status: number, fields: string, body: string | Buffer): void {
    if (this.isGone) return;
    const length = Buffer.byteLength(body);
    if (length > pieceBytes) {
      this.begin(status, fields, length);
      this.isEnded = true;
      this.#sendPieces(typeof body === 'string' ? Buffer.from(body) : body, 0);
      return;
    }
    const hasBody = status !== 204 && status !== 304;
    const head = `${this.#toHead(status, fields, true)}${hasBody ? `content-length: ${length}\r\n` : ''}\r\n`;
    this.status = status;
    const { socket } = this.#place;
    if (this.#isHead || !hasBody || length === 0) socket.write(head, 'latin1');
    else if (typeof body !== 'string') {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
    // As many bytes as characters: ASCII, which need not be looked through again to be encoded.
    else if (length === body.length) socket.write(head + body, 'latin1');
    else {
      const bytes = Buffer.allocUnsafe(head.length + length);
      bytes.write(head, 0, 'latin1');
      bytes.write(body, head.length, 'utf8');
      socket.write(bytes);
    }
    this.#finish();
  }

  /** The head of an answer that comes in pieces; it leaves with the first of them. `length`: of all, where it is known. */
  begin(status: number, fields: string, length?: number): void {
    if (this.isGone) return;
    if (status === 204 || status === 304) this.#framing = 'none';
    else if (length !== undefined) {
      this.#framing = 'length';
      this.#left = length;
    } else this.#framing = this.#isHttp10 ? 'close' : 'chunked';
    const isDelimited = this.#framing !== 'close' || this.#isHead;
    const head = this.#toHead(status, fields, isDelimited);
    this.#unsent = `${head}${this.#toDelimiter()}\r\n`;
    if (this.#isHead) this.#framing = 'none';
    this.status = status;
  }

  /** A string is latin1: one byte for each character. False where the reader is slow: `onRoom` tells when it is not. */
  write(piece: string | Buffer): boolean {
    if (this.isEnded || this.isGone || piece.length === 0) return true;
    const hasRoom = this.#write(piece, '');
    if (!hasRoom) this.#watchReader();
    return hasRoom;
  }

  /** The last piece. What is shorter than was said breaks off, so that its reader knows. */
  end(piece: string | Buffer = ''): void {
    if (this.isEnded || this.isGone) return;
    this.#write(piece, this.#framing === 'chunked' ? lastChunk : '');
    if (this.isGone) return;
    if (this.#framing === 'length' && this.#left > 0) this.destroy();
    else this.#finish();
  }

  /** Called once when what waits has gone out; never, where it does not. */
  onRoom(callback: () => void): void {
    this.#onRoom = callback;
  }

  /** Called once when the connection is lost before the answer is out. */
  onLost(callback: () => void): void {
    if (this.isGone) process.nextTick(callback);
    else this.#onLost = callback;
  }

  /** It breaks off; not when it is out, because the connection is the next one's by then. */
  destroy(): void {
    if (!this.isOut) this.#place.socket.destroy();
  }

  /** Its reader has had time: if it took not a byte of what waits, it is gone. A slow one is not. */
  expire(): void {
    if (this.waitingBytes === 0) return;
    if (this.#countTaken() > this.#taken) this.#watchReader();
    else this.destroy();
  }

  /** What waited has gone out. Like what follows, for the connection. */
  drained(): void {
    const callback = this.#onRoom;
    this.#onRoom = undefined;
    callback?.();
  }

  /** The connection has closed. */
  lose(): void {
    if (this.isOut) return;
    this.isEnded = true;
    this.#place.wheel.remove(this);
    this.#watcher?.onClosed();
    this.#onLost?.();
  }

  #toHead(status: number, fields: string, isDelimited: boolean): string {
    const { date, isKept, times } = this.#place;
    if (!isKept || !isDelimited) this.isLast = true;
    const head = toAnswerHead(status, fields, date.at(Date.now()));
    return this.isLast
      ? `${head}connection: close\r\n`
      : `${head}connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(times.idleMs / 1000)}\r\n`;
  }

  #toDelimiter(): string {
    if (this.#framing === 'length') return `content-length: ${this.#left}\r\n`;
    return this.#framing === 'chunked' && !this.#isHead ? 'transfer-encoding: chunked\r\n' : '';
  }

  #write(piece: string | Buffer, last: string): boolean {
    const { socket } = this.#place;
    const head = this.#unsent;
    this.#unsent = '';
    const { length } = piece;
    if (this.#framing === 'none' || length === 0) {
      const text = head + last;
      return text === '' || socket.write(text, 'latin1');
    }
    if (this.#framing === 'length') {
      this.#left -= length;
      // What is longer than was said would be read as the next answer.
      if (this.#left < 0) {
        this.destroy();
        return true;
      }
    }
    const isChunked = this.#framing === 'chunked';
    const before = isChunked ? `${head}${length.toString(16)}\r\n` : head;
    const after = isChunked ? `\r\n${last}` : last;
    if (typeof piece === 'string') return socket.write(before + piece + after, 'latin1');
    socket.cork();
    if (before !== '') socket.write(before, 'latin1');
    let hasRoom = socket.write(piece);
    if (after !== '') hasRoom = socket.write(after, 'latin1');
    socket.uncork();
    return hasRoom;
  }

  #sendPieces(body: Buffer, from: number): void {
    for (let at = from; at < body.length; at += pieceBytes) {
      if (this.isGone) return;
      if (this.#write(body.subarray(at, at + pieceBytes), '')) continue;
      this.#watchReader();
      this.onRoom(() => this.#sendPieces(body, at + pieceBytes));
      return;
    }
    this.#finish();
  }

  #finish(): void {
    this.isEnded = true;
    const { socket } = this.#place;
    // It failed at once: the connection closes in a moment.
    if (socket.errored !== null) return;
    // Mostly the system has taken all of it at once. Otherwise an empty piece goes behind what waits.
    if (socket.writableLength === 0) this.#out();
    else {
      this.#watchReader();
      socket.write('', (error) => {
        if (!error && !socket.destroyed) this.#out();
      });
    }
  }

  /** While something waits for its reader. */
  #watchReader(): void {
    if (this.slot >= 0 || this.waitingBytes === 0) return;
    const { wheel, times } = this.#place;
    this.#taken = this.#countTaken();
    wheel.add(this, times.stuckReaderMs);
  }

  #countTaken(): number {
    const { socket } = this.#place;
    return socket.bytesWritten - socket.writableLength;
  }

  #out(): void {
    this.isOut = true;
    this.#place.wheel.remove(this);
    this.#watcher?.onClosed();
    this.#place.answered();
  }
}
