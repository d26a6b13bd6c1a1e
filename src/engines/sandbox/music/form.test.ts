import { describe, expect, it } from 'vitest';
import { fitForm } from './form.ts';
import { metres } from './types.ts';

const wish = { bpm: 120, isTempoGiven: true, metre: metres['4/4'], phraseBars: 4 };

describe('a form', () => {
  it.each([5, 8, 13, 20, 30, 45, 60, 90, 120, 180, 240])('of %i seconds fits them', (seconds) => {
    for (const bpm of [40, 66, 97, 120, 178, 220]) {
      for (const metre of Object.values(metres)) {
        for (const phraseBars of [4, 12]) {
          const form = fitForm({ seconds, bpm, isTempoGiven: true, metre, phraseBars });
          expect(form.bpm).toBe(bpm);
          const end = form.sections.at(-1)!;
          expect(end.kind).toBe('end');
          let bar = 0;
          for (const section of form.sections) {
            expect(section.bar).toBe(bar);
            expect(section.bars).toBeGreaterThan(0);
            bar += section.bars;
          }
          const last = ((end.bar * form.metre.beats + form.lastBeats) * 60) / bpm;
          expect(last).toBeCloseTo(form.fadeFrom, 5);
          expect(form.fadeFrom).toBeLessThan(seconds);
          expect(form.lastBeats).toBeLessThan(2 * form.metre.beats + 1e-9);
        }
      }
    }
  });

  it('has its parts in the order of songs', () => {
    const kinds = (seconds: number) => fitForm({ ...wish, seconds }).sections.map(({ kind }) => kind);
    expect(kinds(5)).toEqual(['verse', 'end']);
    expect(kinds(20)).toEqual(['verse', 'chorus', 'end']);
    expect(kinds(30)).toEqual(['intro', 'verse', 'chorus', 'end']);
    expect(kinds(240)[0]).toBe('intro');
    expect(kinds(240)).toEqual(expect.arrayContaining(['verse', 'chorus', 'bridge', 'solo', 'outro']));
    expect(kinds(240).slice(-3)).toEqual(['chorus', 'outro', 'end']);
  });

  it('a blues has choruses of twelve bars', () => {
    const { sections } = fitForm({ ...wish, seconds: 120, phraseBars: 12 });
    expect(sections.filter(({ bars }) => bars === 12).length).toBeGreaterThan(2);
  });

  it('a very short piece may hurry, unless its tempo was asked for', () => {
    const slow = { ...wish, bpm: 90, seconds: 5 };
    expect(fitForm({ ...slow, isTempoGiven: false }).bpm).toBeGreaterThan(90);
    expect(fitForm(slow).bpm).toBe(90);
  });
});
