/** Makes a part of what was written for a role: swung, played by a person, within the instrument's range. */
import type { Random } from '../seed.ts';
import { fold } from './accompaniment.ts';
import { type Instrument, instrumentOf } from './instruments.ts';
import type { Role } from './roles.ts';
import type { Score } from './score.ts';
import type { Note, Track } from './types.ts';

const mix: Readonly<Record<Role, { volume: number; pan: number; reverb: number }>> = {
  lead: { volume: 0.9, pan: 0.12, reverb: 1 },
  counter: { volume: 0.6, pan: 0.45, reverb: 1 },
  chords: { volume: 0.6, pan: -0.35, reverb: 0.8 },
  pad: { volume: 0.42, pan: -0.1, reverb: 1.2 },
  bass: { volume: 0.75, pan: 0, reverb: 0.15 },
  drums: { volume: 0.6, pan: 0, reverb: 0.4 },
};

/** None, where nobody plays it or there is nothing to play. */
export function arrange(role: Role, score: Score): Track[] {
  const { brief, form, notes, randomFor } = score;
  const name = brief.players[role];
  const written = notes.get(role);
  if (name === undefined || written === undefined || written.length === 0) return [];
  const instrument = instrumentOf(name);
  const { volume, pan, reverb } = mix[role];
  const play = createPlayer(score, role, instrument, randomFor(`play ${role}`), form.bpm);
  const played = written.map(play).sort((a, b) => a.at - b.at || a.pitch - b.pitch);
  return [
    {
      role,
      instrument: name,
      program: role === 'drums' ? brief.style.kit : instrument.program,
      volume,
      pan,
      reverb: Math.min(1, reverb * brief.reverb),
      notes: separate(played, role === 'lead'),
    },
  ];
}

/** A person is a few thousandths of a second off. */
const offSeconds = 0.009;

function createPlayer(
  { brief }: Score,
  role: Role,
  instrument: Instrument,
  random: Random,
  bpm: number,
): (note: Note) => Note {
  const { swing, looseness } = brief.style;
  const off = (offSeconds * looseness * bpm) / 60;
  return (note) => {
    const at = swung(note.at, swing);
    const end = swung(note.at + note.beats, swing);
    return {
      ...note,
      at: Math.max(0, at + (random.next() - 0.5) * 2 * off * (role === 'drums' ? 0.4 : 1)),
      beats: Math.max(0.06, end - at),
      pitch: role === 'drums' ? note.pitch : fold(note.pitch, instrument.low, instrument.high),
      velocity: Math.round(
        Math.min(124, Math.max(22, note.velocity + (random.next() - 0.5) * 10 * looseness)),
      ),
    };
  };
}

/** The first half of each beat is stretched, the second one shortened. */
function swung(beat: number, swing: number): number {
  const whole = Math.floor(beat);
  const part = beat - whole;
  if (part < 0.5) return whole + part * (1 + 2 * swing);
  return whole + 0.5 + swing + (part - 0.5) * (1 - 2 * swing);
}

const gapBeats = 0.01;
const shortestBeats = 0.04;

/** No tone is struck while it sounds, and a lead has one voice. */
function separate(notes: readonly Note[], isAlone: boolean): Note[] {
  const last = new Map<number, Note>();
  const kept: Note[] = [];
  for (const note of notes) {
    const voice = isAlone ? 0 : note.pitch;
    const before = last.get(voice);
    if (before !== undefined && before.at + before.beats > note.at - gapBeats) {
      const room = note.at - gapBeats - before.at;
      // Two that were to be struck at once are one.
      if (room < shortestBeats) continue;
      before.beats = room;
    }
    last.set(voice, note);
    kept.push(note);
  }
  return kept;
}
