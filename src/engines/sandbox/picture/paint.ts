/** A whole picture onto a canvas: a scene with what stands in it, or abstract art. */
import { createRandom, toSeed } from '../seed.ts';
import { paintAbstract, paintMotifs } from './abstract.ts';
import type { Canvas } from './canvas.ts';
import { type Colour, darken, fade, mix, rgb } from './colour.ts';
import { paintLand } from './land.ts';
import { createNoise } from './noise.ts';
import { Pen } from './pen.ts';
import type { Wish } from './read-prompt.ts';
import { composeCutOut, composeScene, type Placed, type Scene } from './scene.ts';
import { paintAloft, paintFall, paintSky } from './sky.ts';
import { subjects } from './subjects/index.ts';

export interface PaintOptions {
  readonly wish: Wish;
  readonly seed: bigint;
  /** The subjects alone, large, on nothing. */
  readonly isCutOut?: boolean;
}

export function paintPicture(canvas: Canvas, { wish, seed, isCutOut = false }: PaintOptions): void {
  const chance = (purpose: string) => createRandom(toSeed([seed, purpose]));
  const { width, height } = canvas;
  if (isCutOut) {
    paintSubjects(canvas, composeCutOut(wish, width, height, chance('layout')), seed, false);
    return;
  }
  const scene = composeScene(wish, width, height, chance('layout'));
  if (wish.isAbstract) {
    paintAbstract(canvas, wish, chance('abstract'));
  } else {
    const noise = createNoise(chance('noise'));
    paintSky(canvas, scene, noise, chance('sky'));
    paintLand(canvas, scene, noise, chance('land'));
  }
  paintSubjects(canvas, scene, seed, true);
  paintFall(canvas, scene, chance('fall'));
}

/** Onto a picture that is there already; `light` falls on it before anything new stands in it. */
export function paintOver(canvas: Canvas, { wish, seed }: PaintOptions, light: (scene: Scene) => void): void {
  const chance = (purpose: string) => createRandom(toSeed([seed, purpose]));
  const scene = composeScene(wish, canvas.width, canvas.height, chance('layout'));
  light(scene);
  if (wish.isAbstract && wish.unknown.length > 0) paintMotifs(canvas, wish, chance('abstract'), 0.55);
  paintAloft(canvas, { ...scene, sky: wish.sky }, chance('sky'));
  paintSubjects(canvas, { ...scene, subjects: aside(scene) }, seed, true);
  paintFall(canvas, { ...scene, sky: wish.sky }, chance('fall'));
}

/** Beside what is there already rather than before it. */
function aside({ subjects: placed, width }: Scene): readonly Placed[] {
  return placed.map((one) => {
    const height = one.height * 0.7;
    const x = placed.length > 1 ? one.x : one.x < width / 2 ? width * 0.2 : width * 0.8;
    return { ...one, height, x };
  });
}

function paintSubjects(canvas: Canvas, scene: Scene, seed: bigint, isInScene: boolean): void {
  const pen = Pen.on(canvas);
  for (const [index, placed] of scene.subjects.entries()) {
    if (isInScene && placed.isGrounded) paintShadow(pen, placed);
    const place = pen.at({ x: placed.x, y: placed.y, scale: placed.height, isMirrored: placed.isMirrored });
    const { accents, dark } = scene.palette;
    const own =
      placed.colour ?? subjects[placed.kind].colour ?? accents[index % accents.length] ?? accents[0];
    const accent = accents[(index + 1) % accents.length] ?? accents[0];
    subjects[placed.kind].draw(place, {
      main: inLight(own, scene, isInScene),
      accent: inLight(accent, scene, isInScene),
      dark: isInScene ? dark : 0,
      random: createRandom(toSeed([seed, 'subject', index])),
    });
  }
}

/** At night things are darker, but not so dark that nobody could tell them apart. */
function inLight(colour: Colour, { palette }: Scene, isInScene: boolean): Colour {
  return isInScene ? darken(mix(colour, palette.skyLow, palette.dark * 0.18), palette.dark * 0.3) : colour;
}

function paintShadow(pen: Pen, { x, y, height }: Placed): void {
  for (const [size, strength] of [
    [0.5, 0.1],
    [0.42, 0.12],
    [0.34, 0.14],
  ] as const) {
    pen.ellipse(x, y, height * size, height * size * 0.16, fade(rgb(0x0a0a18), strength));
  }
}
