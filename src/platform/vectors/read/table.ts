/** Rows of a table as text: each value behind the name of its column, so that a row is understood on its own. */
import type { Passage } from '../parts.ts';

export interface Cell {
  /** From 0. */
  readonly column: number;
  readonly value: string;
}

export interface Table {
  /** A row with its number in the file. The first one that has any text is the header when it looks like one. */
  row(number: number, cells: readonly Cell[]): Passage[];
  end(): Passage[];
}

const longestName = 60;

export function createTable(headings: readonly string[]): Table {
  let first: { number: number; cells: readonly Cell[] } | undefined;
  let isBody = false;
  let names: ReadonlyMap<number, string> = new Map();

  function toPassage(number: number, cells: readonly Cell[]): Passage {
    const values = cells.map(({ column, value }) => {
      const name = names.get(column);
      return name === undefined ? value : `${name}: ${value}`;
    });
    return { text: values.join('; '), headings, form: 'rows', place: { unit: 'row', at: number } };
  }

  return {
    row(number, all) {
      const cells = all
        .map(({ column, value }) => ({ column, value: value.replace(/\s+/g, ' ').trim() }))
        .filter(({ value }) => value !== '');
      if (cells.length === 0) return [];
      if (first === undefined && !isBody) {
        first = { number, cells };
        return [];
      }
      isBody = true;
      if (first === undefined) return [toPassage(number, cells)];
      const head = first;
      first = undefined;
      if (!isHeader(head.cells, cells)) return [toPassage(head.number, head.cells), toPassage(number, cells)];
      names = new Map(head.cells.map(({ column, value }) => [column, value.slice(0, longestName)]));
      return [toPassage(number, cells)];
    },
    // A header with nothing below it is still text.
    end: () => (first === undefined ? [] : [toPassage(first.number, first.cells)]),
  };
}

/** Names are words, each once, and there is one for every value of the row below. */
function isHeader(head: readonly Cell[], next: readonly Cell[]): boolean {
  const values = head.map(({ value }) => value);
  const columns = new Set(head.map(({ column }) => column));
  return (
    new Set(values).size === values.length &&
    values.every((value) => !/^[-+]?[\d.,%$€£]+$/.test(value)) &&
    next.every(({ column }) => columns.has(column))
  );
}
