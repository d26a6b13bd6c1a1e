/** Web pages by headings, paragraphs, lists and tables. Read tag by tag: a tree of a large page is many times its size. */
import { Parser } from 'htmlparser2';
import type { Passage } from '../parts.ts';
import { createBlocks } from './blocks.ts';
import { textOf } from './lines.ts';
import { invalid } from './refusal.ts';

/** Nothing of it is meant to be read, or it is on every page of a site. */
const skipped = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'nav',
  'title',
]);
const breaking = new Set(
  (
    'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer ' +
    'form header hgroup hr html legend main menu ol p section summary table tbody tfoot thead ul'
  ).split(' '),
);
/** Pages that people read have a few dozen, browsers draw 512; the parser's time for a stray end tag grows with it. */
const maxDepth = 1_000;

export function* readHtml(bytes: Buffer): Generator<Passage> {
  const blocks = createBlocks();
  let depth = 0;
  let skippedDepth = 0;
  let codeDepth = 0;
  let rowCells = 0;
  let rowDepth = 0;

  /** In a row of a table everything stands on one line. */
  function endBlock(): void {
    if (rowDepth > 0) blocks.text(' ');
    else blocks.end(codeDepth > 0 ? 'code' : undefined);
  }

  const parser = new Parser({
    onopentagname(name) {
      if (++depth > maxDepth)
        throw invalid(`The page is nested deeper than ${maxDepth} tags: save it anew, or as text`);
      if (skipped.has(name)) skippedDepth++;
      if (skippedDepth > 0) return;
      const level = headingLevel(name);
      if (level !== undefined || breaking.has(name)) endBlock();
      else if (name === 'br') blocks.text(rowDepth > 0 ? ' ' : '\n');
      else if (name === 'li') blocks.text('\n- ');
      else if (name === 'pre') {
        endBlock();
        codeDepth++;
      } else if (name === 'tr') {
        endBlock();
        rowDepth++;
        rowCells = 0;
      } else if ((name === 'td' || name === 'th') && rowCells++ > 0) blocks.text(' | ');
    },
    onclosetag(name) {
      depth--;
      if (skipped.has(name)) {
        skippedDepth = Math.max(0, skippedDepth - 1);
        return;
      }
      if (skippedDepth > 0) return;
      const level = headingLevel(name);
      if (level !== undefined && rowDepth === 0) blocks.endHeading(level);
      else if (level !== undefined || breaking.has(name)) endBlock();
      else if (name === 'pre') {
        endBlock();
        codeDepth = Math.max(0, codeDepth - 1);
      } else if (name === 'tr') {
        rowDepth = Math.max(0, rowDepth - 1);
        if (rowDepth === 0) blocks.end('rows');
      }
    },
    ontext(text) {
      if (skippedDepth === 0) blocks.text(codeDepth > 0 ? text : text.replace(/\s+/g, ' '));
    },
  });
  for (const text of textOf(bytes)) {
    parser.write(text);
    yield* blocks.take();
  }
  parser.end();
  yield* blocks.finish();
}

function headingLevel(name: string): number | undefined {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : undefined;
}
