/** The text of a file window by window and line by line, so that a large one is never a string as a whole. */
import { encodingOf } from './kind.ts';

const windowBytes = 65_536;
/** A line without end is handed on in parts of this length. */
const longestLine = 65_536;

/** Well-formed, with `\n` as the only line end. */
export function* textOf(bytes: Buffer): Generator<string> {
  const decoder = new TextDecoder(encodingOf(bytes));
  let heldReturn = '';
  for (let start = 0; start < bytes.length; start += windowBytes) {
    const window = bytes.subarray(start, start + windowBytes);
    const decoded = heldReturn + decoder.decode(window, { stream: true });
    // It may be the first half of a line end.
    heldReturn = decoded.endsWith('\r') ? '\r' : '';
    yield toPlainEnds(heldReturn === '' ? decoded : decoded.slice(0, -1));
  }
  yield toPlainEnds(heldReturn + decoder.decode());
}

export function* linesOf(bytes: Buffer): Generator<string> {
  let rest = '';
  for (const text of textOf(bytes)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() as string;
    yield* lines;
    if (rest.length <= longestLine) continue;
    // Not between the two halves of a character.
    const end = /[\ud800-\udbff]$/.test(rest) ? -1 : undefined;
    yield rest.slice(0, end);
    rest = end === undefined ? '' : rest.slice(end);
  }
  if (rest !== '') yield rest;
}

function toPlainEnds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
