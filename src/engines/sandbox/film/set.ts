/** The set of a film: the scene of a prompt, painted once, larger than the frame, in layers that move differently. */
import { Canvas } from '../picture/canvas.ts';
import { paintLand } from '../picture/land.ts';
import { createNoise } from '../picture/noise.ts';
import type { Wish } from '../picture/read-prompt.ts';
import { addTouches } from '../picture/refine.ts';
import { composeScene, type Scene } from '../picture/scene.ts';
import { paintAloft, paintSky } from '../picture/sky.ts';
import type { SkyThing } from '../picture/words.ts';
import { createRandom, toSeed } from '../seed.ts';
import { type Actor, createActors } from './actors.ts';
import { Layer } from './layer.ts';

export interface FilmSet {
  readonly scene: Scene;
  readonly sky: Layer;
  /** Wider than the set: they drift. */
  readonly clouds: Layer | undefined;
  readonly bolt: Layer | undefined;
  readonly land: Layer | undefined;
  /** Farthest first. */
  readonly actors: readonly Actor[];
}

export interface SetParts {
  readonly wish: Wish;
  readonly seed: bigint;
  /** Of the set, not of the frame. */
  readonly width: number;
  readonly height: number;
  /** How often it is gone over with a fine brush. */
  readonly touches: number;
  /** Between two layers: painting takes a while, and somebody may want it to stop. */
  pause(): Promise<void>;
}

/** In widths of the set: how far clouds can drift. */
export const cloudRoom = 0.45;
/** They have layers of their own, or are drawn anew in every frame. */
const moving: ReadonlySet<SkyThing> = new Set(['clouds', 'lightning', 'rain', 'snowfall']);

export async function paintSet({ wish, seed, width, height, touches, pause }: SetParts): Promise<FilmSet> {
  const chance = (purpose: string) => createRandom(toSeed([seed, purpose]));
  const scene = composeScene(wish, width, height, chance('layout'));
  const noise = createNoise(chance('noise'));
  const still = new Set([...scene.sky].filter((thing) => !moving.has(thing)));

  const sky = new Canvas(width, height);
  paintSky(sky, { ...scene, sky: still }, noise, chance('sky'));
  addTouches(sky, touches, chance('touches on the sky'));
  await pause();

  const land = new Canvas(width, height);
  paintLand(land, scene, noise, chance('land'));
  addTouches(land, touches, chance('touches on the land'));
  await pause();

  const aloft = (thing: SkyThing, share: number) => {
    if (!scene.sky.has(thing)) return undefined;
    const canvas = new Canvas(Math.ceil(width * (1 + share)), height);
    paintAloft(canvas, { ...scene, width: canvas.width, sky: new Set([thing]) }, chance(thing));
    return Layer.from(canvas);
  };
  const clouds = aloft('clouds', cloudRoom);
  const bolt = aloft('lightning', 0);
  await pause();
  return {
    scene,
    sky: Layer.from(sky),
    clouds,
    bolt,
    land: scene.land === 'space' ? undefined : Layer.from(land),
    actors: createActors(scene, seed),
  };
}
