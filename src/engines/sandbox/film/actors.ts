/** What stands in a scene, each on a small layer of its own, and how it moves there. */
import { Canvas } from '../picture/canvas.ts';
import { type Colour, darken, fade, mix, rgb } from '../picture/colour.ts';
import { Pen } from '../picture/pen.ts';
import type { Placed, Scene } from '../picture/scene.ts';
import { subjects } from '../picture/subjects/index.ts';
import type { SubjectKind } from '../picture/words.ts';
import { createRandom, toSeed } from '../seed.ts';
import type { Direction } from './direction.ts';
import { Layer } from './layer.ts';
import type { Placement } from './raster.ts';

export interface Actor {
  readonly kind: SubjectKind;
  readonly placed: Placed;
  readonly sprite: Layer;
  /** Where its foot is on the sprite. */
  readonly footX: number;
  readonly footY: number;
  readonly shadow: Layer | undefined;
  /** A number of its own from 0 to 1: no two move in step. */
  readonly chance: number;
  /** 1 to the right, -1 to the left: where it looks. */
  readonly facing: 1 | -1;
}

/** How it differs at a moment from how it was placed; lengths in its own heights, the turn in turns. */
export interface Pose {
  readonly x: number;
  readonly y: number;
  readonly turn: number;
  readonly wide: number;
  readonly tall: number;
  /** How far its top leans aside. */
  readonly lean: number;
}

const resting: Pose = { x: 0, y: 0, turn: 0, wide: 1, tall: 1, lean: 0 };

export function createActors(scene: Scene, seed: bigint): Actor[] {
  return scene.subjects.map((placed, index) => {
    const random = createRandom(toSeed([seed, 'actor', index]));
    const { layer, footX, footY } = paintSprite(scene, placed, index, seed);
    return {
      kind: placed.kind,
      placed,
      sprite: layer,
      footX,
      footY,
      shadow: placed.isGrounded ? paintShadow(placed.height) : undefined,
      chance: random.next(),
      facing: placed.isMirrored ? -1 : 1,
    };
  });
}

/** A drawing is about one unit high; some are wider than that, and some reach below their foot. */
const [roomAside, roomAbove, roomBelow] = [1.5, 1.4, 0.35];

function paintSprite(scene: Scene, placed: Placed, index: number, seed: bigint) {
  const { palette } = scene;
  const { height, kind, isMirrored } = placed;
  const width = Math.ceil(height * roomAside * 2);
  const canvas = new Canvas(width, Math.ceil(height * (roomAbove + roomBelow)));
  const [x, y] = [width / 2, height * roomAbove];
  const accents = palette.accents;
  const own = placed.colour ?? subjects[kind].colour ?? accents[index % accents.length] ?? accents[0];
  const inLight = (colour: Colour) =>
    darken(mix(colour, palette.skyLow, palette.dark * 0.18), palette.dark * 0.3);
  subjects[kind].draw(Pen.on(canvas).at({ x, y, scale: height, isMirrored }), {
    main: inLight(own),
    accent: inLight(accents[(index + 1) % accents.length] ?? accents[0]),
    dark: palette.dark,
    random: createRandom(toSeed([seed, 'subject', index])),
  });
  return cropped(canvas, x, y);
}

/** Without its clear margins, but for one pixel. */
function cropped(canvas: Canvas, footX: number, footY: number) {
  const { width, height, data } = canvas;
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0, at = 3; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      if (data[at] === 0) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y + 1);
    }
  }
  left = Math.max(0, Math.min(left, right) - 1);
  top = Math.max(0, Math.min(top, bottom) - 1);
  const [wide, tall] = [Math.max(3, right - left + 1), Math.max(3, bottom - top + 1)];
  const part = new Uint8Array(wide * tall * 4);
  for (let y = 0; y < tall && top + y < height; y++) {
    const from = ((top + y) * width + left) * 4;
    part.set(data.subarray(from, from + Math.min(wide, width - left) * 4), y * wide * 4);
  }
  return {
    layer: Layer.from({ width: wide, height: tall, data: part }),
    footX: footX - left,
    footY: footY - top,
  };
}

function paintShadow(height: number): Layer {
  const [wide, tall] = [Math.ceil(height * 1.04), Math.ceil(height * 0.2)];
  const canvas = new Canvas(wide, tall);
  const pen = Pen.on(canvas);
  for (const [size, strength] of [
    [0.5, 0.1],
    [0.42, 0.12],
    [0.34, 0.14],
  ] as const) {
    const ink = fade(rgb(0x0a0a18), strength);
    pen.ellipse(wide / 2, tall / 2, height * size, height * size * 0.16, ink);
  }
  return Layer.from(canvas);
}

const wave = (seconds: number, period: number, chance: number) =>
  Math.sin(((seconds / period + chance) % 1) * 2 * Math.PI);

type Motion = (actor: Actor, seconds: number, sinceMiddle: number, isLively: boolean) => Pose;

const drive =
  (speed: number): Motion =>
  ({ chance, facing }, seconds, sinceMiddle) => ({
    ...resting,
    x: facing * speed * sinceMiddle,
    y: wave(seconds, 0.31, chance) * 0.004,
  });

const sway =
  (strength: number): Motion =>
  ({ chance }, seconds) => ({
    ...resting,
    lean: strength * (0.4 + wave(seconds, 3.1, chance) + 0.4 * wave(seconds, 1.3, chance * 2)),
  });

