import { describe, expect, it } from 'vitest';
import { createSongbook, parseLyrics, toSyllables } from './lyrics.ts';

describe('syllables', () => {
  it.each([
    ['hello small world', 4],
    ['over the hills and far away', 8],
    ['banana', 3],
    ['a little apple', 5],
    ['the stone', 2],
    ['rote Blumen blühen', 5],
    ['你好', 2],
    ['…!', 0],
    ['mmm', 1],
  ])('of "%s": %i', (line, count) => {
    const syllables = toSyllables(line);
    expect(syllables).toHaveLength(count);
    expect(syllables.join('')).toBe(line.replaceAll(/[^\p{L}]/gu, ''));
  });
});

describe('words', () => {
  const text =
    '[Verse 1]\nOne two\nThree four\n\n[Chorus]\nSing it\n[Verse 2]\nFive six\n[Chorus]\nSing it\n[Solo]';

  it('have sections by their tags, and tags are not sung', () => {
    expect(parseLyrics(text).map(({ kind, lines }) => [kind, lines.length])).toEqual([
      ['verse', 2],
      ['chorus', 1],
      ['verse', 1],
      ['chorus', 1],
    ]);
  });

  it('go on from verse to verse, and a chorus comes back with the same words', () => {
    const book = createSongbook(parseLyrics(text));
    expect(book('verse', 2)).toEqual([
      ['One', 'two'],
      ['Three', 'four'],
    ]);
    expect(book('chorus', 1)).toEqual([['Sing', 'it']]);
    expect(book('verse', 1)).toEqual([['Five', 'six']]);
    expect(book('chorus', 1)).toEqual([['Sing', 'it']]);
  });

  it('without tags are sung in order, and from the start again', () => {
    const book = createSongbook(parseLyrics('One\nTwo\nThree'));
    expect([book('verse', 2), book('chorus', 2)]).toEqual([
      [['One'], ['Two']],
      [['Three'], ['One']],
    ]);
  });

  it('a line that nobody could sing in one breath is parted', () => {
    const [verse] = parseLyrics('la '.repeat(50));
    expect(verse?.lines.map(({ length }) => length)).toEqual([17, 17, 16]);
  });

  it('nothing but signs is nothing to sing', () => {
    expect(parseLyrics('...\n[Chorus]\n!!')).toEqual([]);
  });
});
