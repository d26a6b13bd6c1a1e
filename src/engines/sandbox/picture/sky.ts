/** Paints what is above the horizon: air, stars, sun and moon, clouds, rainbow, and what falls from there. */
import type { Random } from '../seed.ts';
import type { Canvas } from './canvas.ts';
import { type Colour, fade, hsl, lighten, mix, rgb, white } from './colour.ts';
import type { Noise } from './noise.ts';
import { Pen, type Point } from './pen.ts';
import type { Scene } from './scene.ts';

export function paintSky(canvas: Canvas, scene: Scene, noise: Noise, random: Random): void {
  paintAir(canvas, scene, noise);
  if (scene.sky.has('aurora')) paintAurora(canvas, scene, noise);
  paintAloft(canvas, scene, random);
}

/** What is in the sky, without the sky. */
export function paintAloft(canvas: Canvas, scene: Scene, random: Random): void {
  const { sky, width, height, horizon, palette, time } = scene;
  const pen = Pen.on(canvas);
  const unit = Math.min(width, height);
  const low = Math.min(horizon, height);
  if (sky.has('stars')) paintStars(pen, scene, random);
  const { lightX: x } = scene;
  if (sky.has('moon')) paintMoon(pen, x, low * (0.2 + 0.2 * random.next()), unit * 0.075, scene);
  else if (sky.has('sun')) {
    const isLow = time === 'sunset' || time === 'dawn';
    const y = low * (isLow ? 0.72 + 0.2 * random.next() : 0.18 + 0.2 * random.next());
    paintSun(pen, x, y, unit * (isLow ? 0.1 : 0.07), palette.light, unit);
  }
  if (sky.has('rainbow')) paintRainbow(pen, width * (0.35 + 0.3 * random.next()), low, unit * 0.62);
  if (sky.has('clouds')) paintClouds(pen, scene, random, time === 'storm' ? 9 : 3 + random.below(3));
  if (sky.has('lightning')) paintLightning(pen, scene, random);
}

/** Down to the last row: what is not land shines through. */
function paintAir({ data, width, height }: Canvas, { palette, horizon, land }: Scene, noise: Noise): void {
  const { skyHigh, skyLow } = palette;
  const scale = 3.2 / Math.min(width, height);
  const isSpace = land === 'space';
  const glow = mix(palette.accents[0], white, 0.1);
  const strength = land === 'room' ? 0.05 : isSpace ? 0.75 : 0.16;
  for (let y = 0, at = 0; y < height; y++) {
    const share = Math.min(1, y / horizon) ** 1.25;
    const air = mix(skyHigh, skyLow, isSpace ? share * 0.5 : share);
    for (let x = 0; x < width; x++, at += 4) {
      const wisp = noise.layered(x * scale, y * scale * 1.8, 4);
      const veil = Math.max(0, wisp - 0.5) * 2 * strength;
      const bright = isSpace ? glow : skyLow;
      data[at] = air.r + (bright.r - air.r) * veil + 0.5;
      data[at + 1] = air.g + (bright.g - air.g) * veil + 0.5;
      data[at + 2] = air.b + (bright.b - air.b) * veil + 0.5;
      data[at + 3] = 255;
    }
  }
}

function paintStars(pen: Pen, { width, height, horizon, land }: Scene, random: Random): void {
  const unit = Math.min(width, height);
  const count = land === 'space' ? 320 : 170;
  for (let index = 0; index < count; index++) {
    const x = random.next() * width;
    const y = random.next() * Math.min(horizon, height);
    const size = unit * (0.0009 + 0.0026 * random.next() ** 4);
    pen.circle(x, y, Math.max(0.7, size), fade(white, 0.35 + 0.65 * random.next()));
    if (size > unit * 0.0024) paintTwinkle(pen, x, y, size * 5);
  }
}

function paintTwinkle(pen: Pen, x: number, y: number, radius: number): void {
  const ink = fade(white, 0.8);
  const thin = radius * 0.12;
  for (const [dx, dy] of [
    [radius, thin],
    [thin, radius],
  ] as const) {
    pen.polygon(
      [
        [x - dx, y],
        [x, y - dy],
        [x + dx, y],
        [x, y + dy],
      ],
      ink,
    );
  }
}

function paintSun(pen: Pen, x: number, y: number, radius: number, light: Colour, unit: number): void {
  pen.circle(x, y, unit * 0.5, {
    from: fade(light, 0.55),
    to: fade(light, 0),
    centre: [x, y],
    radius: unit * 0.5,
  });
  pen.circle(x, y, radius * 1.5, {
    from: fade(light, 0.9),
    to: fade(light, 0),
    centre: [x, y],
    radius: radius * 1.5,
  });
  pen.circle(x, y, radius, { from: white, to: light, centre: [x, y], radius });
}

function paintMoon(pen: Pen, x: number, y: number, radius: number, { palette }: Scene): void {
  const { light } = palette;
  pen.circle(x, y, radius * 4, {
    from: fade(light, 0.35),
    to: fade(light, 0),
    centre: [x, y],
    radius: radius * 4,
  });
  pen.circle(x, y, radius, {
    from: lighten(light, 0.6),
    to: light,
    centre: [x - radius * 0.3, y - radius * 0.3],
    radius: radius * 1.4,
  });
  const crater = fade(rgb(0xb9b59c), 0.4);
  for (const [dx, dy, size] of [
    [-0.35, -0.2, 0.2],
    [0.25, 0.3, 0.26],
    [0.35, -0.35, 0.13],
    [-0.2, 0.45, 0.15],
  ] as const) {
    pen.circle(x + dx * radius, y + dy * radius, size * radius, crater);
  }
}

