import { describe, expect, it } from 'vitest';
import { composeSong, type SongWish } from './compose.ts';
import { instrumentOf } from './instruments.ts';
import type { Role } from './roles.ts';
import { styles } from './styles/index.ts';
import { modulo, scales } from './theory.ts';
import type { Song, Track } from './types.ts';

function compose(prompt: string, changes: Partial<SongWish> = {}): Song {
  return composeSong({ prompt, isInstrumental: true, seconds: 30, seed: 1, index: 0, ...changes });
}

const trackOf = ({ tracks }: Song, role: Role) => tracks.find((track) => track.role === role);
const beatsOf = ({ fadeFrom, bpm }: Song) => (fadeFrom * bpm) / 60;

function findUnplayable({ instrument, notes, role }: Track, lastBeat: number): string[] {
  const { low, high } = instrumentOf(instrument);
  const sounding = new Map<number, number>();
  return notes.flatMap(({ at, beats, pitch, velocity }) => {
    const isPlayable =
      at >= (sounding.get(pitch) ?? 0) &&
      beats > 0 &&
      at + beats < lastBeat + 0.5 &&
      velocity > 0 &&
      velocity < 128 &&
      (role === 'drums' || (pitch >= low && pitch <= high));
    sounding.set(pitch, at + beats);
    return isPlayable ? [] : [`${instrument} ${pitch} at ${at} for ${beats}`];
  });
}

describe('a song', () => {
  it('is the same for the same wish, and another for another seed, number, prompt or words', () => {
    const first = compose('folk song', { isInstrumental: false, lyrics: 'one two three' });
    expect(compose('folk song', { isInstrumental: false, lyrics: 'one two three' })).toEqual(first);
    const others: [string, Partial<SongWish>][] = [
      ['folk song', { seed: 2 }],
      ['folk song', { index: 1 }],
      ['a folk song', {}],
      ['folk song', { lyrics: 'four five six' }],
      ['folk song', { temperature: 0.2 }],
    ];
    for (const [prompt, changes] of others)
      expect(
        compose(prompt, { isInstrumental: false, lyrics: 'one two three', ...changes }).tracks,
      ).not.toEqual(first.tracks);
  });

  it.each(styles.map(({ name, words }) => [name, words[0] ?? name] as const))(
    '%s is playable: in range, in time, and no tone is struck while it sounds',
    (_name, word) => {
      for (const seconds of [5, 30, 240]) {
        const song = compose(word, { seconds, seed: seconds });
        expect(song.tracks.length).toBeGreaterThan(1);
        for (const track of song.tracks) expect(findUnplayable(track, beatsOf(song))).toEqual([]);
      }
    },
  );

  it('has few enough tones at once: a melody has one, chords a handful', () => {
    for (const { words } of styles) {
      const song = compose(words[0] ?? '');
      for (const { role, notes } of song.tracks) {
        const most = { lead: 1, counter: 2, chords: 10, pad: 10, bass: 2, drums: 8 }[role];
        const together = notes.map(
          ({ at }) => notes.filter((note) => note.at <= at && note.at + note.beats > at + 1e-9).length,
        );
        expect(Math.max(...together), `${song.style} ${role}`).toBeLessThanOrEqual(most);
      }
    }
  });

  it('is in its key: melodies keep to the scale but for tones of the chords', () => {
    for (const prompt of ['folk in G major', 'pop in A minor', 'lullaby in F major', 'celtic in D dorian']) {
      const song = compose(prompt, { seconds: 60 });
      const scale = scales[song.key.mode].map((step) => modulo(step + song.key.tonic, 12));
      const notes = trackOf(song, 'lead')?.notes ?? [];
      const inKey = notes.filter(({ pitch }) => scale.includes(pitch % 12)).length;
      expect(inKey / notes.length).toBeGreaterThan(0.85);
    }
  });

  it('ends on its tonic, with everybody', () => {
    for (const { words } of styles) {
      const song = compose(words[0] ?? '');
      const end = song.sections.at(-1)!;
      const endBeat = end.bar * song.metre.beats;
      const lead = trackOf(song, 'lead')?.notes.at(-1);
      expect((lead?.pitch ?? 0) % 12).toBe(song.key.tonic);
      expect(lead?.at).toBeGreaterThan(endBeat - 0.1);
      const bass = trackOf(song, 'bass')?.notes.at(-1);
      if (bass !== undefined) expect(bass.pitch % 12).toBe(song.key.tonic);
    }
  });

  it('has motifs that come back: verses begin alike, choruses are another tune', () => {
    const song = compose('pop', { seconds: 120, temperature: 0 });
    const opening = (bar: number) =>
      (trackOf(song, 'lead')?.notes ?? [])
        .filter(({ at }) => Math.floor(at / 4 + 0.05) === bar)
        .map(({ pitch }) => pitch);
    const starts = (kind: string) => song.sections.filter((each) => each.kind === kind).map(({ bar }) => bar);
    const [first = 0, second = 0] = starts('verse');
    expect(second).toBeGreaterThan(first);
    expect(opening(second)).toEqual(opening(first));
    expect(opening(starts('chorus')[0] ?? 0)).not.toEqual(opening(first));
  });

  it('has sections that differ: more is going on in a chorus than in an introduction', () => {
    const song = compose('rock', { seconds: 60 });
    const busy = (kind: string) => {
      const section = song.sections.find((each) => each.kind === kind)!;
      const [from, to] = [section.bar * 4, (section.bar + section.bars) * 4];
      const notes = song.tracks.flatMap((track) => track.notes).filter(({ at }) => at >= from && at < to);
      return notes.length / section.bars;
    };
    expect(busy('chorus')).toBeGreaterThan(busy('verse'));
    expect(busy('verse')).toBeGreaterThan(busy('intro'));
  });

  it('follows the prompt: tempo, key, metre, drums or none', () => {
    const song = compose('waltz in B minor, 150 bpm');
    expect(song).toMatchObject({ bpm: 150, key: { tonic: 11, mode: 'minor' }, metre: { name: '3/4' } });
    expect(trackOf(compose('techno'), 'drums')?.notes.length).toBeGreaterThan(50);
    expect(trackOf(compose('techno, no drums'), 'drums')).toBeUndefined();
    expect(trackOf(compose('techno', { negativePrompt: 'drums' }), 'drums')).toBeUndefined();
  });
});

