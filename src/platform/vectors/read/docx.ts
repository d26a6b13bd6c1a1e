/** Word documents by headings and paragraphs; footnotes at the end. */
import type { Passage } from '../parts.ts';
import { type Blocks, createBlocks } from './blocks.ts';
import { type Office, openOffice, type PartHandler } from './office.ts';

export async function* readDocx(bytes: Buffer): AsyncGenerator<Passage> {
  const office = openOffice(bytes);
  const levels = await headingStyles(office);
  const blocks = createBlocks();
  for (const part of ['word/document.xml', 'word/footnotes.xml', 'word/endnotes.xml'])
    yield* office.read(part, bodyHandler(blocks, levels), () => blocks.take());
  yield* blocks.finish();
}

/** The headings among the styles, whatever the language calls them: each has an outline level or an English name. */
async function headingStyles(office: Office): Promise<ReadonlyMap<string, number>> {
  const levels = new Map<string, number>();
  let id = '';
  await office.scan('word/styles.xml', {
    open(name, attributes) {
      if (name === 'style') id = attributes['w:styleId'] ?? '';
      const value = attributes['w:val'] ?? '';
      if (name === 'name') {
        const level = /^heading (\d)$/i.exec(value)?.[1] ?? (/^title$/i.test(value) ? '0' : undefined);
        if (level !== undefined) levels.set(id, Number(level));
      }
      if (name === 'outlineLvl' && !levels.has(id) && Number(value) < 9) levels.set(id, Number(value) + 1);
    },
  });
  return levels;
}

function bodyHandler(blocks: Blocks, levels: ReadonlyMap<string, number>): PartHandler {
  let level: number | undefined;
  let isText = false;
  /** Inside of what is drawn a second time for older programs. */
  let fallbacks = 0;
  let rowDepth = 0;
  let cells = 0;
  return {
    open(name, attributes) {
      if (name === 'Fallback') fallbacks++;
      const value = attributes['w:val'] ?? '';
      if (name === 'pStyle') level = levels.get(value) ?? builtInLevel(value);
      else if (name === 'outlineLvl' && Number(value) < 9) level = Number(value) + 1;
      else if (name === 't') isText = true;
      else if (name === 'tab') blocks.text('\t');
      else if (name === 'br' || name === 'cr') blocks.text(rowDepth > 0 ? ' ' : '\n');
      else if (name === 'noBreakHyphen') blocks.text('-');
      else if (name === 'tr' && rowDepth++ === 0) cells = 0;
      else if (name === 'tc' && rowDepth === 1 && cells++ > 0) blocks.text(' | ');
      else if (name === 'p' && rowDepth === 0) level = undefined;
    },
    close(name) {
      if (name === 'Fallback') fallbacks--;
      else if (name === 't') isText = false;
      else if (name === 'p' && rowDepth > 0) blocks.text(' ');
      else if (name === 'p' && level !== undefined) blocks.endHeading(level);
      else if (name === 'p') blocks.end();
      else if (name === 'tr' && --rowDepth === 0) blocks.end('rows');
    },
    text(text) {
      if (isText && fallbacks === 0) blocks.text(text);
    },
  };
}

/** Of documents without a table of styles. */
function builtInLevel(style: string): number | undefined {
  const level = /^Heading(\d)$/.exec(style)?.[1];
  return level === undefined ? undefined : Number(level);
}
