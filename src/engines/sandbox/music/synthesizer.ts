/** An orchestra that needs no recordings: overtones, envelopes, noise and a little room. */
import { makeDrum } from './drum-kit.ts';
import { instrumentOf } from './instruments.ts';
import { drumChannel, type Orchestra } from './orchestra.ts';
import { createRoom } from './room.ts';
import { type Colour, colours } from './timbres.ts';
import type { Track } from './types.ts';

interface Seat {
  readonly colour: Colour;
  readonly left: number;
  readonly right: number;
  readonly reverb: number;
}

const longestStretch = 128;
const silence = 0.0003;
const loudness = 0.22;

export function createSynthesizer(sampleRate: number): Orchestra {
  const seats = new Map<number, Seat>();
  const voices = new Set<Voice>();
  const room = createRoom(sampleRate);
  const tables = createTables(sampleRate);
  const drums = new Map<number, Float32Array>();
  const dry = new Float32Array(longestStretch);
  const sent = new Float32Array(longestStretch);

  function drum(pitch: number): Float32Array {
    const made = drums.get(pitch) ?? makeDrum(pitch, sampleRate);
    drums.set(pitch, made);
    return made;
  }

  return {
    seat: (channel, track) => seats.set(channel, toSeat(track)),
    noteOn(channel, pitch, velocity) {
      const seat = seats.get(channel);
      if (seat === undefined) return;
      // As loud recordings are: by the square.
      const level = (velocity / 127) ** 2;
      const voice =
        channel === drumChannel
          ? new DrumVoice(seat, channel, pitch, level * 1.3, drum(pitch))
          : new ToneVoice(seat, channel, pitch, level, tables(seat.colour, pitch), sampleRate);
      voices.add(voice);
    },
    noteOff(channel, pitch) {
      for (const voice of voices) if (voice.channel === channel && voice.pitch === pitch) voice.release();
    },
    play(left, right, from, count) {
      left.fill(0, from, from + count);
      right.fill(0, from, from + count);
      sent.fill(0);
      for (const voice of voices) {
        dry.fill(0);
        if (!voice.play(dry, count)) voices.delete(voice);
        const { left: toLeft, right: toRight, reverb } = voice.seat;
        for (let index = 0; index < count; index++) {
          const sample = (dry[index] ?? 0) * loudness;
          left[from + index] = (left[from + index] ?? 0) + sample * toLeft;
          right[from + index] = (right[from + index] ?? 0) + sample * toRight;
          sent[index] = (sent[index] ?? 0) + sample * reverb;
        }
      }
      room.add(sent, left, right, from, count);
    },
  };
}

function toSeat({ instrument, volume, pan, reverb }: Track): Seat {
  const angle = ((pan + 1) * Math.PI) / 4;
  return {
    colour: colours[instrumentOf(instrument).timbre],
    left: Math.cos(angle) * volume,
    right: Math.sin(angle) * volume,
    reverb: reverb * volume * 0.8,
  };
}

interface Voice {
  readonly seat: Seat;
  readonly channel: number;
  readonly pitch: number;
  release(): void;
  /** Adds its next samples; false when it has fallen silent. */
  play(into: Float32Array, count: number): boolean;
}

class DrumVoice implements Voice {
  readonly seat: Seat;
  readonly channel: number;
  readonly pitch: number;
  readonly #level: number;
  readonly #samples: Float32Array;
  #at = 0;

  constructor(seat: Seat, channel: number, pitch: number, level: number, samples: Float32Array) {
    this.seat = seat;
    this.channel = channel;
    this.pitch = pitch;
    this.#level = level;
    this.#samples = samples;
  }

  /** A drum rings as long as it does. */
  release(): void {}

  play(into: Float32Array, count: number): boolean {
    for (let index = 0; index < count; index++) {
      into[index] = (into[index] ?? 0) + (this.#samples[this.#at + index] ?? 0) * this.#level;
    }
    this.#at += count;
    return this.#at < this.#samples.length;
  }
}

interface Tables {
  readonly bright: Float32Array;
  readonly dull: Float32Array;
}

const tableSize = 2_048;
const vibratoHertz = 5.2;

class ToneVoice implements Voice {
  readonly seat: Seat;
  readonly channel: number;
  readonly pitch: number;
  readonly #tables: Tables;
  readonly #turn: number;
  readonly #rate: number;
  readonly #level: number;
  #phase = 0;
  #second = tableSize / 3;
  #age = 0;
  #envelope = 0;
  #isAttacking = true;
  #isReleased = false;

