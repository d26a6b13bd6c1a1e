/**
 * The head of an HTTP/1 answer (RFC 9112): its status, how its body is delimited, and whether the connection can be
 * used again. Pure.
 */
import {
  checkFields,
  type Framing,
  isToBeKept,
  MessageError,
  type MessageHead,
  toFraming,
} from '../message.ts';

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/;
const keepAliveSeconds = /(?:^|[\s,])timeout\s*=\s*(\d{1,9})/i;

export class ResponseHead implements MessageHead {
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
    if (start === null) throw new MessageError('the answer does not begin like HTTP/1');
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
          if (length !== undefined) throw new MessageError('content-length was sent twice');
          length = text.slice(colon + 1, end);
          break;
        case 'transfer-encoding':
          if (encoding !== undefined) throw new MessageError('transfer-encoding was sent twice');
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
    const framing = toFraming(length, encoding);
    this.framing = hasBody ? (framing ?? 'close') : 'length';
    this.length = hasBody && framing === 'length' ? Number(length) : 0;
    // Chunks are of HTTP/1.1: whoever sends them as 1.0 has a proxy between that does not know them.
    const isOdd = start[1] === '0' && encoding !== undefined;
    this.isKept = !isOdd && this.framing !== 'close' && isToBeKept(start[1]!, connection);
    this.keptMs = keepAlive === undefined ? undefined : toKeptMs(keepAlive);
  }

  /** By lower-case name. What was sent several times is joined by commas. */
  get headers(): ReadonlyMap<string, string> {
    this.#headers ??= toHeaders(this.#text);
    return this.#headers;
  }

  get(name: string): string | undefined {
    return this.headers.get(name);
  }
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
