/** The sound of a film: a short piece of music that fits the prompt, what the place sounds like, and sounds that were sent. */
import type { Stage } from '../../contract/studio.ts';
import { createLimiter } from '../music/limiter.ts';
import { render as renderMusic } from '../music/render.ts';
import type { Scene } from '../picture/scene.ts';
import { addAmbience } from './ambience.ts';

export const filmSampleRate = 48_000;
const channels = 2;
const ceiling = 0.89;
const [fadeInSeconds, fadeOutSeconds] = [0.04, 0.6];
const musicLevel = 0.8;
/** Where there is something to listen to, music stays behind it. */
const musicBehindSounds = 0.3;
const soundLevel = 0.9;

export interface SoundtrackParts {
  readonly prompt: string;
  readonly seed: number;
  readonly filmSeed: bigint;
  readonly seconds: number;
  readonly scene: Scene;
  /** Files with sound in them. */
  readonly sounds: readonly Buffer[];
  readonly stage: Stage;
}

/** 16 bit, interleaved stereo, just as long as the film. */
export async function makeSoundtrack(parts: SoundtrackParts): Promise<Int16Array> {
  const { seconds, scene, sounds, stage, filmSeed } = parts;
  const frames = Math.round(seconds * filmSampleRate);
  const left = new Float32Array(frames);
  const right = new Float32Array(frames);
  const music = await playMusic(parts);
  add(left, right, music, sounds.length > 0 ? musicBehindSounds : musicLevel);
  addAmbience(left, right, filmSampleRate, scene, filmSeed);
  for (const bytes of sounds) {
    stage.throwIfStopped();
    const options = { sampleRate: filmSampleRate, maxSeconds: seconds };
    add(left, right, await stage.tools.readSound(bytes, options), soundLevel / sounds.length);
  }
  return toSamples(left, right);
}

/** The song's own process of composing, playing and levelling, into memory instead of a job. */
async function playMusic({ prompt, seed, seconds, stage }: SoundtrackParts): Promise<Int16Array> {
  const parts: Uint8Array[] = [];
  const wish = { prompt, isInstrumental: true, seconds, seed, index: 0 };
  const order = { wish, sampleRate: filmSampleRate, channels } as const;
  await renderMusic(order, [], {
    tools: stage.tools,
    throwIfStopped: () => stage.throwIfStopped(),
    emit: async (bytes) => {
      parts.push(bytes);
    },
  });
  const { buffer, byteOffset, byteLength } = Buffer.concat(parts);
  return new Int16Array(buffer.slice(byteOffset, byteOffset + byteLength));
}

function add(left: Float32Array, right: Float32Array, samples: Int16Array, level: number): void {
  const frames = Math.min(left.length, samples.length / channels);
  for (let frame = 0; frame < frames; frame++) {
    left[frame]! += (samples[frame * 2]! / 32_768) * level;
    right[frame]! += (samples[frame * 2 + 1]! / 32_768) * level;
  }
}

function toSamples(left: Float32Array, right: Float32Array): Int16Array {
  const frames = left.length;
  const limiter = createLimiter(filmSampleRate, ceiling);
  // What the limiter looks ahead comes out behind the end.
  const late = limiter.delayFrames;
  const [outLeft, outRight] = [padded(left, late), padded(right, late)];
  limiter.process(outLeft, outRight);
  const samples = new Int16Array(frames * channels);
  const [rise, fall] = [fadeInSeconds * filmSampleRate, fadeOutSeconds * filmSampleRate];
  for (let frame = 0; frame < frames; frame++) {
    const away = Math.min(1, (frames - 1 - frame) / fall);
    const level = 32_767 * Math.min(1, frame / rise) * away * away;
    samples[frame * 2] = Math.round(outLeft[frame + late]! * level);
    samples[frame * 2 + 1] = Math.round(outRight[frame + late]! * level);
  }
  return samples;
}

function padded(side: Float32Array, more: number): Float32Array {
  const longer = new Float32Array(side.length + more);
  longer.set(side);
  return longer;
}
