/**
 * Rows as they wait in a file for the database. A row is a line of JSON with its values in order, where a text is
 * only its length, then the texts one behind the other, and a line end: no text is escaped to be written, nor copied
 * to be read. Pure.
 */
export type FileValue = string | number | null;

export function toFileRow(values: readonly FileValue[]): string {
  let head = '';
  let texts = '';
  for (const value of values) {
    head += typeof value === 'string' ? `,"${value.length}"` : `,${value}`;
    if (typeof value === 'string') texts += value;
  }
  return `[${head.slice(1)}]\n${texts}\n`;
}

export interface FileRows {
  readonly rows: FileValue[][];
  /** The length of what follows the last whole row: its process ended while it was written. */
  readonly unread: number;
}

export function parseFileRows(text: string): FileRows {
  const rows: FileValue[][] = [];
  let at = 0;
  while (at < text.length) {
    const headEnd = text.indexOf('\n', at);
    const head = headEnd === -1 ? undefined : parseHead(text.slice(at, headEnd));
    if (head === undefined) break;
    let next = headEnd + 1;
    const row = head.map((value) => {
      if (typeof value !== 'string') return value;
      const start = next;
      next += Number(value);
      return text.slice(start, next);
    });
    if (text[next] !== '\n') break;
    rows.push(row);
    at = next + 1;
  }
  return { rows, unread: text.length - at };
}

function parseHead(line: string): FileValue[] | undefined {
  try {
    const head: unknown = JSON.parse(line);
    return Array.isArray(head) ? head : undefined;
  } catch {
    return undefined;
  }
}
