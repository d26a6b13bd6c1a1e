/** Writes a song: pure, and the same for the same wish. */
import { createRandom, type Random, toSeed } from '../seed.ts';
import {
  createAccompanist,
  fold,
  type Place,
  playBass,
  playDrums,
  playFill,
  playPad,
  toStroke,
} from './accompaniment.ts';
import { arrange } from './arrange.ts';
import { readBrief } from './brief.ts';
import { type Form, fitForm } from './form.ts';
import { instrumentOf } from './instruments.ts';
import { createSongbook, parseLyrics } from './lyrics.ts';
import { type Bar, composePhrase, createMotif, harmonize, type Motif, type Tone, toNote } from './melody.ts';
import { toBars } from './progression.ts';
import { type Role, roles } from './roles.ts';
import type { Score } from './score.ts';
import { metres, type Note, type Section, type SectionKind, type Song } from './types.ts';

export interface SongWish {
  readonly prompt: string;
  readonly negativePrompt?: string | undefined;
  readonly lyrics?: string | undefined;
  readonly isInstrumental: boolean;
  /** At most. */
  readonly seconds: number;
  readonly seed: number;
  /** Which of several songs for the same seed. */
  readonly index: number;
  /** 0: as plain as it gets, 1: as usual. */
  readonly temperature?: number | undefined;
}

export function composeSong(wish: SongWish): Song {
  const { prompt, negativePrompt, lyrics, isInstrumental, seconds, seed, index, temperature } = wish;
  const own = String(toSeed([prompt, lyrics, seed, index, temperature]));
  const randomFor = (what: string) => createRandom(toSeed([own, what]));
  const verses = isInstrumental || lyrics === undefined ? [] : parseLyrics(lyrics);
  const brief = readBrief(
    { prompt, negativePrompt, isSung: verses.length > 0, isInstrumental },
    randomFor('brief'),
  );
  const form = fitForm({
    seconds,
    bpm: brief.bpm,
    isTempoGiven: brief.isTempoGiven,
    metre: metres[brief.style.metre],
    phraseBars: brief.style.phraseBars,
  });
  const bars = toBars(brief, form, randomFor('harmony'));
  const book = brief.players.lead === 'voice' && verses.length > 0 ? createSongbook(verses) : undefined;
  const score: Score = {
    brief,
    form,
    bars,
    randomFor,
    variation: Math.min(2, temperature ?? 1),
    notes: new Map(),
  };
  const lineCount = verses.reduce((sum, { lines }) => sum + lines.length, 0);
  writeMelody(score, book, chooseBarsPerLine(form, lineCount));
  writeAccompaniment(score);
  writeEnd(score);
  return {
    style: brief.style.name,
    key: brief.key,
    bpm: form.bpm,
    metre: form.metre,
    sections: form.sections,
    tracks: roles.flatMap((role) => arrange(role, score)),
    seconds,
    fadeFrom: form.fadeFrom,
  };
}

function write({ notes }: Score, role: Role, added: readonly Note[]): void {
  const there = notes.get(role);
  if (there === undefined) notes.set(role, [...added]);
  else there.push(...added);
}

/** How loudly a section is played, before accents. */
function velocityOf({ brief }: Score, { energy }: Section): number {
  return 64 + 30 * energy * (0.55 + 0.45 * brief.intensity) + 8 * brief.intensity;
}

const phraseBars = 4;
const sungKinds: readonly SectionKind[] = ['verse', 'chorus', 'bridge'];

/** Two, as in most songs, unless the words would not find room. */
function chooseBarsPerLine({ sections, bpm, metre }: Form, lines: number): 1 | 2 {
  const bars = sections
    .filter(({ kind }) => sungKinds.includes(kind))
    .reduce((sum, each) => sum + each.bars, 0);
  const barSeconds = (metre.beats * 60) / bpm;
  return (lines > bars / 2 && barSeconds > 1.4) || barSeconds > 3 ? 1 : 2;
}

type Songbook = ReturnType<typeof createSongbook>;

