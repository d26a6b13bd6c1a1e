/**
 * Reads the messages of one connection, cut anywhere, straight from the buffer of the socket.
 *
 *   over ──(`expect`)──▶ head ──▶ length │ chunks │ close ──▶ over
 *
 * What one read brings of a body is handed over in one piece: chunks are moved together in the buffer, because a
 * buffer object, a decoding and a call for each would cost more than all the rest of a streamed token.
 */
import { checkTrailer, MessageError, type MessageHead } from './message.ts';

export interface MessageSink {
  /**
   * Everything up to the empty line, with the line end of the last header. What it answers tells how the body is read;
   * undefined where the head that counts is still to come. Throws for what cannot be understood.
   */
  onHead(text: string): MessageHead | undefined;
  /** What has come of a head, and from where on it is new. Throws for what cannot become one. */
  onPart?(text: string, from: number): void;
  /** The bytes from `start` to `end` of the buffer. */
  onBody(buffer: Buffer, start: number, end: number): void;
  /** `isMore`: bytes came behind it. */
  onEnd(isMore: boolean): void;
}

/** A head that is longer than is allowed. */
export class HeadTooLongError extends MessageError {}

type State = 'over' | 'head' | 'length' | 'close' | ChunkState;
type ChunkState = 'size' | 'extension' | 'size-end' | 'data' | 'data-end' | 'line-end' | 'trailer';

/** As much of a read is looked at for a head at first: most have a few hundred bytes. */
const usualHeadBytes = 1024;
const largestChunk = 2 ** 48;
/** With zeros before it. */
const longestSize = 16;
/** `;name`, `;name=token` or `;name="text"`, any number of times. */
const extensions =
  /^(?:;[\w!#$%&'*+\-.^`|~]+(?:=(?:[\w!#$%&'*+\-.^`|~]+|"[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]*"))?)+$/;

const carriageReturn = 13;
const lineFeed = 10;
const semicolon = 59;

export class MessageReader {
  readonly #sink: MessageSink;
  /** Of a head; of what stands around one chunk: its extensions, and behind the last one the trailers. */
  readonly #longestHead: number;
  #state: State = 'over';
  /** A head, an extension or a trailer that has not come whole. */
  #pending = '';
  /** Of the body, or of the chunk. */
  #left = 0;
  /** Of the size of the chunk. */
  #digits = 0;
  /** Bytes around the chunk, beside its size. */
  #around = 0;

  constructor(sink: MessageSink, longestHead: number) {
    this.#sink = sink;
    this.#longestHead = longestHead;
  }

  /** Nothing is read: there was an end, or nothing was expected. */
  get isOver(): boolean {
    return this.#state === 'over';
  }

  /** Not a byte of a message that is expected has come. */
  get isFresh(): boolean {
    return this.#state === 'head' && this.#pending === '';
  }

  /** A message may come. */
  expect(): void {
    this.#state = 'head';
  }

  /** Nothing is read any more. */
  stop(): void {
    this.#state = 'over';
    this.#pending = '';
  }

  /**
   * Reads up to the end of a head, of a message, or of the bytes, and tells where it stopped.
   * Throws a `MessageError` for what is no message.
   */
  push(buffer: Buffer, at: number, end: number): number {
    switch (this.#state) {
      case 'over':
        return at;
      case 'head':
        return this.#readHead(buffer, at, end);
      case 'length':
        return this.#readLength(buffer, at, end);
      case 'close':
        this.#sink.onBody(buffer, at, end);
        return end;
      default:
        return this.#readChunks(buffer, at, end);
    }
  }

  /** The connection has ended. True where that is how the body was to end. */
  close(): boolean {
    const isWell = this.#state === 'close';
    this.stop();
    return isWell;
  }

  #readHead(buffer: Buffer, at: number, end: number): number {
    const known = this.#pending.length;
    let text = this.#pending + buffer.toString('latin1', at, Math.min(end, at + usualHeadBytes));
    let stop = text.indexOf('\r\n\r\n', Math.max(0, known - 3));
    if (stop < 0 && end - at > usualHeadBytes) {
      text = this.#pending + buffer.toString('latin1', at, Math.min(end, at + this.#longestHead));
      stop = text.indexOf('\r\n\r\n', Math.max(0, known - 3));
    }
    if ((stop < 0 ? text.length : stop) >= this.#longestHead)
      throw new HeadTooLongError('the head is too long');
    if (stop < 0) {
      this.#pending = text;
      this.#sink.onPart?.(text, known);
      return end;
    }
    this.#pending = '';
    const next = at + stop + 4 - known;
    const head = this.#sink.onHead(text.slice(0, stop + 2));
    // Nothing counts any more for who has given up.
    if (head === undefined || this.#isStopped()) return next;
    this.#left = head.length;
    if (head.framing === 'chunked') this.#startChunk();
    else this.#state = head.framing;
    if (head.framing === 'length' && head.length === 0) this.#end(next < end);
    return next;
  }

  #isStopped(): boolean {
    return this.#state === 'over';
  }

  #readLength(buffer: Buffer, at: number, end: number): number {
    const stop = Math.min(end, at + this.#left);
    this.#left -= stop - at;
    const isLast = this.#left === 0;
    this.#sink.onBody(buffer, at, stop);
    // Whoever was told may have given up.
    if (isLast && this.#state === 'length') this.#end(stop < end);
    return stop;
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
            throw new MessageError('a chunk is too large');
        } else if (this.#digits === 0) throw new MessageError('a chunk without a size');
        else if (byte === carriageReturn) this.#state = 'size-end';
        else if (byte === semicolon) {
          this.#state = 'extension';
          this.#keep(byte);
        } else throw new MessageError('the size of a chunk is no number');
        return false;
      }
      case 'extension':
        if (byte !== carriageReturn) this.#keep(byte);
        else {
          if (!extensions.test(this.#pending))
            throw new MessageError('the extension of a chunk is not clear');
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
    if (++this.#around > this.#longestHead) throw new MessageError('too much stands around the chunks');
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
  if (byte !== expected) throw new MessageError('a line end among the chunks is unclear');
}
