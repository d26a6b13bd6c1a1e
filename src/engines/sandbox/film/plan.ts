/** Which shots a film has, and when one goes over into the other. */
import type { Pixels } from '../../contract/picture.ts';
import { makePicture, type PictureRequest } from '../picture/picture.ts';
import { readPrompt, type Wish } from '../picture/read-prompt.ts';
import { covering } from '../picture/scale.ts';
import { composeScene, type Scene } from '../picture/scene.ts';
import { createRandom, toSeed } from '../seed.ts';
import { type Direction, smooth, toDirection } from './direction.ts';
import { Layer } from './layer.ts';
import type { FilmOrder } from './order.ts';
import { paintSet } from './set.ts';
import { createKeyframeShot, createPictureShot, createSceneShot, overscan, type Shot } from './shots.ts';
import { createOrbs, createWeather, type Weather } from './weather.ts';

export interface Plan {
  readonly scene: Scene;
  readonly first: Shot;
  /** What the first one goes over into, from one share of the film to another. */
  readonly onward?: { readonly shot: Shot; readonly from: number; readonly to: number };
}

export interface PlanParts {
  readonly order: FilmOrder;
  readonly seed: bigint;
  readonly firstFrame: Pixels | undefined;
  readonly lastFrame: Pixels | undefined;
  pause(): Promise<void>;
}

interface Work extends PlanParts {
  readonly wish: Wish;
  readonly direction: Direction;
  readonly scene: Scene;
  readonly width: number;
  readonly height: number;
}

export async function makePlan(parts: PlanParts): Promise<Plan> {
  const { order, seed, firstFrame, lastFrame } = parts;
  const wish = readPrompt(order.prompt);
  const [width, height] = [Math.ceil(order.width * overscan), Math.ceil(order.height * overscan)];
  const work: Work = {
    ...parts,
    wish,
    width,
    height,
    direction: toDirection(order.prompt, createRandom(toSeed([seed, 'camera']))),
    scene: composeScene(wish, width, height, createRandom(toSeed([seed, 'layout']))),
  };
  const { scene } = work;
  if (firstFrame !== undefined && lastFrame !== undefined) {
    const shot = keyframe(work, lastFrame, false);
    return { scene, first: keyframe(work, firstFrame, true), onward: { shot, from: 0.22, to: 0.8 } };
  }
  const painted = await paintedShot(work);
  if (firstFrame !== undefined) {
    return {
      scene,
      first: keyframe(work, firstFrame, true),
      onward: { shot: painted, from: 0.35, to: 0.75 },
    };
  }
  if (lastFrame !== undefined) {
    return { scene, first: painted, onward: { shot: keyframe(work, lastFrame, false), from: 0.3, to: 0.78 } };
  }
  return { scene, first: painted };
}

/** More steps leave finer traces; the distilled schedule does in few what the base model does in twice as many. */
function touchesOf({ steps, schedule }: FilmOrder): number {
  return schedule === 'turbo' ? steps : Math.round(steps * 0.8);
}

function weatherOf({ scene, seed, order, wish }: Work): Weather {
  const density = 0.8 + touchesOf(order) / 40;
  return wish.isAbstract
    ? createOrbs(scene.palette.accents, seed, density)
    : createWeather(scene, seed, density);
}

async function paintedShot(work: Work): Promise<Shot> {
  const { wish, seed, width, height, order, direction, pause } = work;
  const weather = weatherOf(work);
  const filmSeconds = order.frames / order.fps;
  if (!wish.isAbstract && wish.style === undefined) {
    const set = await paintSet({ wish, seed, width, height, touches: touchesOf(order), pause });
    return createSceneShot({ set, direction, weather, filmSeconds });
  }
  // A manner, and abstract art, belong to the whole picture: it stays in one piece.
  const request: PictureRequest = {
    prompt: order.prompt,
    width,
    height,
    steps: touchesOf(order) + 8,
    isTransparent: false,
  };
  const { canvas } = makePicture(request, { seed, references: [] });
  await pause();
  const breath = wish.isAbstract ? 0.012 : wish.style === 'watercolour' ? 0.002 : 0;
  return createPictureShot({
    picture: Layer.covering(canvas),
    direction,
    weather,
    weatherAt: () => (wish.isAbstract || wish.style === undefined ? 1 : 0.5),
    breath,
  });
}

function keyframe(work: Work, picture: Pixels, isStart: boolean): Shot {
  const { order, direction } = work;
  return createKeyframeShot({
    picture: Layer.covering(covering(picture, order.width, order.height)),
    direction,
    weather: weatherOf(work),
    // Nothing is added to the very first and the very last picture.
    weatherAt: (share) => smooth((isStart ? share : 1 - share) / 0.25),
    isStart,
  });
}