function writeMelody(score: Score, book: Songbook | undefined, barsPerLine: 1 | 2): void {
  const { brief, form, bars, randomFor } = score;
  const { key, style, players } = brief;
  const { metre } = form;
  const wish = { key, metre, style, random: randomFor('motif') };
  const verse = createMotif(wish, 0.95);
  const chorus = createMotif(wish, 1.1);
  // A bridge turns the verse's motif around.
  const bridge: Motif = { call: verse.answer, answer: chorus.call };
  const motifs: Partial<Record<SectionKind, Motif>> = { verse, chorus, bridge, solo: chorus, outro: verse };
  for (const section of form.sections) {
    const motif = motifs[section.kind];
    const isOutro = section.kind === 'outro';
    const player = section.kind === 'solo' || isOutro ? (players.counter ?? players.lead) : players.lead;
    const role = player === players.lead ? 'lead' : 'counter';
    if (motif === undefined || player === undefined) continue;
    const range = toRange(player, section.kind);
    const random = randomFor(`melody ${section.kind} ${section.bar}`);
    for (let from = 0; from < section.bars; from += phraseBars) {
      const phrase = bars.slice(section.bar + from, section.bar + Math.min(section.bars, from + phraseBars));
      // What goes out says only the beginning once more.
      if (isOutro && from > 0) break;
      const lines =
        book !== undefined && role === 'lead' && sungKinds.includes(section.kind)
          ? book(section.kind, Math.max(1, Math.floor(phrase.length / barsPerLine)))
          : undefined;
      const isClosing = from + phraseBars >= section.bars;
      const tones = composePhrase({
        ...wish,
        random,
        bars: phrase,
        motif,
        low: range.low,
        high: range.high,
        from: range.centre,
        ending: isClosing || from % (2 * phraseBars) !== 0 ? 'closed' : 'open',
        variation: score.variation * (section.kind === 'solo' ? 0.5 : from === 0 ? 0.06 : 0.2),
        ...(lines === undefined ? {} : { lines }),
      });
      writePhrase(score, section, from, role, tones, phrase);
    }
  }
}

function writePhrase(
  score: Score,
  section: Section,
  from: number,
  role: Role,
  tones: readonly Tone[],
  bars: readonly Bar[],
): void {
  const { metre } = score.form;
  const { counter, lead } = score.brief.players;
  const startBeat = (section.bar + from) * metre.beats;
  const velocity = velocityOf(score, section) + 8;
  const last = tones.at(-1)?.at ?? 1;
  // A phrase swells towards its middle.
  const swell = (tone: Tone) => velocity * (0.94 + 0.1 * Math.sin((Math.PI * tone.at) / Math.max(1, last)));
  write(
    score,
    role,
    tones.map((tone) => toNote(tone, startBeat, metre, swell(tone))),
  );
  if (section.kind !== 'chorus' || counter === undefined || lead === undefined) return;
  const { low, high } = toRange(counter, 'verse');
  const second = harmonize(tones, low - 5, high, bars, metre);
  write(
    score,
    'counter',
    second.map((tone) => toNote(tone, startBeat, metre, velocity - 14)),
  );
}

/** A tenth or so around the middle of what the instrument plays well; a chorus lies higher. */
function toRange(name: Parameters<typeof instrumentOf>[0], kind: SectionKind) {
  const { low, high } = instrumentOf(name);
  const lift = kind === 'chorus' || kind === 'solo' ? 3 : 0;
  const centre = Math.min(
    high - 9,
    Math.max(low + 8, (name === 'voice' || name === 'choir' ? 65 : 70) + lift),
  );
  return { low: Math.max(low, centre - 8), high: Math.min(high, centre + 9), centre };
}

function writeAccompaniment(score: Score): void {
  const { brief, form, bars, randomFor } = score;
  const { style, players, intensity } = brief;
  const { metre } = form;
  const chordCentre =
    players.chords === undefined ? 60 : centreFor(players.chords, players.lead === players.chords ? 55 : 60);
  const accompany = createAccompanist(chordCentre);
  const drumRandom = randomFor('drums');
  for (const section of form.sections) {
    if (section.kind === 'end') continue;
    const velocity = velocityOf(score, section);
    const isFull = section.energy * (0.6 + 0.4 * intensity) > 0.52;
    for (let bar = section.bar; bar < section.bar + section.bars; bar++) {
      const place: Place = {
        bar: bars[bar] ?? [],
        next: bars[bar + 1],
        startBeat: bar * metre.beats,
        metre,
        velocity,
      };
      const pattern = isFull ? 1 : 0;
      const layers = layersOf(section, bar - section.bar, form);
      if (players.chords !== undefined) {
        write(score, 'chords', accompany(style.figures[pattern], { ...place, velocity: velocity - 8 }));
      }
      if (players.bass !== undefined && layers.bass) {
        write(score, 'bass', playBass(style.basslines[pattern], place, bassLow(players.bass)));
      }
      if (players.drums !== undefined && layers.drums) {
        write(
          score,
          'drums',
          playDrumBar(score, section, bar, { ...place, velocity: velocity + 2 }, drumRandom, pattern),
        );
      }
    }
    if (players.pad !== undefined && layersOf(section, 0, form).pad) {
      const stretch = bars.slice(section.bar, section.bar + section.bars);
      write(
        score,
        'pad',
        playPad(stretch, section.bar * metre.beats, metre, centreFor(players.pad, 62), velocity - 18),
      );
    }
  }
}

