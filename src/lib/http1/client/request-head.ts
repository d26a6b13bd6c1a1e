/** The head of an HTTP/1.1 request as text. Pure. */
export interface RequestHead {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With its query, percent-encoded. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

const targetPattern = /^\/[\x21-\x7e]*$/;
const namePattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** ASCII, because what stands beyond is other bytes in each encoding, and a body is written with its head in one. */
const valuePattern = /^[\t\x20-\x7e]*$/;
/** What the connection says itself, or does not do. */
export const reservedHeaders: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
]);

/** Everything but the length of the body and the empty line. Throws for what would read as another request. */
export function toRequestHead(host: string, { method, path, headers }: RequestHead): string {
  if (!targetPattern.test(path)) throw new TypeError('the path of a request holds what no path may');
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    const value = headers[at + 1];
    if (!namePattern.test(name) || value === undefined || !valuePattern.test(value))
      throw new TypeError(`the header ${JSON.stringify(name)} of a request holds what no header may`);
    if (reservedHeaders.has(name.toLowerCase()))
      throw new TypeError(`the header ${name} is set by the connection`);
    text += `${name}: ${value}\r\n`;
  }
  return text;
}