describe('words', () => {
  const lyrics =
    '[Verse]\nOver the hills and far away\nI hear the river singing\n[Chorus]\nCarry me home tonight';
  const words = 'pop song';

  it('are sung: one note for every syllable, in order', () => {
    const song = compose(words, { lyrics, isInstrumental: false, seconds: 60 });
    const lead = trackOf(song, 'lead');
    expect(lead?.instrument).toBe('voice');
    const sung = lead?.notes.filter(({ syllable }) => syllable !== undefined) ?? [];
    expect(sung.slice(0, 8).map(({ syllable }) => syllable)).toEqual([
      'O',
      'ver',
      'the',
      'hills',
      'and',
      'far',
      'a',
      'way',
    ]);
    expect(sung.length).toBeGreaterThan(20);
  });

  it('shape the rhythm: another line has other notes', () => {
    const rhythm = (line: string) =>
      trackOf(compose(words, { lyrics: line, isInstrumental: false }), 'lead')!
        .notes.slice(0, 4)
        .map(({ beats }) => Math.round(beats * 2));
    expect(rhythm('one two three')).not.toEqual(rhythm('one two three four five six seven eight nine ten'));
  });

  it('no syllable is lost where there are many', () => {
    const line = 'la '.repeat(20).trim();
    const song = compose('ambient', { lyrics: line, isInstrumental: false, seconds: 40 });
    const sung = trackOf(song, 'lead')?.notes.filter(({ syllable }) => syllable !== undefined) ?? [];
    expect(sung.length % 20).toBe(0);
    expect(sung.length).toBeGreaterThan(0);
  });

  it('are left alone in instrumental music', () => {
    const song = compose(words, { lyrics, isInstrumental: true });
    expect(song.tracks.flatMap(({ notes }) => notes).some(({ syllable }) => syllable !== undefined)).toBe(
      false,
    );
    expect(song.tracks.map(({ instrument }) => instrument)).not.toContain('voice');
  });
});