function playDrumBar(
  score: Score,
  section: Section,
  bar: number,
  place: Place,
  random: Random,
  pattern: 0 | 1,
): Note[] {
  const grooves = score.brief.style.grooves ?? plainGrooves;
  const isFirst = bar === section.bar;
  const isLast = bar === section.bar + section.bars - 1;
  const groove = playDrums(grooves[pattern], place, random);
  const fillsAt = place.startBeat + place.metre.beats - (place.metre.beats > 2 ? 2 : 1);
  const hasFill = isLast && section.bars > 1 && score.brief.intensity > 0.35;
  const kept = hasFill ? groove.filter(({ at }) => at < fillsAt) : groove;
  const crash = isFirst && pattern === 1 ? [toStroke('crash', place.startBeat, place.velocity)] : [];
  return [...kept, ...crash, ...(hasFill ? playFill(place, random) : [])];
}

const plainGrooves = [{ rim: '....x...' }, { kick: 'x.......', rim: '....x...', hat: 'x.x.x.x.' }] as const;

/** An introduction begins with little, and the others come in; where there is nothing but one, it has everything. */
function layersOf({ kind, bars }: Section, bar: number, { sections }: Form) {
  const isShort = sections.length <= 2;
  if (kind === 'intro') {
    const isComing = isShort || (bars > 1 && bar >= bars / 2);
    return { bass: isComing, drums: isComing, pad: true };
  }
  if (kind === 'outro') return { bass: true, drums: bar < bars / 2, pad: true };
  return { bass: true, drums: true, pad: kind !== 'verse' || isShort };
}

function centreFor(name: Parameters<typeof instrumentOf>[0], wanted: number): number {
  const { low, high } = instrumentOf(name);
  return Math.min(high - 9, Math.max(low + 9, wanted));
}

function bassLow(name: Parameters<typeof instrumentOf>[0]): number {
  return Math.max(28, instrumentOf(name).low);
}

/** The last chord: everybody holds it, the drums strike once. */
function writeEnd(score: Score): void {
  const { brief, form, bars } = score;
  const { players, key } = brief;
  const end = form.sections.at(-1);
  const chord = bars.at(-1)?.[0]?.chord;
  if (end === undefined || chord === undefined) return;
  const at = end.bar * form.metre.beats;
  const beats = form.lastBeats;
  const velocity = velocityOf(score, end) + 6;
  const accompany = createAccompanist(players.chords === undefined ? 60 : centreFor(players.chords, 58));
  const place: Place = {
    bar: bars.at(-1) ?? [],
    next: undefined,
    startBeat: at,
    metre: form.metre,
    velocity,
  };
  // One after the other, as a hand rolls it.
  const rolled = accompany('x', place).filter((note) => note.at === at);
  if (players.chords !== undefined) {
    write(
      score,
      'chords',
      rolled.map((note, index) => ({ ...note, at: at + index * 0.06, beats: beats - index * 0.06 })),
    );
  }
  const hold = (role: Role, pitch: number, softer = 0) =>
    write(score, role, [{ at, beats, pitch, velocity: velocity - softer }]);
  if (players.bass !== undefined)
    hold('bass', fold(chord.root + 36, bassLow(players.bass), bassLow(players.bass) + 14));
  if (players.pad !== undefined) {
    for (const { pitch } of rolled) hold('pad', pitch, 18);
  }
  if (players.lead !== undefined) {
    const { low, high } = toRange(players.lead, 'verse');
    hold('lead', fold(key.tonic + 60, low, Math.max(high, low + 12)));
  }
  if (players.drums !== undefined) {
    write(score, 'drums', [toStroke('crash', at, velocity), toStroke('kick', at, velocity)]);
  }
}
