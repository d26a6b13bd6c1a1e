/** A piece of music as it is written down: who plays what when. Times are beats; the tempo does not change. */
import type { InstrumentName } from './instruments.ts';
import type { Role } from './roles.ts';
import type { Key } from './theory.ts';

/** `division`: the steps of a beat, 4 where beats are halved and 3 where they have three parts. */
export interface Metre {
  readonly name: MetreName;
  readonly beats: number;
  readonly division: 3 | 4;
}

export type MetreName = '4/4' | '3/4' | '6/8' | '12/8' | '2/4';

export interface Note {
  /** In beats from the start. */
  at: number;
  beats: number;
  /** As in MIDI: 60 is the middle C. For drums it says which. */
  pitch: number;
  /** 1 to 127. */
  velocity: number;
  /** What is sung on it. */
  syllable?: string;
}

export interface Track {
  readonly role: Role;
  readonly instrument: InstrumentName;
  /** Of General MIDI; on the drums the number of a kit. */
  readonly program: number;
  /** 0 to 1. */
  readonly volume: number;
  /** -1 is left, 1 is right. */
  readonly pan: number;
  /** 0 to 1. */
  readonly reverb: number;
  /** By time. No two of the same pitch sound at once. */
  readonly notes: readonly Note[];
}

export const sectionKinds = ['intro', 'verse', 'chorus', 'bridge', 'solo', 'outro', 'end'] as const;
export type SectionKind = (typeof sectionKinds)[number];

export interface Section {
  readonly kind: SectionKind;
  /** From 0. */
  readonly bar: number;
  readonly bars: number;
  /** How much is going on, 0 to 1. */
  readonly energy: number;
}

export interface Song {
  readonly style: string;
  readonly key: Key;
  readonly bpm: number;
  readonly metre: Metre;
  readonly sections: readonly Section[];
  readonly tracks: readonly Track[];
  /** When the last sound has died away, at the latest. */
  readonly seconds: number;
  /** When it begins to die away. */
  readonly fadeFrom: number;
}

export const metres: Readonly<Record<MetreName, Metre>> = {
  '4/4': { name: '4/4', beats: 4, division: 4 },
  '3/4': { name: '3/4', beats: 3, division: 4 },
  '2/4': { name: '2/4', beats: 2, division: 4 },
  '6/8': { name: '6/8', beats: 2, division: 3 },
  '12/8': { name: '12/8', beats: 4, division: 3 },
};
