/** Plays a song on an orchestra, a stretch at a time: notes begin and end when they should, to a millisecond. */
import { drumChannel, type Orchestra } from './orchestra.ts';
import type { Song } from './types.ts';

interface Moment {
  readonly frame: number;
  readonly channel: number;
  readonly pitch: number;
  /** 0 ends the note. */
  readonly velocity: number;
}

export interface Performance {
  /** The next frames: as many as the arrays hold. */
  play(left: Float32Array, right: Float32Array): void;
}

/** Notes are moved to the next of these: fewer, longer stretches are quicker. */
const quantum = 32;
const longestStretch = 128;

export function createPerformance(
  song: Song,
  orchestra: Orchestra,
  sampleRate: number,
  fromBeat = 0,
): Performance {
  const moments = toMoments(song, sampleRate, fromBeat);
  song.tracks.forEach((track, index) => {
    orchestra.seat(channelOf(track.role, index), track);
  });
  let frame = 0;
  let next = 0;

  function startMoments(): void {
    for (let moment = moments[next]; moment !== undefined && moment.frame <= frame; moment = moments[next]) {
      next += 1;
      const { channel, pitch, velocity } = moment;
      if (velocity === 0) orchestra.noteOff(channel, pitch);
      else orchestra.noteOn(channel, pitch, velocity);
    }
  }

  return {
    play(left, right) {
      for (let done = 0; done < left.length; ) {
        startMoments();
        const until = (moments[next]?.frame ?? Number.POSITIVE_INFINITY) - frame;
        const count = Math.min(longestStretch, left.length - done, until);
        orchestra.play(left, right, done, count);
        done += count;
        frame += count;
      }
    },
  };
}

function channelOf(role: string, index: number): number {
  return role === 'drums' ? drumChannel : index;
}

function toMoments({ tracks, bpm }: Song, sampleRate: number, fromBeat: number): Moment[] {
  const toFrame = (beat: number) =>
    Math.round((((beat - fromBeat) * 60) / bpm) * (sampleRate / quantum)) * quantum;
  const moments = tracks.flatMap(({ role, notes }, index) =>
    notes
      .filter(({ at }) => at >= fromBeat - 0.05)
      .flatMap(({ at, beats, pitch, velocity }) => {
        const channel = channelOf(role, index);
        const start = Math.max(0, toFrame(at));
        return [
          { frame: start, channel, pitch, velocity },
          { frame: Math.max(start + quantum, toFrame(at + beats)), channel, pitch, velocity: 0 },
        ];
      }),
  );
  // What ends makes room for what begins.
  return moments.sort(
    (a, b) => a.frame - b.frame || a.velocity - b.velocity || a.channel - b.channel || a.pitch - b.pitch,
  );
}