/** On its feet: it breathes, or it hops along. */
const onFoot: Motion = ({ chance, facing }, seconds, sinceMiddle, isLively) => {
  if (!isLively) {
    const breath = wave(seconds, 2.4, chance) * 0.012;
    return { ...resting, tall: 1 + breath, wide: 1 - breath * 0.5, turn: wave(seconds, 4.7, chance) * 0.004 };
  }
  const hop = Math.abs(wave(seconds, 1.1, chance));
  return {
    ...resting,
    x: facing * 0.26 * sinceMiddle,
    y: -hop * 0.12,
    tall: 0.95 + 0.07 * hop,
    wide: 1.04 - 0.05 * hop,
    turn: wave(seconds, 1.1, chance) * 0.008,
  };
};

const hover =
  (drift: number, bob: number, turn: number): Motion =>
  ({ chance, facing }, seconds, sinceMiddle) => ({
    ...resting,
    x: facing * drift * sinceMiddle,
    y: wave(seconds, 4.2, chance) * bob,
    turn: wave(seconds, 5.6, chance) * turn,
  });

const motions: Readonly<Record<SubjectKind, Motion>> = {
  cat: onFoot,
  dog: onFoot,
  rabbit: onFoot,
  owl: onFoot,
  penguin: onFoot,
  person: onFoot,
  robot: onFoot,
  snowman: (actor, seconds) => ({ ...resting, turn: wave(seconds, 3.4, actor.chance) * 0.006 }),
  bird: ({ chance, facing }, seconds, sinceMiddle) => ({
    ...resting,
    x: facing * 0.42 * sinceMiddle,
    y: wave(seconds, 1.9, chance) * 0.14,
    tall: 1 + 0.1 * wave(seconds, 0.5, chance),
  }),
  butterfly: ({ chance, facing }, seconds, sinceMiddle) => ({
    ...resting,
    x: facing * 0.16 * sinceMiddle + wave(seconds, 2.3, chance) * 0.2,
    y: wave(seconds, 1.3, chance) * 0.18,
    wide: 0.68 + 0.32 * wave(seconds, 0.42, chance),
  }),
  fish: ({ chance, facing }, seconds, sinceMiddle) => ({
    ...resting,
    x: facing * 0.3 * sinceMiddle,
    y: wave(seconds, 2.2, chance) * 0.06,
    turn: wave(seconds, 0.8, chance) * 0.018,
    wide: 1 + 0.03 * wave(seconds, 0.4, chance),
  }),
  boat: ({ chance, facing }, seconds, sinceMiddle) => ({
    ...resting,
    x: facing * 0.13 * sinceMiddle,
    y: wave(seconds, 2.6, chance) * 0.022,
    turn: wave(seconds, 3.3, chance) * 0.011,
  }),
  car: drive(0.75),
  train: drive(0.9),
  rocket: ({ chance }, seconds, sinceMiddle) => ({
    ...resting,
    x: wave(seconds, 0.21, chance) * 0.006,
    y: -0.1 * sinceMiddle - 0.012 * sinceMiddle * Math.abs(sinceMiddle),
  }),
  balloon: ({ chance, facing }, seconds, sinceMiddle) => ({
    ...resting,
    x: facing * 0.07 * sinceMiddle,
    y: -0.05 * sinceMiddle + wave(seconds, 3.7, chance) * 0.02,
    turn: wave(seconds, 4.9, chance) * 0.006,
  }),
  kite: hover(0.04, 0.1, 0.03),
  planet: hover(0.05, 0.02, 0.01),
  heart: ({ chance }, seconds) => {
    const beat = Math.max(0, wave(seconds, 1, chance)) ** 3 * 0.09;
    return { ...resting, wide: 1 + beat, tall: 1 + beat };
  },
  star: hover(0.03, 0.05, 0.05),
  tree: sway(0.03),
  pine: sway(0.02),
  palm: sway(0.06),
  flower: sway(0.07),
  mushroom: sway(0.012),
  cactus: () => resting,
  house: () => resting,
  castle: () => resting,
  lighthouse: () => resting,
  apple: ({ chance }, seconds) => ({ ...resting, turn: wave(seconds, 3.9, chance) * 0.006 }),
  cup: () => resting,
  cake: () => resting,
  umbrella: sway(0.03),
  book: () => resting,
};

export function poseOf(actor: Actor, seconds: number, middle: number, { pace, isLively }: Direction): Pose {
  return motions[actor.kind](actor, seconds * pace, (seconds - middle) * pace, isLively);
}

/** From the sprite's pixels to the frame's, where `toX`, `toY` is the foot and `zoom` the size of the world's pixels. */
export function placementOf(actor: Actor, pose: Pose, toX: number, toY: number, zoom: number): Placement {
  const cos = Math.cos(pose.turn * 2 * Math.PI) * zoom;
  const sin = Math.sin(pose.turn * 2 * Math.PI) * zoom;
  // Leaning pushes aside what is above the foot, which is up: negative.
  const [a, b] = [cos * pose.wide, sin * pose.wide];
  const [c, d] = [-sin * pose.tall - pose.lean * cos, cos * pose.tall];
  return {
    a,
    b,
    c,
    d,
    e: toX - a * actor.footX - c * actor.footY,
    f: toY - b * actor.footX - d * actor.footY,
  };
}

/** Where something shines of its own: so high above its foot, in its own heights. */
export const lamps: Partial<Record<SubjectKind, { readonly up: number; readonly colour: Colour }>> = {
  lighthouse: { up: 0.86, colour: rgb(0xffe9a0) },
  rocket: { up: -0.04, colour: rgb(0xffa040) },
};
