/** Plain text by paragraphs, source code by what stands between blank lines. */
import type { Passage } from '../parts.ts';
import { linesOf } from './lines.ts';

/** A paragraph without end is handed on in parts. */
const longest = 16_384;

export function* readText(bytes: Buffer): Generator<Passage> {
  for (const { text } of blocksOf(bytes)) yield { text, headings: [] };
}

export function* readCode(bytes: Buffer): Generator<Passage> {
  for (const { text, line } of blocksOf(bytes))
    yield { text, headings: [], form: 'code', place: { unit: 'line', at: line } };
}

function* blocksOf(bytes: Buffer): Generator<{ text: string; line: number }> {
  let block: string[] = [];
  let length = 0;
  let number = 0;
  for (const line of linesOf(bytes)) {
    number++;
    const isBlank = line.trim() === '';
    if (!isBlank) {
      block.push(line);
      length += line.length + 1;
    }
    if (block.length === 0 || (!isBlank && length < longest)) continue;
    yield { text: block.join('\n'), line: number - block.length + (isBlank ? 0 : 1) };
    block = [];
    length = 0;
  }
  if (block.length > 0) yield { text: block.join('\n'), line: number - block.length + 1 };
}
