/** Office documents as the programs write them, as far as a reader of their text can tell. */
import { makeZip } from './documents.ts';

export interface DocxParagraph {
  readonly text: string;
  /** The id of a paragraph style. */
  readonly style?: string;
}

const relationsOf = (targets: readonly (readonly [id: string, type: string, target: string])[]) =>
  `<Relationships>${targets
    .map(([id, type, target]) => `<Relationship Id="${id}" Type="http://x/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

export function makeStyledDocx(paragraphs: readonly (DocxParagraph | readonly string[][])[]): Buffer {
  const toParagraph = ({ text, style }: DocxParagraph) =>
    `<w:p>${style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;
  const toTable = (rows: readonly string[][]) =>
    `<w:tbl>${rows.map((row) => `<w:tr>${row.map((text) => `<w:tc>${toParagraph({ text })}</w:tc>`).join('')}</w:tr>`).join('')}</w:tbl>`;
  const body = paragraphs.map((part) => ('text' in part ? toParagraph(part) : toTable(part))).join('');
  return makeZip([
    { name: '[Content_Types].xml', content: '<Types/>' },
    {
      name: 'word/styles.xml',
      content:
        '<w:styles><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style></w:styles>',
    },
    { name: 'word/document.xml', content: `<w:document><w:body>${body}</w:body></w:document>` },
  ]);
}

export interface Slide {
  readonly title: string;
  readonly lines: readonly string[];
  readonly notes?: string;
}

export function makePptx(slides: readonly Slide[]): Buffer {
  const shape = (type: string, lines: readonly string[]) =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody>${lines
      .map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`)
      .join('')}</p:txBody></p:sp>`;
  // The files are numbered the other way round: the presentation says what is shown first.
  const fileOf = (index: number) => `slide${slides.length - index}.xml`;
  return makeZip([
    {
      name: 'ppt/presentation.xml',
      content: `<p:presentation><p:sldIdLst>${slides.map((_, index) => `<p:sldId r:id="r${index}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    },
    {
      name: 'ppt/_rels/presentation.xml.rels',
      content: relationsOf(slides.map((_, index) => [`r${index}`, 'slide', `slides/${fileOf(index)}`])),
    },
    ...slides.flatMap(({ title, lines, notes }, index) => [
      {
        name: `ppt/slides/${fileOf(index)}`,
        content: `<p:sld>${shape('title', [title])}${shape('body', lines)}${shape('sldNum', ['7'])}</p:sld>`,
      },
      ...(notes === undefined
        ? []
        : [
            {
              name: `ppt/slides/_rels/${fileOf(index)}.rels`,
              content: relationsOf([['n', 'notesSlide', `../notesSlides/notes${index}.xml`]]),
            },
            {
              name: `ppt/notesSlides/notes${index}.xml`,
              content: `<p:notes>${shape('body', [notes])}</p:notes>`,
            },
          ]),
    ]),
  ]);
}

/** Texts are shared, as Excel keeps them; a `Date` is a number with a format. */
export function makeXlsx(sheets: Readonly<Record<string, readonly (string | number | Date)[][]>>): Buffer {
  const shared: string[] = [];
  const toCell = (value: string | number | Date, row: number, column: number) => {
    const place = `r="${String.fromCharCode(65 + column)}${row + 1}"`;
    if (value instanceof Date)
      return `<c ${place} s="1"><v>${(value.getTime() - Date.UTC(1899, 11, 30)) / 86_400_000}</v></c>`;
    if (typeof value === 'number') return `<c ${place}><v>${value}</v></c>`;
    shared.push(value);
    return `<c ${place} t="s"><v>${shared.length - 1}</v></c>`;
  };
  const names = Object.keys(sheets);
  const parts = Object.values(sheets).map((rows, index) => ({
    name: `xl/worksheets/sheet${index + 1}.xml`,
    content: `<worksheet><sheetData>${rows
      .map(
        (row, at) =>
          `<row r="${at + 1}">${row.map((value, column) => toCell(value, at, column)).join('')}</row>`,
      )
      .join('')}</sheetData></worksheet>`,
  }));
  return makeZip([
    {
      name: 'xl/workbook.xml',
      content: `<workbook><sheets>${names.map((name, index) => `<sheet name="${name}" r:id="r${index}"/>`).join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: relationsOf(
        names.map((_, index) => [`r${index}`, 'worksheet', `/xl/worksheets/sheet${index + 1}.xml`]),
      ),
    },
    {
      name: 'xl/styles.xml',
      content: '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    },
    {
      name: 'xl/sharedStrings.xml',
      content: `<sst>${shared.map((text) => `<si><r><t>${text}</t></r></si>`).join('')}</sst>`,
    },
    ...parts,
  ]);
}
