/** Who turns notes into sound. */
import type { Track } from './types.ts';

export interface Orchestra {
  /** Before its first note. */
  seat(channel: number, track: Track): void;
  noteOn(channel: number, pitch: number, velocity: number): void;
  noteOff(channel: number, pitch: number): void;
  /** The next frames, written over what stands there; at most 128 at a time. */
  play(left: Float32Array, right: Float32Array, from: number, count: number): void;
}

/** Where General MIDI has the drums. */
export const drumChannel = 9;