  constructor(seat: Seat, channel: number, pitch: number, level: number, tables: Tables, sampleRate: number) {
    this.seat = seat;
    this.channel = channel;
    this.pitch = pitch;
    this.#tables = tables;
    this.#rate = sampleRate;
    this.#turn = (toHertz(pitch) * tableSize) / sampleRate;
    this.#level = level * seat.colour.gain;
  }

  release(): void {
    this.#isReleased = true;
  }

  play(into: Float32Array, count: number): boolean {
    const { colour } = this.seat;
    const { attackSeconds, decaySeconds, releaseSeconds, sustain, detune, vibrato, brightness } = colour;
    const rate = this.#rate;
    const rise = 1 / Math.max(1, attackSeconds * rate);
    const fall = 1 - Math.exp(-1 / (decaySeconds * rate));
    const end = 1 - Math.exp(-1 / (releaseSeconds * 0.4 * rate));
    const seconds = this.#age / rate;
    // Nobody begins a tone with vibrato.
    const sway = vibrato * Math.min(1, seconds * 2) * Math.sin(2 * Math.PI * vibratoHertz * seconds);
    const turn = this.#turn * (1 + sway);
    const dulled = (1 - brightness) * (1 - Math.exp(-seconds / (decaySeconds * 0.5)));
    for (let index = 0; index < count; index++) {
      if (this.#isReleased) this.#envelope -= this.#envelope * end;
      else if (this.#isAttacking) {
        this.#envelope += rise;
        if (this.#envelope >= 1) this.#isAttacking = false;
      } else this.#envelope += (sustain - this.#envelope) * fall;
      this.#phase = advance(this.#phase, turn);
      let value = this.#read(this.#phase, dulled);
      if (detune > 0) {
        this.#second = advance(this.#second, turn * (1 + detune));
        value = (value + this.#read(this.#second, dulled)) * 0.7;
      }
      into[index] = (into[index] ?? 0) + value * this.#envelope * this.#level;
    }
    this.#age += count;
    return this.#isAttacking || this.#envelope > silence;
  }

  #read(phase: number, dulled: number): number {
    const at = phase | 0;
    const part = phase - at;
    const next = (at + 1) & (tableSize - 1);
    const { bright, dull } = this.#tables;
    const high = (bright[at] ?? 0) * (1 - part) + (bright[next] ?? 0) * part;
    if (dulled <= 0) return high;
    const low = (dull[at] ?? 0) * (1 - part) + (dull[next] ?? 0) * part;
    return high + (low - high) * dulled;
  }
}

function advance(phase: number, turn: number): number {
  const next = phase + turn;
  return next >= tableSize ? next - tableSize : next;
}

function toHertz(pitch: number): number {
  return 440 * 2 ** ((pitch - 69) / 12);
}

/** Neighbouring pitches share their tables: a third of an octave is too little to hear a difference. */
const sharedPitches = 4;
const mostOvertones = 24;

function createTables(sampleRate: number): (colour: Colour, pitch: number) => Tables {
  const made = new Map<Colour, Map<number, Tables>>();
  return (colour, pitch) => {
    const group = Math.floor(pitch / sharedPitches);
    const own = made.get(colour) ?? new Map<number, Tables>();
    made.set(colour, own);
    const tables = own.get(group) ?? makeTables(colour, toHertz((group + 1) * sharedPitches), sampleRate);
    own.set(group, tables);
    return tables;
  };
}

function makeTables({ overtone }: Colour, hertz: number, sampleRate: number): Tables {
  const bright = new Float32Array(tableSize);
  const dull = new Float32Array(tableSize);
  let power = 0;
  for (let number = 1; number <= mostOvertones && number * hertz < sampleRate * 0.45; number++) {
    const strength = overtone(number, number * hertz);
    if (strength === 0) continue;
    power += strength ** 2;
    for (let index = 0; index < tableSize; index++) {
      const value = strength * Math.sin((2 * Math.PI * number * index) / tableSize);
      bright[index] = (bright[index] ?? 0) + value;
      dull[index] = (dull[index] ?? 0) + value / number;
    }
  }
  const scale = 1 / Math.sqrt(Math.max(power, 0.01));
  for (let index = 0; index < tableSize; index++) {
    bright[index] = (bright[index] ?? 0) * scale;
    dull[index] = (dull[index] ?? 0) * scale;
  }
  return { bright, dull };
}