const bow = [0, 28, 52, 130, 205, 235, 280];

function paintRainbow(pen: Pen, x: number, y: number, radius: number): void {
  const width = radius * 0.034;
  for (const [index, hue] of bow.entries()) {
    pen.ring(x, y, radius - index * width, width, hsl(hue, 0.85, 0.6, 0.5));
  }
}

function paintClouds(
  pen: Pen,
  { width, height, horizon, palette, time }: Scene,
  random: Random,
  count: number,
): void {
  const unit = Math.min(width, height);
  const low = Math.min(horizon, height);
  for (let index = 0; index < count; index++) {
    const x = width * ((index + 0.2 + 0.6 * random.next()) / count);
    const y = low * (0.1 + 0.5 * random.next());
    const size = unit * (0.1 + 0.1 * random.next()) * (time === 'storm' ? 1.6 : 1);
    paintCloud(pen, x, y, size, palette.cloud, random);
  }
}

function paintCloud(pen: Pen, x: number, y: number, size: number, colour: Colour, random: Random): void {
  const puffs = 6 + random.below(3);
  const shadow = mix(colour, rgb(0x6b7896), 0.35);
  const round: [number, number, number][] = Array.from({ length: puffs }, (_, index) => {
    const share = index / (puffs - 1) - 0.5;
    const height = (0.25 - share * share) * 1.9 + 0.16 + 0.12 * random.next();
    return [x + share * size * 2.6, y - height * size * 0.35, height * size * 0.9];
  });
  for (const [cx, cy, r] of round) pen.ellipse(cx, cy + r * 0.22, r * 1.02, r * 0.86, fade(shadow, 0.55));
  for (const [cx, cy, r] of round) pen.circle(cx, cy, r * 0.96, fade(colour, 0.95));
  pen.ellipse(x, y + size * 0.06, size * 1.45, size * 0.2, fade(colour, 0.9));
}

function paintLightning(pen: Pen, { width, height, horizon }: Scene, random: Random): void {
  const points: Point[] = [];
  let x = width * (0.25 + 0.5 * random.next());
  const low = Math.min(horizon, height);
  for (let y = low * 0.18; y < low; y += low * 0.09) {
    points.push([x, y]);
    x += (random.next() - 0.5) * width * 0.09;
  }
  pen.stroke(points, Math.min(width, height) * 0.03, fade(rgb(0xcfd8ff), 0.3));
  pen.stroke(points, Math.min(width, height) * 0.008, rgb(0xfffbe0));
}

/** Curtains of light that hang in folds. */
function paintAurora({ data, width, height }: Canvas, { horizon }: Scene, noise: Noise): void {
  const low = Math.min(horizon, height);
  for (let x = 0; x < width; x++) {
    const share = x / width;
    for (const [hue, offset] of [
      [145, 0],
      [165, 3.7],
      [285, 7.9],
    ] as const) {
      const foot = low * (0.2 + 0.45 * noise.layered(share * 3 + offset, offset, 3));
      const tall = low * (0.25 + 0.3 * noise.at(share * 24 + offset, 5));
      const light = hsl(hue, 0.85, 0.6);
      const strength = 0.55 * (0.35 + 0.65 * noise.at(share * 40 + offset, 11));
      for (let y = Math.max(0, Math.floor(foot - tall)); y < Math.min(low, foot); y++) {
        const rise = 1 - (foot - y) / tall;
        const veil = strength * rise * rise * Math.min(1, (foot - y) / (tall * 0.08));
        const at = (y * width + x) * 4;
        data[at] = (data[at] ?? 0) + (light.r - (data[at] ?? 0)) * veil;
        data[at + 1] = (data[at + 1] ?? 0) + (light.g - (data[at + 1] ?? 0)) * veil;
        data[at + 2] = (data[at + 2] ?? 0) + (light.b - (data[at + 2] ?? 0)) * veil;
      }
    }
  }
}

/** Rain and snow fall in front of everything. */
export function paintFall(canvas: Canvas, { sky, width, height }: Scene, random: Random): void {
  const pen = Pen.on(canvas);
  const unit = Math.min(width, height);
  if (sky.has('rain')) {
    for (let index = 0; index < 260; index++) {
      const [x, y] = [random.next() * width * 1.1, random.next() * height];
      const length = unit * (0.03 + 0.03 * random.next());
      pen.stroke(
        [
          [x, y],
          [x - length * 0.3, y + length],
        ],
        unit * 0.0022,
        fade(rgb(0xdfeaff), 0.5),
      );
    }
  }
  if (sky.has('snowfall')) {
    for (let index = 0; index < 240; index++) {
      const size = unit * (0.002 + 0.006 * random.next() ** 2);
      pen.circle(random.next() * width, random.next() * height, size, fade(white, 0.85));
    }
  }
}
