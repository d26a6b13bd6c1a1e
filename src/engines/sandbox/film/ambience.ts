/** What a place sounds like by itself: wind, waves, rain, thunder, a hum of rooms and streets. Made of noise. */
import type { Scene } from '../picture/scene.ts';
import { createRandom, type Random, toSeed } from '../seed.ts';

interface Sound {
  /** 0 to 1 of full scale, at its loudest. */
  readonly level: number;
  /** Above this it is quiet, in hertz. */
  readonly below: number;
  /** Below this it is quiet. */
  readonly above: number;
  /** How long a swell lasts, and how much of the sound it takes away at its weakest. */
  readonly swellSeconds: number;
  readonly depth: number;
}

const wind: Sound = { level: 0.05, below: 620, above: 90, swellSeconds: 3.7, depth: 0.7 };
const waves: Sound = { level: 0.11, below: 1_500, above: 110, swellSeconds: 4.4, depth: 0.85 };
const rain: Sound = { level: 0.07, below: 7_000, above: 900, swellSeconds: 6.1, depth: 0.2 };
const rumble: Sound = { level: 0.16, below: 110, above: 28, swellSeconds: 2.9, depth: 0.95 };
const hum: Sound = { level: 0.035, below: 260, above: 60, swellSeconds: 9, depth: 0.3 };
const leaves: Sound = { level: 0.03, below: 4_200, above: 1_300, swellSeconds: 2.9, depth: 0.85 };

function soundsOf({ land, sky, time }: Scene): Sound[] {
  const sounds: Sound[] = [];
  if (land === 'sea' || land === 'beach') sounds.push(waves);
  else if (land === 'forest' || land === 'meadow' || land === 'hills') sounds.push(leaves);
  else if (land === 'city' || land === 'room' || land === 'space') sounds.push(hum);
  if (land !== 'room' && land !== 'space') sounds.push(wind);
  if (sky.has('rain')) sounds.push(rain);
  if (sky.has('lightning') || time === 'storm') sounds.push(rumble);
  return sounds;
}

/** Adds it to both sides. */
export function addAmbience(
  left: Float32Array,
  right: Float32Array,
  sampleRate: number,
  scene: Scene,
  seed: bigint,
): void {
  for (const [index, sound] of soundsOf(scene).entries()) {
    const random = createRandom(toSeed([seed, 'ambience', index]));
    const phase = random.next();
    addNoise(left, sound, sampleRate, phase, random);
    // A little later on the other side: it comes from everywhere.
    addNoise(right, sound, sampleRate, phase + 0.06, random);
  }
}

function addNoise(into: Float32Array, sound: Sound, sampleRate: number, phase: number, random: Random): void {
  const { level, below, above, swellSeconds, depth } = sound;
  const take = 1 - Math.exp((-2 * Math.PI * below) / sampleRate);
  const leave = 1 - Math.exp((-2 * Math.PI * above) / sampleRate);
  // Two poles let about this much of white noise through; so loud it has to be made again.
  const gain = (level * 2.2) / Math.sqrt((take * take) / (4 - 2 * take) || 1);
  let [first, second, low] = [0, 0, 0];
  for (let frame = 0; frame < into.length; frame++) {
    first += (random.next() * 2 - 1 - first) * take;
    second += (first - second) * take;
    low += (second - low) * leave;
    const swell = 0.5 + 0.5 * Math.sin(2 * Math.PI * (frame / sampleRate / swellSeconds + phase));
    into[frame]! += (second - low) * gain * (1 - depth + depth * swell * swell) * 0.5;
  }
}
