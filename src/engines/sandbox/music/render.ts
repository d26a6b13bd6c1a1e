/** The studio's part of the sandbox's music: writes the song and plays it, half a second at a time. */
import { setImmediate } from 'node:timers/promises';
import type { Render } from '../../contract/studio.ts';
import { composeSong, type SongWish } from './compose.ts';
import { createLimiter } from './limiter.ts';
import type { Orchestra } from './orchestra.ts';
import { createPerformance } from './performance.ts';
import { createSoundfontOrchestra, readSoundBank } from './soundfont.ts';
import { createSynthesizer } from './synthesizer.ts';
import type { Song } from './types.ts';

export interface MusicOrder {
  readonly wish: SongWish;
  readonly sampleRate: number;
  readonly channels: 1 | 2;
}

export const partSeconds = 0.5;
const ceiling = 0.94;
/** -14 dB of full scale in the fullest section. */
const wantedLoudness = 0.2;
/** Peaks are brought down by no more than this: what is mostly peaks is left softer. */
const mostLimiting = 1.7;
const probeSeconds = 3;

/** With the bytes of a SoundFont as its input it plays recorded instruments, without them its own. */
export const render: Render<MusicOrder, void> = async ({ wish, sampleRate, channels }, inputs, stage) => {
  const song = composeSong(wish);
  const hire = createHall(inputs[0], sampleRate);
  const gain = await measure(song, await hire(), sampleRate, () => stage.throwIfStopped());
  stage.throwIfStopped();
  const performance = createPerformance(song, await hire(), sampleRate);
  const limiter = createLimiter(sampleRate, ceiling);
  const frames = Math.floor(song.seconds * sampleRate);
  const partFrames = Math.round(partSeconds * sampleRate);
  const fade = { from: Math.round(song.fadeFrom * sampleRate), to: frames };
  // The limiter's look-ahead would begin the song with some milliseconds of nothing.
  let late = limiter.delayFrames;
  for (let at = 0; at < frames; ) {
    stage.throwIfStopped();
    const count = Math.min(partFrames, frames - at);
    const left = new Float32Array(count + late);
    const right = new Float32Array(count + late);
    performance.play(left, right);
    for (const side of [left, right]) for (let frame = 0; frame < side.length; frame++) side[frame]! *= gain;
    limiter.process(left, right);
    await stage.emit(toBytes(left.subarray(late), right.subarray(late), at, fade, channels));
    late = 0;
    at += count;
  }
};

/** The recordings are read once, for the rehearsal and for the performance. */
function createHall(soundfont: Buffer | undefined, sampleRate: number): () => Promise<Orchestra> {
  if (soundfont === undefined) return async () => createSynthesizer(sampleRate);
  const bank = readSoundBank(soundfont);
  return () => createSoundfontOrchestra(bank, sampleRate);
}

/** A rehearsal of the fullest section: how loudly it has to be played to be as loud as it shall be. */
async function measure(
  song: Song,
  orchestra: Orchestra,
  sampleRate: number,
  check: () => void,
): Promise<number> {
  const fullest = song.sections.reduce((best, each) => (each.energy > best.energy ? each : best));
  const performance = createPerformance(song, orchestra, sampleRate, fullest.bar * song.metre.beats);
  const left = new Float32Array(sampleRate / 2);
  const right = new Float32Array(sampleRate / 2);
  let power = 0;
  let peak = 0;
  let count = 0;
  for (let seconds = 0; seconds < Math.min(probeSeconds, song.seconds); seconds += 0.5) {
    await setImmediate();
    check();
    performance.play(left, right);
    for (let frame = 0; frame < left.length; frame++) {
      const [a, b] = [left[frame] ?? 0, right[frame] ?? 0];
      power += (a * a + b * b) / 2;
      peak = Math.max(peak, Math.abs(a), Math.abs(b));
    }
    count += left.length;
  }
  const loudness = Math.sqrt(power / Math.max(1, count));
  if (loudness === 0) return 1;
  return Math.min(wantedLoudness / loudness, mostLimiting / peak);
}

function toBytes(
  left: Float32Array,
  right: Float32Array,
  at: number,
  fade: { from: number; to: number },
  channels: 1 | 2,
): Buffer {
  const samples = new Int16Array(left.length * channels);
  for (let frame = 0; frame < left.length; frame++) {
    const away = (fade.to - at - frame - 1) / (fade.to - fade.from);
    // A curve that the ear takes for an even fall.
    const level = 32_767 * (away >= 1 ? 1 : away ** 2);
    const [a, b] = [left[frame] ?? 0, right[frame] ?? 0];
    if (channels === 1) samples[frame] = Math.round(((a + b) / 2) * level);
    else {
      samples[frame * 2] = Math.round(a * level);
      samples[frame * 2 + 1] = Math.round(b * level);
    }
  }
  return Buffer.from(samples.buffer);
}
