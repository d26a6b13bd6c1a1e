/** Spreadsheets sheet by sheet, each row with the names of its columns. */
import type { Passage } from '../parts.ts';
import { type Office, openOffice, type PartHandler } from './office.ts';
import { invalid } from './refusal.ts';
import { type Cell, createTable } from './table.ts';

const workbook = 'xl/workbook.xml';
/** Of the texts that cells refer to; they are held while the sheets are read. */
const maxSharedCharacters = 60e6;

export async function* readXlsx(bytes: Buffer): AsyncGenerator<Passage> {
  const office = openOffice(bytes);
  const sheets = await sheetsOf(office);
  const formats: Formats = { shared: await sharedTexts(office), isDate: await dateStyles(office) };
  for (const { name, part } of sheets) {
    const table = createTable([name]);
    let rows: Passage[] = [];
    const handler = sheetHandler(formats, (number, cells) => rows.push(...table.row(number, cells)));
    yield* office.read(part, handler, () => {
      const taken = rows;
      rows = [];
      return taken;
    });
    yield* table.end();
  }
}

interface Formats {
  readonly shared: readonly string[];
  /** By the number of a cell's style. */
  readonly isDate: readonly boolean[];
}

async function sheetsOf(office: Office): Promise<{ name: string; part: string }[]> {
  const relations = await office.relations(workbook);
  const sheets: { name: string; part: string }[] = [];
  await office.scan(workbook, {
    open(tag, attributes) {
      const part = tag === 'sheet' ? relations.get(attributes['r:id'] ?? '')?.target : undefined;
      if (part !== undefined) sheets.push({ name: attributes['name'] ?? '', part });
    },
  });
  return sheets;
}

async function sharedTexts(office: Office): Promise<string[]> {
  const shared: string[] = [];
  let length = 0;
  let text = '';
  let isText = false;
  await office.scan('xl/sharedStrings.xml', {
    open(name) {
      if (name === 'si') text = '';
      isText = name === 't';
    },
    close(name) {
      if (name === 'si') shared.push(text);
      isText = false;
    },
    text(part) {
      if (!isText) return;
      text += part;
      length += part.length;
      if (length > maxSharedCharacters)
        throw invalid(`The spreadsheet holds more than ${maxSharedCharacters} characters: split it`);
    },
  });
  return shared;
}

/** A date is a number like others but for its format: one of Excel's own, or one that is written with days and hours. */
async function dateStyles(office: Office): Promise<boolean[]> {
  const custom = new Set<number>();
  const styles: boolean[] = [];
  let isInCells = false;
  await office.scan('xl/styles.xml', {
    open(name, attributes) {
      const id = Number(attributes['numFmtId']);
      if (name === 'numFmt' && isDateFormat(attributes['formatCode'] ?? '')) custom.add(id);
      if (name === 'cellXfs') isInCells = true;
      if (name === 'xf' && isInCells)
        styles.push((id >= 14 && id <= 22) || (id >= 45 && id <= 47) || custom.has(id));
    },
    close(name) {
      if (name === 'cellXfs') isInCells = false;
    },
  });
  return styles;
}

/** Colours, conditions and quoted text are no part of the pattern. */
function isDateFormat(code: string): boolean {
  return /[ymdhs]/i.test(code.slice(0, 255).replace(/\[[^\]]*\]|"[^"]*"|\\./g, ''));
}

function sheetHandler(formats: Formats, onRow: (number: number, cells: Cell[]) => void): PartHandler {
  let number = 0;
  let cells: Cell[] = [];
  let column = -1;
  let type = '';
  let style = 0;
  let value = '';
  let isValue = false;
  return {
    open(name, { r, t = 'n', s = '0' }) {
      if (name === 'row') {
        number = Number(r) || number + 1;
        cells = [];
        column = -1;
      } else if (name === 'c') {
        column = r === undefined ? column + 1 : toColumn(r);
        type = t;
        style = Number(s);
        value = '';
      } else if (name === 'v' || name === 't') isValue = true;
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false;
      else if (name === 'c' && value !== '')
        cells.push({ column, value: toValue(type, style, value, formats) });
      else if (name === 'row') onRow(number, cells);
    },
    text(text) {
      if (isValue) value += text;
    },
  };
}

/** `BC12` → 54. */
function toColumn(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? 'A')
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

const dayMs = 86_400_000;
/** Day 0 as spreadsheets count; they believe in a 29 February 1900. */
const dayZero = Date.UTC(1899, 11, 30);

function toValue(type: string, style: number, value: string, { shared, isDate }: Formats): string {
  if (type === 's') return shared[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'true' : 'false';
  if (type !== 'n' || isDate[style] !== true) return value;
  const days = Number(value);
  // Years 1900 to 9999; what is beyond is no date.
  if (!(days >= 1 && days < 2_958_466)) return value;
  const date = new Date(dayZero + Math.round(days * dayMs)).toISOString();
  return Number.isInteger(days) ? date.slice(0, 10) : date.slice(0, 16).replace('T', ' ');
}
