/**
 * Reads the answers of one connection, cut anywhere, straight from the buffer of the socket.
 *
 *   head ──(1xx: again)──▶ length │ chunks │ close ──▶ over ──(`expect`)──▶ head
 *
 * What one read brings of a body is handed over in one piece: chunks are moved together in the buffer, because a
 * buffer object, a decoding and a call for each would cost more than all the rest of a streamed token.
 */
import { checkTrailer, ResponseError, ResponseHead } from './response-head.ts';

export interface ResponseSink {
  onHead(head: ResponseHead): void;
  /** The bytes from `start` to `end` are there until this returns. */
  onBody(buffer: Buffer, start: number, end: number): void;
  /** `isMore`: bytes came behind it that nobody asked for, so the connection cannot be trusted any more. */
  onEnd(isMore: boolean): void;
}

type State = 'over' | 'head' | 'length' | 'close' | ChunkState;
type ChunkState = 'size' | 'extension' | 'size-end' | 'data' | 'data-end' | 'line-end' | 'trailer';

/** As much of a read is looked at for a head at first: heads of engines have a few hundred bytes. */
const usualHeadBytes = 1024;
/** Of a head; of what stands around one chunk: its extensions, and behind the last one the trailers. */
const longestHead = 64 * 1024;
const mostInterim = 16;
const largestChunk = 2 ** 48;
/** With zeros before it. */
const longestSize = 16;
/** `;name`, `;name=token` or `;name="text"`, any number of times. */
const extensions =
  /^(?:;[\w!#$%&'*+\-.^`|~]+(?:=(?:[\w!#$%&'*+\-.^`|~]+|"[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]*"))?)+$/;

const carriageReturn = 13;
const lineFeed = 10;
const semicolon = 59;

export class ResponseReader {
  readonly #sink: ResponseSink;
  #state: State = 'over';
  /** A head, an extension or a trailer that has not come whole. */
  #pending = '';
  #interim = 0;
  /** Of the body, or of the chunk. */
  #left = 0;
  /** Of the size of the chunk. */
  #digits = 0;
  /** Bytes around the chunk, beside its size. */
  #around = 0;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** A request was sent: its answer may come. */
  expect(): void {
    this.#state = 'head';
    this.#interim = 0;
  }

  /** Nothing is read any more. */
  stop(): void {
    this.#state = 'over';
    this.#pending = '';
  }

  /** Throws a `ResponseError` for what is no answer, and for what nobody asked for. */
  push(buffer: Buffer, end: number): void {
    let at = 0;
    while (at < end) {
      switch (this.#state) {
        case 'over':
          throw new ResponseError('more came than was asked for');
        case 'head':
          at = this.#readHead(buffer, at, end);
          break;
        case 'length': {
          const stop = Math.min(end, at + this.#left);
          this.#left -= stop - at;
          const isLast = this.#left === 0;
          this.#sink.onBody(buffer, at, stop);
          at = stop;
          if (isLast && this.#state === 'length') this.#end(at < end);
          break;
        }
        case 'close':
          this.#sink.onBody(buffer, at, end);
          return;
        default:
          at = this.#readChunks(buffer, at, end);
      }
      // Whoever was told may have given up.
      if (this.#isOver()) return;
    }
  }

  /** The connection has ended. True where that is how the body was to end. */
  close(): boolean {
    const isWell = this.#state === 'close';
    this.stop();
    return isWell;
  }

  #isOver(): boolean {
    return this.#state === 'over';
  }

  #readHead(buffer: Buffer, at: number, end: number): number {
    const known = this.#pending.length;
    let text = this.#pending + buffer.toString('latin1', at, Math.min(end, at + usualHeadBytes));
    let stop = text.indexOf('\r\n\r\n', Math.max(0, known - 3));
    if (stop < 0 && end - at > usualHeadBytes) {
      text = this.#pending + buffer.toString('latin1', at, Math.min(end, at + longestHead));
      stop = text.indexOf('\r\n\r\n', Math.max(0, known - 3));
    }
    if ((stop < 0 ? text.length : stop) >= longestHead)
      throw new ResponseError('the head of the answer is too long');
    if (stop < 0) {
      this.#pending = text;
      return end;
    }
    this.#pending = '';
    const next = at + stop + 4 - known;
    const head = new ResponseHead(text.slice(0, stop + 2));
    // Early hints and the like: the answer itself is still to come.
    if (head.status < 200) {
      if (head.status === 101 || !head.isKept || ++this.#interim > mostInterim)
        throw new ResponseError(`the answer has the status ${head.status}`);
      return next;
    }
    this.#left = head.length;
    this.#startBody(head);
    this.#sink.onHead(head);
    if (head.framing === 'length' && head.length === 0 && this.#state === 'length') this.#end(next < end);
    return next;
  }

  #startBody({ framing }: ResponseHead): void {
    if (framing === 'chunked') this.#startChunk();
    else this.#state = framing;
  }

  #startChunk(): void {
    this.#state = 'size';
    this.#left = 0;
    this.#digits = 0;
    this.#around = 0;
  }

  /** As far as this read goes, or to the end of the body. */
  #readChunks(buffer: Buffer, from: number, end: number): number {
    let at = from;
    // What came of the body: from `start` to `to`, without what stood between.
    let start = -1;
    let to = -1;
    let isLast = false;
    while (at < end && !isLast) {
      if (this.#state === 'data') {
        const stop = Math.min(end, at + this.#left);
        if (start < 0) {
          start = at;
          to = stop;
        } else {
          buffer.copyWithin(to, at, stop);
          to += stop - at;
        }
        this.#left -= stop - at;
        at = stop;
        if (this.#left === 0) this.#state = 'data-end';
      } else isLast = this.#readFrame(buffer[at++]!);
    }
    // Said before the sink is called, which may give up.
    if (isLast) this.#state = 'length';
    if (to > start) this.#sink.onBody(buffer, start, to);
    if (isLast && this.#state === 'length') this.#end(at < end);
    return at;
  }

  /** One byte of what stands around the chunks. True for the last one of all. */
  #readFrame(byte: number): boolean {
    switch (this.#state as ChunkState) {
      case 'size': {
        const digit = toHexDigit(byte);
        if (digit >= 0) {
          this.#left = this.#left * 16 + digit;
          if (++this.#digits > longestSize || this.#left > largestChunk)
            throw new ResponseError('a chunk is too large');
        } else if (this.#digits === 0) throw new ResponseError('a chunk without a size');
        else if (byte === carriageReturn) this.#state = 'size-end';
        else if (byte === semicolon) {
          this.#state = 'extension';
          this.#keep(byte);
        } else throw new ResponseError('the size of a chunk is no number');
        return false;
      }
      case 'extension':
        if (byte !== carriageReturn) this.#keep(byte);
        else {
          if (!extensions.test(this.#pending))
            throw new ResponseError('the extension of a chunk is not clear');
          this.#pending = '';
          this.#state = 'size-end';
        }
        return false;
      case 'size-end':
        expectByte(byte, lineFeed);
        this.#state = this.#left > 0 ? 'data' : 'trailer';
        return false;
      case 'data-end':
        expectByte(byte, carriageReturn);
        this.#state = 'line-end';
        return false;
      case 'line-end':
        expectByte(byte, lineFeed);
        this.#startChunk();
        return false;
      default:
        return this.#readTrailer(byte);
    }
  }

  /** Trailers, line by line up to the empty one. */
  #readTrailer(byte: number): boolean {
    this.#keep(byte);
    if (byte !== lineFeed) return false;
    const line = this.#pending;
    this.#pending = '';
    if (line === '\r\n') return true;
    checkTrailer(line);
    return false;
  }

  #keep(byte: number): void {
    if (++this.#around > longestHead) throw new ResponseError('too much stands around the chunks');
    this.#pending += String.fromCharCode(byte);
  }

  #end(isMore: boolean): void {
    this.#state = 'over';
    this.#sink.onEnd(isMore);
  }
}

function toHexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 0x20;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function expectByte(byte: number, expected: number): void {
  if (byte !== expected) throw new ResponseError('a line end among the chunks is unclear');
}
