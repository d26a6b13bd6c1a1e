/**
 * The head of an HTTP/1 request (RFC 9112): what is asked of what, its headers, how its body is delimited, and whether
 * the connection is kept afterwards. Pure.
 */
import { checkFields, isToBeKept, MessageError, type MessageHead, toFraming } from '../message.ts';

/** By lower-case name. What was sent several times is joined by commas. */
export type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** One space between the parts, and nothing in them that another reader would take for a space. */
const requestLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([\x21-\x7e]+) HTTP\/1\.([01])\r\n/;
/** The same, as far as it has come. */
const requestLineStart =
  /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?: (?:[\x21-\x7e]+(?: (?:H(?:T(?:T(?:P(?:\/(?:1(?:\.(?:[01]\r?)?)?)?)?)?)?)?)?)?)?)?$/;
/** Half a line end, or what stands nowhere in a head. */
const unclearPart = /[^\r]\n|\r[^\n]|[^\t\r\n\x20-\x7e\x80-\xff]/;
const continueOption = /(?:^|[\t ,])100-continue(?:$|[\t ,])/i;
/** Told from the line, because a value is without the white space around it. As `chunked` in `message.ts`. */
const tabBehindChunked = /^transfer-encoding:[\t ]*chunked *\t/im;

export class RequestHead implements MessageHead {
  readonly method: string;
  /** As it was sent: a path with its query, or another form. */
  readonly target: string;
  readonly isHttp10: boolean;
  readonly headers: RequestHeaders;
  /** The names that were sent more than once, if any. */
  readonly repeated: ReadonlySet<string> | undefined;
  readonly framing: 'length' | 'chunked';
  readonly length: number;
  /** Whether another request may follow on the connection. */
  readonly isKept: boolean;

  /** `text` is everything up to the empty line, with the line end of the last header. */
  constructor(text: string) {
    const start = requestLine.exec(text);
    if (start === null) throw new MessageError('the request does not begin like HTTP/1');
    const [line, method, target, minorVersion] = start as unknown as [string, string, string, string];
    checkFields(text.slice(line.length));
    this.method = method;
    this.target = target;
    this.isHttp10 = minorVersion === '0';
    // Without a prototype, whose names would be taken for headers that were sent.
    const headers: Record<string, string> = Object.create(null);
    let repeated: Set<string> | undefined;
    for (let at = line.length; at < text.length; ) {
      const colon = text.indexOf(':', at);
      const end = text.indexOf('\r\n', colon);
      const name = text.slice(at, colon).toLowerCase();
      const value = toValue(text, colon + 1, end);
      const earlier = headers[name];
      if (earlier === undefined) headers[name] = value;
      else {
        headers[name] = `${earlier}, ${value}`;
        repeated ??= new Set();
        repeated.add(name);
      }
      at = end + 2;
    }
    this.headers = headers;
    this.repeated = repeated;
    const { 'content-length': length, 'transfer-encoding': encoding } = headers;
    // HTTP/1.0 has no chunks: who sends them has a proxy between that does not know them.
    if (this.isHttp10 && encoding !== undefined) throw new MessageError('chunks in HTTP/1.0');
    if (encoding !== undefined && tabBehindChunked.test(text))
      throw new MessageError('a tab behind the transfer encoding');
    this.framing = toFraming(length, encoding) ?? 'length';
    this.length = length === undefined ? 0 : Number(length);
    this.isKept = isToBeKept(minorVersion, headers['connection']);
  }

  /** The client waits to be told that it may send its body. */
  get isWaitingToSend(): boolean {
    const { expect } = this.headers;
    return expect !== undefined && !this.isHttp10 && continueOption.test(expect);
  }
}

/**
 * Throws for what cannot become a head, however it goes on: who speaks another protocol, or ends lines in another way,
 * would wait for an answer that never comes. `from` is where `text` is new.
 */
export function checkPart(text: string, from: number): void {
  const line = text.indexOf('\r\n');
  if (
    unclearPart.test(text.slice(Math.max(0, from - 1))) ||
    !(line < 0 ? requestLineStart.test(text) : line + 2 <= from || requestLine.test(text))
  )
    throw new MessageError('the request does not begin like HTTP/1');
}

const space = 32;
const tab = 9;

/** Without the white space around it; not by `trim`, which takes the byte 0xa0 for a space too. */
function toValue(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === space || code === tab;
}
