/**
 * The head of an HTTP/1 answer (RFC 9112): its status, how its body is delimited, and whether the connection can be
 * used again. Strict where two readers could disagree on where the body ends. Pure.
 */

/** An answer that is no HTTP, or whose end nobody could tell for certain. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
}

/** How the end of the body is told: by its length (none is 0), by chunks, or by the end of the connection. */
export type Framing = 'length' | 'chunked' | 'close';

/** A line that holds anything else is taken for two lines, or for a part of the one before, by some readers. */
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/;
const fieldLines = /^(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const framingField = /^(?:content-length|transfer-encoding):/i;
/** Not by `trim`, which takes the byte 0xa0 for a space too. */
const digits = /^[\t ]*\d{1,15}[\t ]*$/;
/** A tab behind it makes it another encoding for some readers, which then read on until the end. */
const chunked = /^[\t ]*chunked *$/i;
const closeOption = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const keepAliveOption = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i;
const keepAliveSeconds = /(?:^|[\s,])timeout\s*=\s*(\d{1,9})/i;

export class ResponseHead {
  readonly status: number;
  readonly framing: Framing;
  readonly length: number;
  /** Whether another request may follow on the connection. */
  readonly isKept: boolean;
  /** How long the server keeps it open unused, where it says so. */
  readonly keptMs: number | undefined;
  readonly #text: string;
  #headers: Map<string, string> | undefined;

  /** `text` is everything up to the empty line, with the line end of the last header. */
  constructor(text: string) {
    const start = statusLine.exec(text);
    if (start === null) throw new ResponseError('the answer does not begin like HTTP/1');
    checkFields(text.slice(start[0].length));
    this.#text = text;
    this.status = Number(start[2]);
    let length: string | undefined;
    let encoding: string | undefined;
    let connection: string | undefined;
    let keepAlive: string | undefined;
    for (let at = start[0].length; at < text.length; ) {
      const colon = text.indexOf(':', at);
      const end = text.indexOf('\r\n', colon);
      switch (text.slice(at, colon).toLowerCase()) {
        case 'content-length':
          if (length !== undefined) throw new ResponseError('content-length was sent twice');
          length = text.slice(colon + 1, end);
          break;
        case 'transfer-encoding':
          if (encoding !== undefined) throw new ResponseError('transfer-encoding was sent twice');
          encoding = text.slice(colon + 1, end);
          break;
        case 'connection': {
          const options = text.slice(colon + 1, end);
          connection = connection === undefined ? options : `${connection},${options}`;
          break;
        }
        case 'keep-alive':
          keepAlive = text.slice(colon + 1, end);
          break;
      }
      at = end + 2;
    }
    const hasBody = this.status >= 200 && this.status !== 204 && this.status !== 304;
    this.framing = toFraming(hasBody, length, encoding);
    this.length = this.framing === 'length' && hasBody ? Number(length) : 0;
    // Chunks are of HTTP/1.1: whoever sends them as 1.0 has a proxy between that does not know them.
    const isNew = start[1] === '1' || (encoding === undefined && keepAliveOption.test(connection ?? ''));
    this.isKept =
      isNew && this.framing !== 'close' && (connection === undefined || !closeOption.test(connection));
    this.keptMs = keepAlive === undefined ? undefined : toKeptMs(keepAlive);
  }

  /** Lower-case name. What was sent several times is joined by commas. */
  get(name: string): string | undefined {
    this.#headers ??= toHeaders(this.#text);
    return this.#headers.get(name);
  }
}

/** A header behind the last chunk, with its line end: it is not read, but held to the same rules. */
export function checkTrailer(line: string): void {
  checkFields(line);
  if (framingField.test(line)) throw new ResponseError('a trailer tells how the body ends');
}

/** Whole lines of a valid name, a colon and a value. */
function checkFields(lines: string): void {
  if (!fieldLines.test(lines)) throw new ResponseError('a header of the answer is not clear');
}

function toFraming(hasBody: boolean, length: string | undefined, encoding: string | undefined): Framing {
  if (length !== undefined && encoding !== undefined)
    throw new ResponseError('the answer has both a length and a transfer encoding');
  if (length !== undefined && !digits.test(length)) throw new ResponseError('content-length is no number');
  if (encoding !== undefined && !chunked.test(encoding))
    throw new ResponseError(`the transfer encoding is not known: ${encoding.slice(0, 50)}`);
  if (!hasBody || length !== undefined) return 'length';
  return encoding === undefined ? 'close' : 'chunked';
}

function toKeptMs(keepAlive: string): number | undefined {
  const seconds = keepAliveSeconds.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

function toHeaders(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of text.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon < 0) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return headers;
}
