/** The headings above a place, as they follow each other in a text. A heading that nothing stands under is a passage of its own. */
import type { Passage } from '../parts.ts';

export interface Headings {
  readonly current: readonly string[];
  /** Goes below a new one. Answers the one before it when nothing stood there. */
  enter(level: number, title: string): Passage[];
  /** Something stands here. */
  fill(): void;
  end(): Passage[];
}

const longestTitle = 500;

export function createHeadings(): Headings {
  let path: { readonly level: number; readonly title: string }[] = [];
  let current: readonly string[] = [];
  let isBare = false;

  function bare(): Passage[] {
    const title = current.at(-1);
    return isBare && title !== undefined ? [{ text: title, headings: current.slice(0, -1) }] : [];
  }

  return {
    get current() {
      return current;
    },
    enter(level, title) {
      const clean = title.replace(/\s+/g, ' ').trim().slice(0, longestTitle).toWellFormed();
      if (clean === '') return [];
      const last = path.at(-1);
      const left = last !== undefined && level <= last.level ? bare() : [];
      path = [...path.filter((heading) => heading.level < level), { level, title: clean }];
      current = path.map((heading) => heading.title);
      isBare = true;
      return left;
    },
    fill() {
      isBare = false;
    },
    end: bare,
  };
}
