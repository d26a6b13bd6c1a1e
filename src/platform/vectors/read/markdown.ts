/** Markdown block by block under its headings; code between fences and tables stay whole. */
import type { Passage } from '../parts.ts';
import { createHeadings } from './headings.ts';
import { linesOf } from './lines.ts';

const atx = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const setext = /^ {0,3}(=+|-+)[ \t]*$/;
const fence = /^ {0,3}(`{3,}|~{3,})/;
/** Of a line without spaces at its end: two places that could take them would share them out in every way there is. */
const tableRule = /^ {0,3}\|?[ \t]*:?-+:?(?:[ \t]*\|[ \t]*:?-+:?)*(?:[ \t]*\|)?$/;
/** A block without end is handed on in parts. */
const longest = 16_384;

export function* readMarkdown(bytes: Buffer): Generator<Passage> {
  const headings = createHeadings();
  let block: string[] = [];
  let length = 0;
  let openFence: string | undefined;

  function* close(form?: 'code'): Generator<Passage> {
    const lines = block;
    block = [];
    length = 0;
    const text = lines.join('\n');
    if (text.trim() === '') return;
    headings.fill();
    if (form === undefined && isTable(lines)) {
      const rows = lines.map(toRow);
      const repeated = rows.slice(0, 2).join('\n');
      yield { text: rows.join('\n'), headings: headings.current, form: 'rows', repeated };
    } else yield { text, headings: headings.current, form };
  }

  for (const line of linesOf(bytes)) {
    const mark = fence.exec(line)?.[1];
    if (openFence !== undefined) {
      add(line);
      const isEnd = mark?.startsWith(openFence) === true && line.trim() === mark;
      if (isEnd) openFence = undefined;
      if (isEnd || length > longest) yield* close('code');
      continue;
    }
    const heading = atx.exec(line);
    const underline = block.length === 1 && length < 500 ? setext.exec(line)?.[1] : undefined;
    if (mark !== undefined) {
      yield* close();
      openFence = mark;
      add(line);
    } else if (heading !== null) {
      yield* close();
      yield* headings.enter(heading[1]?.length ?? 1, toTitle(line.slice(heading[0].length)));
    } else if (underline !== undefined && !isMarked(block[0])) {
      const title = block[0] ?? '';
      block = [];
      length = 0;
      yield* headings.enter(underline.startsWith('=') ? 1 : 2, toTitle(title));
    } else if (line.trim() === '') yield* close();
    else {
      add(line);
      if (length > longest) yield* close();
    }
  }
  yield* close(openFence === undefined ? undefined : 'code');
  yield* headings.end();

  function add(line: string): void {
    block.push(line);
    length += line.length + 1;
  }
}

function isTable([first = '', second = '']: readonly string[]): boolean {
  return first.includes('|') && tableRule.test(second.trimEnd());
}

/** Without what only lines columns up: in a wide table it is most of the text. */
function toRow(line: string): string {
  return line
    .trim()
    .replace(/[ \t]{2,}/g, ' ')
    .replace(/-{4,}/g, '---');
}

/** A list, a quote or a rule above a line of dashes is no title. */
function isMarked(line = ''): boolean {
  return /^ {0,3}(?:[-*+>|]|\d+[.)])/.test(line);
}

const longestTitle = 1_000;

/** Without the signs that only a renderer reads, and those that may close a heading. */
function toTitle(text: string): string {
  return text
    .slice(0, longestTitle)
    .trim()
    .replace(/(?:^|[ \t])#+$/, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]+/g, '')
    .trim();
}
