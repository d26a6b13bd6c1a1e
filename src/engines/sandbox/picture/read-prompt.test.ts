import { describe, expect, it } from 'vitest';
import { computing } from '../../../../test/support/computing.ts';
import { readPrompt } from './read-prompt.ts';
import { subjects } from './subjects/index.ts';
import { colourNames, meaningOf, subjectKinds } from './words.ts';

const kinds = (prompt: string, negative?: string) =>
  readPrompt(prompt, negative).subjects.map(({ kind, count }) => [kind, count]);

describe('a prompt', () => {
  it('names the hour, the land and what stands in it', () => {
    const wish = readPrompt('A small red house in snowy mountains at sunset, with clouds');
    expect(wish).toMatchObject({ time: 'sunset', land: 'mountains', isSnowy: true, isAbstract: false });
    expect([...wish.sky]).toEqual(['clouds']);
    expect(wish.subjects).toEqual([{ kind: 'house', count: 1, size: 0.65, colour: colourNames['red'] }]);
  });

  it.each([
    ['three boats', [['boat', 3]]],
    [
      '12 birds and a cat',
      [
        ['bird', 12],
        ['cat', 1],
      ],
    ],
    ['900 fish', [['fish', 12]]],
    ['cats', [['cat', 4]]],
    ['a couple of foxes', [['dog', 2]]],
    ['butterflies', [['butterfly', 4]]],
    ['children', [['person', 4]]],
    ['a cup of coffee', [['cup', 1]]],
    ['two hot air balloons', [['balloon', 2]]],
    ['a meadow without trees and no dogs', []],
  ])('“%s” counts its things', (prompt, expected) => {
    expect(kinds(prompt)).toEqual(expected);
  });

  it.each([
    ['a cat, watercolor', 'watercolour'],
    ['pixel art of a cat', 'pixel'],
    ['a line drawing of a cat', 'lines'],
    ['stained glass cat', 'mosaic'],
    ['a black and white photo of a cat', 'noir'],
  ])('“%s” names a style', (prompt, style) => {
    expect(readPrompt(prompt).style).toBe(style);
  });

  it('gives a colour to the noun that follows it, and others to the air', () => {
    const wish = readPrompt('a blue car under a green sky');
    expect(wish.subjects[0]?.colour).toEqual(colourNames['blue']);
    expect(wish.colours).toEqual([colourNames['green']]);
  });

  it('loses what a negative prompt names, by whichever word of the same meaning', () => {
    expect(kinds('a ship and a cat at sea', 'boats')).toEqual([['cat', 1]]);
    expect(readPrompt('a cat', 'sun').skyWithout).toEqual(new Set(['sun']));
  });

  it('is abstract when nothing in it is known, in whatever language', () => {
    expect(readPrompt('Sehnsucht nach 静けさ')).toMatchObject({
      isAbstract: true,
      unknown: ['sehnsucht', 'nach', '静けさ'],
    });
    expect(readPrompt('')).toMatchObject({ isAbstract: true, unknown: [] });
    expect(readPrompt('an abstract cat').isAbstract).toBe(true);
  });

  it('of any length is read in little time', () => {
    const computed = computing();
    readPrompt('snow '.repeat(2_000) + '-'.repeat(8_000), 'a'.repeat(8_000));
    expect(computed()).toBeLessThan(500);
  });
});

describe('the painter', () => {
  it('knows at least twenty subjects, each by its own name', () => {
    expect(subjectKinds.length).toBeGreaterThanOrEqual(20);
    for (const kind of subjectKinds) expect(subjects[kind].draw).toBeTypeOf('function');
    for (const kind of subjectKinds) if (kind !== 'star') expect(meaningOf(kind)?.subject).toBe(kind);
  });
});
