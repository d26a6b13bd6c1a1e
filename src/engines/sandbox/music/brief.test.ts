import { describe, expect, it } from 'vitest';
import { createRandom } from '../seed.ts';
import { type Brief, findInstruments, readBrief, type Wish } from './brief.ts';
import { instrumentOf } from './instruments.ts';
import { styles } from './styles/index.ts';
import { metres } from './types.ts';

function read(prompt: string, changes: Partial<Wish> = {}, seed = 1n): Brief {
  return readBrief({ prompt, isSung: false, isInstrumental: true, ...changes }, createRandom(seed));
}

describe('the style', () => {
  it.each([
    ['a soft lullaby for a baby', 'lullaby'],
    ['Viennese waltz', 'waltz'],
    ['military march', 'march'],
    ['smoky late night jazz', 'jazz'],
    ['twelve bar blues', 'blues'],
    ['rock anthem', 'rock'],
    ['catchy pop', 'pop'],
    ['Techno', 'techno'],
    ['electronic club track', 'techno'],
    ['ambient soundscape', 'ambient'],
    ['classical sonata', 'classical'],
    ['folk tune', 'folk'],
    ['bossa nova on the beach', 'bossa nova'],
    ['reggae', 'reggae'],
    ['funky groove', 'funk'],
    ['heavy metal', 'metal'],
    ['lo-fi beats to study to', 'lo-fi'],
    ['epic trailer music', 'cinematic'],
    ['8-bit chiptune', 'chiptune'],
    ['irish jig', 'celtic'],
    ['trap beat', 'hip-hop'],
    ['80s synthwave', 'synthwave'],
  ])('of "%s" is %s', (prompt, name) => {
    expect(read(prompt).style.name).toBe(name);
  });

  it('is one of the usual ones where no word names one, and left to the seed', () => {
    const names = new Set(
      Array.from({ length: 40 }, (_, seed) => read('something nice', {}, BigInt(seed)).style.name),
    );
    expect(names.size).toBeGreaterThan(2);
  });

  it('a jazz waltz is jazz in three, and any style can be had in another metre', () => {
    expect(read('a jazz waltz').style).toMatchObject({ name: 'jazz', metre: '3/4' });
    expect(read('rock in 6/8').style).toMatchObject({ name: 'rock', metre: '6/8' });
  });

  it('has figures for every step of its bars', () => {
    for (const { metre, figures, basslines, grooves, name } of styles) {
      const { beats, division } = metres[metre];
      const patterns = [
        ...figures,
        ...basslines,
        ...(grooves ?? []).flatMap((groove) => Object.values(groove)),
      ];
      for (const pattern of patterns) expect(pattern.length, `${name}: ${pattern}`).toBe(beats * division);
    }
  });
});

describe('the tempo', () => {
  it.each([
    ['techno at 128 bpm', 128],
    ['97bpm pop', 97],
    ['pop, tempo: 140', 140],
    ['an adagio for strings', 66],
    ['999 bpm gabber', 220],
  ])('of "%s" is %i', (prompt, bpm) => {
    expect(read(prompt)).toMatchObject({ bpm, isTempoGiven: true });
  });

  it('is slower for slow and sad music, faster for fast and happy music', () => {
    const plain = read('folk').bpm;
    expect(read('slow folk').bpm).toBeLessThan(plain * 0.85);
    expect(read('fast folk').bpm).toBeGreaterThan(plain * 1.15);
    expect(read('sad folk').bpm).toBeLessThan(plain);
    expect(read('happy folk').bpm).toBeGreaterThan(plain);
  });
});

describe('the key', () => {
  it.each([
    ['a song in A minor', 9, 'minor'],
    ['piano piece, Eb major', 3, 'major'],
    ['F# minor ballad', 6, 'minor'],
    ['B flat major march', 10, 'major'],
    ['rock in D dorian', 2, 'dorian'],
    ['folk in Am', 9, 'minor'],
  ])('of "%s"', (prompt, tonic, mode) => {
    expect(read(prompt).key).toEqual({ tonic, mode });
  });

  it('is minor for sad and dark, major for happy', () => {
    for (let seed = 0n; seed < 8n; seed++) {
      expect(read('sad pop', {}, seed).key.mode).toBe('minor');
      expect(read('happy pop', {}, seed).key.mode).toBe('major');
    }
  });

  it('a given key changes nothing else', () => {
    const { key: _, ...one } = read('pop');
    const { key: __, ...other } = read('pop in C major');
    expect(other).toEqual(one);
  });
});

describe('who plays', () => {
  it('instruments that are named play', () => {
    expect(read('folk with violin and harp').players).toMatchObject({ lead: 'violin', chords: 'harp' });
    expect(Object.values(read('jazz with trumpet and vibraphone').players)).toEqual(
      expect.arrayContaining(['trumpet', 'vibraphone']),
    );
    expect(findInstruments('slap bass, an electric guitar and drums')).toEqual([
      'slap bass',
      'clean guitar',
      'drums',
    ]);
  });

  it('a soloist plays alone', () => {
    expect(read('solo piano').players).toEqual({ lead: 'piano', chords: 'piano' });
    expect(read('solo flute').players).toEqual({ lead: 'flute' });
  });

  it.each(['rock without drums', 'rock, no drums', 'rock with no percussion'])('%s has none', (prompt) => {
    expect(read(prompt).players.drums).toBeUndefined();
    expect(read('rock').players.drums).toBe('drums');
  });

  it('a negative prompt takes instruments away, whole families too', () => {
    const players = read('rock', { negativePrompt: 'drums, guitars' }).players;
    expect(players.drums).toBeUndefined();
    expect(Object.values(players).filter((name) => name.endsWith('guitar'))).toEqual([]);
    expect(players.lead).toBeDefined();
  });

  it('a style that is not wanted is not taken', () => {
    expect(read('jazz or techno', { negativePrompt: 'techno' }).style.name).toBe('jazz');
  });

  it('words are sung by a voice, and nobody sings in instrumental music', () => {
    expect(read('pop', { isSung: true, isInstrumental: false }).players.lead).toBe('voice');
    const instrumental = Object.values(read('pop with choir and vocals').players);
    expect(instrumental).not.toContain('voice');
    expect(instrumental).not.toContain('choir');
  });

  it('everybody in a style can play what the style gives them', () => {
    for (const { lead, chords, bass } of styles) {
      for (const name of bass) expect(instrumentOf(name).high - instrumentOf(name).low).toBeGreaterThan(18);
      for (const name of [...lead, ...chords]) expect(instrumentOf(name).high).toBeGreaterThan(65);
    }
  });
});
