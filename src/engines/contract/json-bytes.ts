/**
 * Text as it travels from an engine to a client: the inside of a JSON string literal, escaped, without its
 * quotes, one character per UTF-8 byte. Pieces can be joined and spliced into any JSON text, and every renderer
 * writes them out as latin1, which restores the bytes. Nothing is unescaped and escaped again on the way: that
 * makes a streamed token 3.5 to 7 times cheaper than parsing and writing JSON.
 */
export type JsonBytes = string & { readonly jsonBytes: unique symbol };

/** At 1,000 characters a quarter of the time of a regular expression. */
function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** An ordinary string as bytes-in-a-string. Free for ASCII. */
export function toBytes(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Bytes-in-a-string as an ordinary string. */
export function fromBytes(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

export function toJsonBytes(text: string): JsonBytes {
  return toBytes(JSON.stringify(text).slice(1, -1)) as JsonBytes;
}

export function fromJsonBytes(piece: JsonBytes): string {
  return JSON.parse(`"${fromBytes(piece)}"`) as string;
}

/**
 * A flat copy. V8 keeps `a + b` as a rope, which is slow to compare with and to splice a hundred times:
 * 1,350 ns a chunk, measured.
 */
export function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
