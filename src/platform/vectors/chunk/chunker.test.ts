import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Chunk, Passage } from '../parts.ts';
import { chunkLimits, createChunker } from './chunker.ts';
import { weightOf } from './weigh.ts';

function cut(passages: readonly Passage[], filename = 'guide.md'): Chunk[] {
  const chunker = createChunker(filename);
  return [...passages.flatMap((passage) => chunker.push(passage)), ...chunker.end()];
}

const paragraph = (length: number, word = 'word') =>
  `${`${word} `.repeat(Math.ceil(length / (word.length + 1))).trim()}.`;
const section = (text: string, ...headings: string[]): Passage => ({ text, headings });

describe('passages become pieces', () => {
  it('under one heading they share a piece, and another heading begins a new one', () => {
    const chunks = cut([
      section(paragraph(200, 'one'), 'Installing'),
      section(paragraph(200, 'two'), 'Installing'),
      section(paragraph(200, 'three'), 'Running'),
    ]);
    expect(chunks.map(({ description }) => description)).toEqual(['guide › Installing', 'guide › Running']);
    expect(chunks[0]?.text).toMatch(/one\.\n\ntwo/);
  });

  it('a mere line goes into the piece of the next section and says where it is from', () => {
    const chunks = cut([section('See below.', 'Book', 'Note'), section(paragraph(300), 'Book', 'Running')]);
    expect(chunks).toHaveLength(1);
    expect(chunks[0]?.text).toMatch(/^Note\nSee below\.\n\nword/);
    expect(chunks[0]?.description).toBe('guide › Book › Running');
  });

  it('a section that is cut repeats its last sentence in the next piece', () => {
    const chunks = cut([
      section(paragraph(1000), 'A'),
      section('A short end.', 'A'),
      section(paragraph(1000, 'next'), 'A'),
    ]);
    expect(chunks).toHaveLength(2);
    expect(chunks[1]?.text).toMatch(/^A short end\.\n\nnext/);
  });

  it('a table repeats its header', () => {
    const rows = Array.from({ length: 200 }, (_, row) => `| ${row} | some text |`).join('\n');
    const repeated = '| id | text |\n|---|---|';
    const chunks = cut([{ text: `${repeated}\n${rows}`, headings: [], form: 'rows', repeated }]);
    expect(chunks.length).toBeGreaterThan(2);
    for (const { text } of chunks) expect(text.split('| id |')).toHaveLength(2);
    for (const { text } of chunks) expect(text.startsWith(repeated)).toBe(true);
    const behindText = cut([
      section(paragraph(700)),
      { text: `${repeated}\n${rows}`, headings: [], form: 'rows', repeated },
    ]);
    for (const { text } of behindText.slice(1)) expect(text.split('| id |')).toHaveLength(2);
  });

  it('code is cut before something at the margin and keeps its indentation', () => {
    const block = (name: string, line: number): Passage => ({
      text: `function ${name}() {\n${'  doSomething(withThis);\n'.repeat(30)}}`,
      headings: [],
      form: 'code',
      place: { unit: 'line', at: line },
    });
    const chunks = cut([block('first', 1), block('second', 34), block('third', 67)], 'app.ts');
    expect(chunks.map(({ description }) => description)).toEqual([
      'app.ts, lines 1–32',
      'app.ts, lines 34–65',
      'app.ts, lines 67–98',
    ]);
    expect(chunks[1]?.text).toMatch(/^function second\(\) \{\n {2}doSomething/);
  });

  it('pages and rows are told as a range', () => {
    const page = (at: number): Passage => ({
      text: paragraph(300),
      headings: [],
      place: { unit: 'page', at },
    });
    expect(cut([page(3), page(4)], 'a.pdf')[0]?.description).toBe('a, pages 3–4');
    expect(cut([page(3)], 'a.pdf')[0]?.description).toBe('a, page 3');
  });

  it('a title that is the name of the file is told once', () => {
    expect(cut([section('text', 'Failure drills', 'Script')], 'failure-drills.md')[0]?.description).toBe(
      'failure-drills › Script',
    );
  });

  it('a long title and many headings stay short', () => {
    const [chunk] = cut([
      section('text', ...Array.from({ length: 30 }, (_, level) => `heading ${level} `.repeat(20))),
    ]);
    expect(chunk?.description.length).toBeLessThanOrEqual(220);
    expect(chunk?.description).toMatch(/^guide › .*heading 29/);
  });

  it('Chinese and figures make shorter pieces than English', () => {
    const longest = (text: string) => Math.max(...cut([section(text)]).map((chunk) => chunk.text.length));
    expect(longest('word '.repeat(2000))).toBeGreaterThan(1000);
    expect(longest('漢字。'.repeat(2000))).toBeLessThan(400);
    expect(longest('12345 '.repeat(2000))).toBeLessThan(800);
  });
});

const word = fc.oneof(
  fc.stringMatching(/^[a-z]{1,12}$/),
  fc.stringMatching(/^[0-9.,;:{}()]{1,8}$/),
  fc.constantFrom('漢字', 'Grüße', '🙂', 'x'.repeat(60), 'end.', 'Why?', '```'),
);
const text = fc
  .array(fc.tuple(word, fc.constantFrom(' ', ' ', ' ', '\n', '\n\n', '. ')), { maxLength: 600 })
  .map((pairs) => pairs.flat().join(''));
const passages = fc.array(
  fc.record({
    text,
    headings: fc.array(fc.constantFrom('A', 'B', 'C'), { maxLength: 3 }),
    form: fc.constantFrom('prose' as const, 'code' as const, 'rows' as const, undefined),
    place: fc.option(fc.record({ unit: fc.constantFrom('page' as const, 'line' as const), at: fc.nat() }), {
      nil: undefined,
    }),
  }),
  { maxLength: 12 },
);
const wordsOf = (value: string) => value.split(/\s+/).filter((found) => found !== '');

describe('whatever the passages are', () => {
  it('no word is lost and the order is kept', () => {
    fc.assert(
      fc.property(passages, (given) => {
        // Every word is found behind the one before it; what is repeated in between is passed over.
        const found = cut(given).flatMap((chunk) => wordsOf(chunk.text));
        let at = 0;
        for (const wanted of given.flatMap((passage) => wordsOf(passage.text))) {
          while (at < found.length && found[at] !== wanted) at++;
          if (at++ >= found.length) return false;
        }
        return true;
      }),
    );
  });

  it('no piece is too long or empty, and none repeats more than the overlap', () => {
    fc.assert(
      fc.property(passages, (given) => {
        const chunks = cut(given);
        for (const chunk of chunks) {
          expect(weightOf(chunk.text)).toBeLessThanOrEqual(chunkLimits.max);
          expect(chunk.text.trim()).not.toBe('');
        }
        const sum = (texts: readonly string[]) => texts.reduce((total, value) => total + weightOf(value), 0);
        const most = sum(given.map((passage) => passage.text)) + chunks.length * (chunkLimits.overlap + 80);
        expect(sum(chunks.map((chunk) => chunk.text))).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('the same passages give the same pieces', () => {
    fc.assert(
      fc.property(passages, (given) => {
        expect(cut(given)).toEqual(cut(structuredClone(given)));
      }),
    );
  });

  it('a word without end is cut between characters', () => {
    const chunks = cut([section('🙂'.repeat(3000))]);
    expect(chunks.map((chunk) => chunk.text).join('')).toBe('🙂'.repeat(3000));
    for (const chunk of chunks) expect(chunk.text.isWellFormed()).toBe(true);
  });
});
