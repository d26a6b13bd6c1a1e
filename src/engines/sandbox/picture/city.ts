/** Paints a city: towers in three rows with lit windows, and a street before them. */
import type { Random } from '../seed.ts';
import type { Brush } from './brush.ts';
import { type Colour, darken, fade, lighten, mix, rgb } from './colour.ts';
import type { Pen } from './pen.ts';
import { haze, type Scene } from './scene.ts';

export function paintCity({ pen, scene, random, unit }: Brush): void {
  const { width, height, horizon, palette } = scene;
  for (let layer = 0; layer < 3; layer++) {
    const near = layer / 2;
    const foot = horizon + (height - horizon) * (0.06 + 0.3 * near);
    const wall = haze(darken(palette.far, 0.2 + 0.25 * near), palette, 0.5 * (1 - near));
    let x = -unit * 0.05 * random.next();
    while (x < width) {
      const wide = unit * (0.06 + 0.07 * random.next()) * (0.75 + 0.4 * near);
      const tall = unit * (0.14 + 0.36 * random.next() ** 1.6) * (1.15 - 0.25 * near);
      paintTower(pen, { x, foot, wide, tall, wall, near }, scene, random);
      x += wide * (1.03 + 0.3 * random.next());
    }
  }
  const street = horizon + (height - horizon) * 0.36;
  pen.rect(0, street, width, height - street, {
    from: palette.ground,
    to: darken(palette.ground, 0.4),
    line: [0, street, 0, height],
  });
  for (let lane = 0; lane < 9; lane++) {
    const x = (lane / 9) * width + unit * 0.03;
    pen.rect(x, street + (height - street) * 0.55, width * 0.055, unit * 0.01, fade(rgb(0xf4e6b0), 0.7));
  }
}

interface Tower {
  readonly x: number;
  readonly foot: number;
  readonly wide: number;
  readonly tall: number;
  readonly wall: Colour;
  readonly near: number;
}

function paintTower(
  pen: Pen,
  { x, foot, wide, tall, wall, near }: Tower,
  { palette }: Scene,
  random: Random,
): void {
  pen.rect(x, foot - tall, wide, tall + wide, {
    from: lighten(wall, 0.06),
    to: darken(wall, 0.2),
    line: [x, 0, x + wide, 0],
  });
  if (random.next() < 0.3) pen.rect(x + wide * 0.46, foot - tall - wide * 0.5, wide * 0.07, wide * 0.5, wall);
  if (random.next() < 0.3)
    pen.rect(x + wide * 0.2, foot - tall - wide * 0.16, wide * 0.6, wide * 0.18, darken(wall, 0.1));
  const columns = 3 + random.below(2);
  const cell = wide / (columns + 0.6);
  const lit = 0.12 + 0.6 * palette.dark;
  for (let y = foot - tall + cell * 0.7; y < foot - cell * 0.2; y += cell * 1.35) {
    for (let column = 0; column < columns; column++) {
      const isLit = random.next() < lit;
      const glass = isLit
        ? mix(rgb(0xffd98a), palette.accents[0], random.next() < 0.2 ? 0.6 : 0)
        : mix(wall, rgb(0x9fc4e0), 0.28);
      pen.rect(x + cell * (0.45 + column), y, cell * 0.6, cell * 0.75, fade(glass, 0.45 + 0.5 * near));
    }
  }
}
