/** Gathers the running text of a document into paragraphs, as readers of markup tell where one ends. */
import type { Passage } from '../parts.ts';
import { createHeadings } from './headings.ts';

export interface Blocks {
  text(text: string): void;
  /** A paragraph ends; `form` and its place are those of what was gathered. */
  end(form?: Passage['form'], place?: Passage['place']): void;
  /** What was gathered is a heading. */
  endHeading(level: number): void;
  /** What is complete since the last call. */
  take(): Passage[];
  finish(): Passage[];
}

/** A paragraph without end is handed on in parts. */
const longest = 16_384;

export function createBlocks(): Blocks {
  const headings = createHeadings();
  let done: Passage[] = [];
  let gathered = '';

  function end(form?: Passage['form'], place?: Passage['place']): void {
    const text = form === 'code' ? gathered.trimEnd() : toLines(gathered);
    gathered = '';
    if (text.trim() === '') return;
    headings.fill();
    done.push({ text, headings: headings.current, form, place });
  }

  function take(): Passage[] {
    const taken = done;
    done = [];
    return taken;
  }

  return {
    text(text) {
      gathered += text;
      if (gathered.length > longest) end();
    },
    end,
    endHeading(level) {
      const title = gathered;
      gathered = '';
      done.push(...headings.enter(level, title));
    },
    take,
    finish() {
      end();
      done.push(...headings.end());
      return take();
    },
  };
}

/** One space between words, and the breaks that were meant. */
function toLines(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
