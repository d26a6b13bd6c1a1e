/**
 * Rows as they wait in a file for the database. A row is a line of JSON with its values in order, where a text is
 * only its length in bytes, then the texts one behind the other, and a line end: no text is escaped to be written, and
 * each is cut out where it stands. Pure.
 */
export type FileValue = string | number | null;

export function toFileRow(values: readonly FileValue[]): string {
  let head = '';
  let texts = '';
  for (const value of values) {
    head += typeof value === 'string' ? `,"${Buffer.byteLength(value)}"` : `,${value}`;
    if (typeof value === 'string') texts += value;
  }
  return `[${head.slice(1)}]\n${texts}\n`;
}

export interface FileRows {
  readonly rows: FileValue[][];
  /** The length of what follows the last whole row: its process ended while it was written. */
  readonly unread: number;
}

const lineEnd = 10;

export function parseFileRows(bytes: Buffer): FileRows {
  const rows: FileValue[][] = [];
  let at = 0;
  while (at < bytes.length) {
    const headEnd = bytes.indexOf(lineEnd, at);
    const head = headEnd === -1 ? undefined : parseHead(bytes.toString('latin1', at, headEnd));
    if (head === undefined) break;
    let next = headEnd + 1;
    const row = head.map((value) => {
      if (typeof value !== 'string') return value;
      const start = next;
      next += Number(value);
      return bytes.toString('utf8', start, next);
    });
    if (bytes[next] !== lineEnd) break;
    rows.push(row);
    at = next + 1;
  }
  return { rows, unread: bytes.length - at };
}

function parseHead(line: string): FileValue[] | undefined {
  try {
    const head: unknown = JSON.parse(line);
    return Array.isArray(head) ? head : undefined;
  } catch {
    return undefined;
  }
}
