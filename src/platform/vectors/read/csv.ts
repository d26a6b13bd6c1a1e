/** Comma, semicolon and tab separated values, row by row. */
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { Passage } from '../parts.ts';
import { linesOf, textOf } from './lines.ts';
import { invalid } from './refusal.ts';
import { createTable } from './table.ts';

/** A row of a table that people made has a few hundred characters. */
const longestRow = 1_000_000;
/** As many as a spreadsheet has. */
const maxColumns = 16_384;

export async function* readCsv(bytes: Buffer, isTabbed: boolean): AsyncGenerator<Passage> {
  const table = createTable([]);
  const delimiter = isTabbed ? '\t' : delimiterOf(bytes);
  const parser = parse({
    delimiter,
    // Between tabs a quote is a character like others.
    quote: isTabbed ? null : '"',
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: longestRow,
    bom: true,
  });
  const rows = Readable.from(textOf(bytes), { objectMode: false }).pipe(parser);
  let number = 0;
  try {
    for await (const values of rows as AsyncIterable<string[]>) {
      if (values.length > maxColumns)
        throw invalid(
          `The table has more than ${maxColumns} columns: split it, or turn its rows and columns around`,
        );
      const cells = values.map((value, column) => ({ column, value }));
      yield* table.row(++number, cells);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const problem =
      error.code === 'CSV_MAX_RECORD_SIZE'
        ? `has a row of more than ${longestRow} characters`
        : `is not well-formed at row ${number + 1}`;
    throw invalid(`The table ${problem}: check its quotes and line ends and send it again`, error);
  }
  yield* table.end();
}

/** The one that the first line has most of. */
function delimiterOf(bytes: Buffer): string {
  const [line = ''] = linesOf(bytes.subarray(0, 65_536));
  const counted = [',', ';', '\t', '|'].map((sign) => ({ sign, count: line.split(sign).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).sign;
}
