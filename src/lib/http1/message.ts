/** What both sides of HTTP/1 (RFC 9112) hold a message to. Strict where two readers could disagree on where it ends. Pure. */

/** A message that is no HTTP, or whose end nobody could tell for certain. */
export class MessageError extends Error {
  override readonly name: string = 'MessageError';
}

/** How the end of the body is told: by its length (none is 0), by chunks, or by the end of the connection. */
export type Framing = 'length' | 'chunked' | 'close';

/** What a reader has to know of a head. */
export interface MessageHead {
  readonly framing: Framing;
  readonly length: number;
}

/** A line that holds anything else is taken for two lines, or for a part of the one before, by some readers. */
const fieldLines = /^(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const framingField = /^(?:content-length|transfer-encoding):/i;
/** Not by `trim`, which takes the byte 0xa0 for a space too. */
const digits = /^[\t ]*\d{1,15}[\t ]*$/;
/** A tab behind it makes it another encoding for some readers, which then read on until the end. */
const chunked = /^[\t ]*chunked *$/i;
const closeOption = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const keepAliveOption = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i;

/** Whole lines of a valid name, a colon and a value. */
export function checkFields(lines: string): void {
  if (!fieldLines.test(lines)) throw new MessageError('a header is not clear');
}

/** A header behind the last chunk, with its line end: it is not read, but held to the same rules. */
export function checkTrailer(line: string): void {
  checkFields(line);
  if (framingField.test(line)) throw new MessageError('a trailer tells how the body ends');
}

/** Undefined: neither a length nor chunks were said. */
export function toFraming(
  length: string | undefined,
  encoding: string | undefined,
): 'length' | 'chunked' | undefined {
  if (length !== undefined && encoding !== undefined)
    throw new MessageError('both a length and a transfer encoding');
  if (length !== undefined) {
    if (!digits.test(length)) throw new MessageError('content-length is no number');
    return 'length';
  }
  if (encoding === undefined) return undefined;
  if (!chunked.test(encoding))
    throw new MessageError(`the transfer encoding is not known: ${encoding.slice(0, 50)}`);
  return 'chunked';
}

/** Whether the connection is to be kept, by what the message says of it: HTTP/1.0 has to ask for it. */
export function isToBeKept(minorVersion: string, connection: string | undefined): boolean {
  if (connection === undefined) return minorVersion === '1';
  return !closeOption.test(connection) && (minorVersion === '1' || keepAliveOption.test(connection));
}
