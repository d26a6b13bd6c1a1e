import { describe, expect, it } from 'vitest';
import { isSpeakable, toPieces } from './pieces.ts';

const texts = (text: string) => toPieces(text).map((piece) => piece.text);

describe('a text', () => {
  it('is spoken sentence by sentence, with a longer pause after a paragraph', () => {
    expect(toPieces('One here. Two there! Three?\n\nFour.')).toEqual([
      { text: 'One here.', ending: 'sentence' },
      { text: 'Two there!', ending: 'sentence' },
      { text: 'Three?', ending: 'paragraph' },
      { text: 'Four.', ending: 'paragraph' },
    ]);
  });

  it.each([
    'Dr. Smith met Mrs. Jones and Prof. Lee.',
    'It cost 3.5 dollars at example.com today.',
    'See fig. 3 and No. 7 here.',
    'The U.S. Army met J. Doe, e.g. here.',
    '"Really?" she asked and left.',
    'He came on Jan. 5 to St. Paul.',
    'So... it goes on, etc. and so on.',
  ])('%s is one sentence', (text) => {
    expect(texts(text)).toEqual([text]);
  });

  it.each([
    ['He said no. Then he left.', 2],
    ['We met at 5 p.m. Then we ate.', 2],
    ['It was I. You knew.', 2],
    ['"Good." "Yes."', 2],
    ['First line\nsecond line', 2],
    ['你好。再见！', 2],
  ])('%s has %i sentences', (text, count) => {
    expect(toPieces(text)).toHaveLength(count);
  });

  it('has no piece that is too long, and loses nothing: after commas, between words, or anywhere', () => {
    const clauses = `${'some words here and there, '.repeat(40)}end.`;
    const words = `${'word '.repeat(200)}end`;
    const solid = 'x'.repeat(1_000);
    const emoji = '𝒳'.repeat(500);
    for (const text of [clauses, words, solid, emoji]) {
      const pieces = toPieces(text);
      for (const piece of pieces) expect(piece.text.length).toBeLessThanOrEqual(220);
      const squeeze = (given: string) => given.replace(/\s+/g, '');
      expect(squeeze(pieces.map((piece) => piece.text).join(''))).toBe(squeeze(text));
      expect(pieces.at(-1)?.ending).toBe('paragraph');
    }
    expect(toPieces(clauses)[0]).toMatchObject({ ending: 'clause', text: expect.stringMatching(/,$/) });
    expect(toPieces(words)[0]).toMatchObject({ ending: 'none', text: expect.stringMatching(/word$/) });
    for (const { text } of toPieces(emoji)) expect(text).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
  });

  it('that nobody can say has no pieces', () => {
    for (const text of ['', ' \n\n ', '…', '—!?', '😀 🎉', '***']) expect(toPieces(text)).toEqual([]);
    for (const text of ['a', '7', '€', 'ß', '你']) expect(isSpeakable(text)).toBe(true);
  });
});

describe('a text that is listened to already', () => {
  const first = (text: string) => toPieces(text, { isEarly: true })[0];

  it('begins with a short piece: up to a comma, or some words', () => {
    expect(first('Good morning, everyone who is here today.')).toEqual({
      text: 'Good morning,',
      ending: 'clause',
    });
    expect(first('The quick brown fox jumps over it.')).toEqual({ text: 'The quick brown', ending: 'none' });
  });

  it('does not break after a word that leans on the next one', () => {
    expect(first('People of the world, unite and be glad.')?.text).toBe('People');
    expect(first('Somebody in the house was singing.')?.text).toBe('Somebody');
  });

  it('is left whole where it is short, or cannot be cut', () => {
    expect(first('Hello there, you.')).toEqual({ text: 'Hello there, you.', ending: 'paragraph' });
    expect(first('1234567890 1234567890 1234567890.')?.text).toBe('1234567890 1234567890 1234567890.');
    expect(toPieces('', { isEarly: true })).toEqual([]);
  });

  it('says the same words', () => {
    const text = 'It was a bright cold day in April, and the clocks were striking thirteen. Then it rained.';
    const joined = toPieces(text, { isEarly: true })
      .map((piece) => piece.text)
      .join(' ');
    expect(joined).toBe(text);
  });
});
