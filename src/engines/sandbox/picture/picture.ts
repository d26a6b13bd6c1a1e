/** One picture from a prompt, from other pictures, or both. Pure: the same request and seed give the same pixels. */
import type { Pixels } from '../../contract/picture.ts';
import { createRandom, toSeed } from '../seed.ts';
import { Canvas } from './canvas.ts';
import { compose, cutOut, cutOval, layPrints, tint, toOpening } from './edit.ts';
import { paintOver, paintPicture } from './paint.ts';
import { readPrompt, type Wish } from './read-prompt.ts';
import { addTouches, approach, sharpen, strengthen } from './refine.ts';
import { covering } from './scale.ts';
import { applyStyle } from './style.ts';

export interface PictureRequest {
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  readonly steps?: number;
  readonly guidanceScale?: number;
  readonly negativePrompt?: string;
  readonly isTransparent: boolean;
}

export interface PictureParts {
  readonly seed: bigint;
  readonly references: readonly Pixels[];
  readonly mask?: Pixels;
}

export interface Picture {
  readonly canvas: Canvas;
  /** How often it was refined after it had been blocked in. */
  readonly updates: number;
}

const defaultSteps = 8;

export function makePicture(request: PictureRequest, { seed, references, mask }: PictureParts): Picture {
  const { width, height, guidanceScale = 0, steps = defaultSteps } = request;
  const updates = Math.max(0, steps - 1);
  const wish = readPrompt(request.prompt, guidanceScale > 0 ? request.negativePrompt : '');
  const [first, ...others] = references;
  const work = { request, wish, seed, updates };
  if (first === undefined) {
    const canvas = new Canvas(width, height);
    draw(canvas, work);
    return { canvas, updates };
  }
  const canvas = covering(first, width, height);
  const opening = mask === undefined ? undefined : toOpening(mask, width, height);
  if (mask !== undefined) {
    if (opening === undefined) return { canvas, updates };
    const patch = new Canvas(opening.width, opening.height);
    draw(patch, work, others);
    compose(canvas, patch, opening);
    return { canvas, updates };
  }
  redraw(canvas, work, others);
  return { canvas, updates };
}

interface Work {
  readonly request: PictureRequest;
  readonly wish: Wish;
  readonly seed: bigint;
  readonly updates: number;
}

/** A new picture over the whole canvas. */
function draw(canvas: Canvas, work: Work, prints: readonly Pixels[] = []): void {
  const { request, wish, seed } = work;
  const isCutOut = request.isTransparent && wish.subjects.length > 0;
  paintPicture(canvas, { wish, seed, isCutOut });
  layPrints(canvas, prints);
  finish(canvas, work);
  if (request.isTransparent && !isCutOut) cutOval(canvas);
}

/** A picture that is there, in the light, the manner and the company that the prompt asks for. */
function redraw(canvas: Canvas, work: Work, prints: readonly Pixels[]): void {
  const { request, wish, seed } = work;
  if (request.isTransparent) cutOut(canvas);
  const isLit =
    wish.time !== undefined || wish.colours.length > 0 || wish.moods.size > 0 || wish.land !== undefined;
  paintOver(canvas, { wish, seed }, (scene) => {
    if (isLit) tint(canvas, scene, 0.75);
  });
  layPrints(canvas, prints);
  finish(canvas, work);
}

function finish(canvas: Canvas, { request, wish, seed, updates }: Work): void {
  const chance = (purpose: string) => createRandom(toSeed([seed, purpose]));
  addTouches(canvas, updates, chance('touches'));
  sharpen(canvas, updates);
  applyStyle(canvas, wish.style, chance('style'));
  strengthen(canvas, request.guidanceScale ?? 0);
  approach(canvas, updates);
}
