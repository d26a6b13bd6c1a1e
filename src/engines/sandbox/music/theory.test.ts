import { describe, expect, it } from 'vitest';
import { nearest, parseChord, stepFrom, toKeyName, toMelodyScale, toneClasses, voice } from './theory.ts';

describe('chords', () => {
  it.each([
    ['I', [0, 4, 7]],
    ['ii7', [2, 5, 9, 0]],
    ['V7', [7, 11, 2, 5]],
    ['bVII', [10, 2, 5]],
    ['vii', [11, 2, 6]],
    ['Imaj7', [0, 4, 7, 11]],
    ['bVI5', [8, 3]],
    ['Vsus4', [7, 0, 2]],
  ])('%s of C has the tones it should', (numeral, tones) => {
    expect(toneClasses(parseChord(numeral, 0))).toEqual(tones);
  });

  it('are moved by as little as possible', () => {
    const first = voice(parseChord('I', 0), undefined, 60);
    const second = voice(parseChord('IV', 0), first, 60);
    expect(first.every((pitch) => pitch >= 50 && pitch <= 70)).toBe(true);
    const moved = second.map((pitch) => Math.min(...first.map((before) => Math.abs(before - pitch))));
    expect(Math.max(...moved)).toBeLessThanOrEqual(2);
  });
});

describe('scales', () => {
  it('bend to a chord that leaves them: the leading tone in minor', () => {
    const key = { tonic: 9, mode: 'minor' } as const;
    expect(toMelodyScale(key, 'mode', parseChord('i', 9))).toContain(7);
    const overDominant = toMelodyScale(key, 'mode', parseChord('V7', 9));
    expect(overDominant).toContain(8);
    expect(overDominant).not.toContain(7);
  });

  it('are walked in steps, and the nearest tone of a chord is found', () => {
    expect(stepFrom(60, 2, [0, 2, 4, 5, 7, 9, 11])).toBe(64);
    expect(stepFrom(60, -1, [0, 2, 4, 5, 7, 9, 11])).toBe(59);
    expect(nearest(61, [4], 50, 70)).toBe(64);
    expect(nearest(61, [4], 50, 60)).toBe(52);
  });

  it('have names', () => {
    expect(toKeyName({ tonic: 6, mode: 'dorian' })).toBe('F♯ dorian');
  });
});
