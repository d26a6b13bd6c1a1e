import { describe, expect, it } from 'vitest';
import { computing } from '../../../../test/support/computing.ts';
import { makePdf } from '../../../../test/support/documents.ts';
import { makePptx, makeStyledDocx, makeXlsx } from '../../../../test/support/office-files.ts';
import type { Passage } from '../parts.ts';
import { toFilename } from './filename.ts';
import { readPassages } from './read.ts';

async function read(content: Buffer | string, filename: string): Promise<Passage[]> {
  const passages: Passage[] = [];
  for await (const passage of await readPassages(Buffer.from(content), filename)) passages.push(passage);
  return passages;
}

/** `heading › heading | text` */
const shown = (passages: readonly Passage[]) =>
  passages.map(({ headings, text }) => (headings.length === 0 ? text : `${headings.join(' › ')} | ${text}`));

describe('a file becomes passages with their places', () => {
  it('pdf: page by page, a word that was cut at the end of a line put together', async () => {
    const passages = await read(makePdf(['First page', 'Second page']), 'a.pdf');
    expect(passages).toEqual([
      { text: 'First page', headings: [], place: { unit: 'page', at: 1 } },
      { text: 'Second page', headings: [], place: { unit: 'page', at: 2 } },
    ]);
  });

  it('docx: by headings, whatever the language of its styles, and rows of tables', async () => {
    const docx = makeStyledDocx([
      { text: 'Guide', style: 'berschrift1' },
      { text: 'Hello &amp; welcome.' },
      { text: 'Parts', style: 'berschrift2' },
      [
        ['Name', 'City'],
        ['Anna', 'Köln'],
      ],
      { text: 'Nothing below', style: 'berschrift2' },
    ]);
    expect(shown(await read(docx, 'a.docx'))).toEqual([
      'Guide | Hello & welcome.',
      'Guide › Parts | Name | City',
      'Guide › Parts | Anna | Köln',
      'Guide | Nothing below',
    ]);
  });

  it('pptx: slide by slide in the order in which they are shown, with notes, without page numbers', async () => {
    const pptx = makePptx([
      { title: 'Welcome', lines: ['One', 'Two'], notes: 'Say hello' },
      { title: 'The end', lines: [] },
    ]);
    expect(await read(pptx, 'a.pptx')).toEqual([
      { text: 'One\nTwo\nSay hello', headings: ['Welcome'], place: { unit: 'slide', at: 1 } },
      { text: 'The end', headings: [], place: { unit: 'slide', at: 2 } },
    ]);
  });

  it('xlsx: sheet by sheet, each value with the name of its column, dates as dates', async () => {
    const xlsx = makeXlsx({
      Sales: [
        ['City', 'Total', 'Day'],
        ['Köln', 12.5, new Date(Date.UTC(2026, 10, 15))],
      ],
      Plain: [
        [1, 2],
        [3, 4],
      ],
    });
    expect(await read(xlsx, 'a.xlsx')).toEqual([
      {
        text: 'City: Köln; Total: 12.5; Day: 2026-11-15',
        headings: ['Sales'],
        form: 'rows',
        place: { unit: 'row', at: 2 },
      },
      { text: '1; 2', headings: ['Plain'], form: 'rows', place: { unit: 'row', at: 1 } },
      { text: '3; 4', headings: ['Plain'], form: 'rows', place: { unit: 'row', at: 2 } },
    ]);
  });

  it('html: by headings; without scripts, styles and navigation', async () => {
    const html =
      '<!doctype html><title>T</title><style>p{}</style><nav>Menu</nav><h1>One</h1><p>Hello <b>big</b>\nworld</p>' +
      '<ul><li>a<li>b</ul><h2>Two</h2><table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>' +
      '<pre>  code\n   x</pre><script>alert(1)</script>tail &amp; end';
    expect(shown(await read(html, 'page'))).toEqual([
      'One | Hello big world',
      'One | - a\n- b',
      'One › Two | x | y',
      'One › Two | 1 | 2',
      'One › Two |   code\n   x',
      'One › Two | tail & end',
    ]);
  });

  it('md: a line that looks like the rule of a table until its end takes no longer than others', async () => {
    const computed = computing();
    await read(`a | b\n-${' '.repeat(100_000)}x\n`, 'a.md');
    expect(computed()).toBeLessThan(500);
  });

  it('md: by headings of both forms; fences and tables stay whole', async () => {
    const md =
      'Title\n=====\n\nIntro.\n\n## `code` and [link](x) ##\n\n```sh\n# no heading\n\nnpm ci\n```\n\n| a    | b |\n|------|---|\n| 1    | 2 |\n\n### Bare\n\n## Last\nend\n';
    expect(await read(md, 'a.md')).toEqual([
      { text: 'Intro.', headings: ['Title'] },
      { text: '```sh\n# no heading\n\nnpm ci\n```', headings: ['Title', 'code and link'], form: 'code' },
      {
        text: '| a | b |\n|---|---|\n| 1 | 2 |',
        headings: ['Title', 'code and link'],
        form: 'rows',
        repeated: '| a | b |\n|---|---|',
      },
      { text: 'Bare', headings: ['Title', 'code and link'] },
      { text: 'end', headings: ['Title', 'Last'] },
    ]);
  });

  it('csv: rows with the names of their columns, whatever separates them', async () => {
    for (const [csv, name] of [
      ['name,city\r\nAnna,"Köln, ""old"""\r\n', 'a.csv'],
      ['name;city\nAnna;"Köln, ""old"""\n', 'a.csv'],
      ['name\tcity\nAnna\tKöln, "old"\n', 'a.tsv'],
    ] as const)
      expect(await read(csv, name)).toEqual([
        { text: 'name: Anna; city: Köln, "old"', headings: [], form: 'rows', place: { unit: 'row', at: 2 } },
      ]);
    expect(shown(await read('1,2\n3,4\n', 'a.csv'))).toEqual(['1; 2', '3; 4']);
  });

  it('json: values with their paths, one line for those that stand together', async () => {
    const json =
      '{"a":1,"items":[{"name":"Anna","tags":["x","y"]},{"name":"B\\u00fc\\"b","deep":{"er":true}}],"z":null}';
    expect(shown(await read(json, 'a.json'))).toEqual([
      'a 1',
      'items[0]: name Anna',
      'items[0].tags: x; y',
      'items[1]: name Bü"b',
      'items[1].deep: er true',
      'z null',
    ]);
    expect(shown(await read('{"a":1}\n{"a":2}\n', 'a.jsonl'))).toEqual(['a 1', 'a 2']);
  });

  it('source code: what stands between blank lines, with its lines', async () => {
    expect(await read('import x\n\n\ndef f():\n    return 1\n', 'a.py')).toEqual([
      { text: 'import x', headings: [], form: 'code', place: { unit: 'line', at: 1 } },
      { text: 'def f():\n    return 1', headings: [], form: 'code', place: { unit: 'line', at: 4 } },
    ]);
  });

  it('txt: by paragraphs, in UTF-8, UTF-16 or the letters of Windows', async () => {
    expect(shown(await read('one\ntwo\r\n\r\nthree', 'a.txt'))).toEqual(['one\ntwo', 'three']);
    expect(shown(await read(Buffer.from('\ufeffGrüße', 'utf16le'), 'a.txt'))).toEqual(['Grüße']);
    expect(shown(await read(Buffer.from('\ufeffGrüße'), 'a.txt'))).toEqual(['Grüße']);
    expect(shown(await read(Buffer.from('Grüße', 'latin1'), 'a.txt'))).toEqual(['Grüße']);
  });
});

describe('what a file is, its bytes say before its name', () => {
  it('a pdf that is called a text, and a text that is called a pdf', async () => {
    expect(shown(await read(makePdf(['Hello']), 'a.txt'))).toEqual(['Hello']);
    expect(shown(await read('Hello', 'a.pdf'))).toEqual(['Hello']);
  });

  it('a text without a known extension is a text', async () => {
    expect(shown(await read('Hello', 'LICENSE'))).toEqual(['Hello']);
  });
});

describe('the name of a file is its last part', () => {
  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\me\\notes.md', 'notes.md'],
    ['a/b/', 'file'],
    ['..', 'file'],
    ['', 'file'],
    ['re\u202etxt.exe\u0000\n', 'retxt.exe'],
    [`${'x'.repeat(400)}.pdf`, `${'x'.repeat(251)}.pdf`],
  ])('%j', (sent, name) => expect(toFilename(sent)).toBe(name));
});
