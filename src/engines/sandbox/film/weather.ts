/** What moves in the air and on the water: rain, snow, stars, glitter, motes, lights. A few hundred spots, cheap to draw. */

import type { Scene } from '../picture/scene.ts';
import { createRandom, type Random, toSeed } from '../seed.ts';
import type { Light, Raster } from './raster.ts';

export interface Weather {
  /** `strength` from 0 to 1: how much of it there is. */
  draw(raster: Raster, seconds: number, strength: number): void;
}

interface Spot {
  readonly x: number;
  readonly y: number;
  /** 0 to 1, and evenly spread, both. */
  readonly size: number;
  readonly phase: number;
}

type Painter = (raster: Raster, spot: Spot, seconds: number, strength: number, unit: number) => void;

interface Swarm {
  readonly spots: readonly Spot[];
  readonly paint: Painter;
}

const white: Light = { r: 255, g: 255, b: 255 };
const wrap = (value: number) => value - Math.floor(value);
const blink = (seconds: number, period: number, phase: number) =>
  0.5 + 0.5 * Math.sin(2 * Math.PI * (seconds / period + phase));

const rain: Painter = (raster, { x, y, size, phase }, seconds, strength, unit) => {
  const fall = wrap(y + seconds * (1.5 + 0.8 * size));
  const long = unit * (0.028 + 0.03 * size);
  const left = wrap(x - fall * 0.12 + phase) * 1.1 * raster.width;
  raster.streak(
    left,
    fall * raster.height * 1.1 - long,
    -long * 0.28,
    long,
    { r: 214, g: 226, b: 245 },
    0.42 * strength,
  );
};

const snow: Painter = (raster, { x, y, size, phase }, seconds, strength, unit) => {
  const fall = wrap(y + seconds * (0.06 + 0.1 * size));
  const aside = wrap(x + 0.02 * Math.sin(2 * Math.PI * (seconds / 4 + phase)) + seconds * 0.012);
  const radius = unit * (0.0028 + 0.0062 * size * size);
  raster.glow(aside * raster.width, fall * raster.height * 1.04, radius, white, 1.5 * strength);
};

/** Only where the sky is: below the horizon nothing twinkles. */
const star =
  (horizon: number): Painter =>
  (raster, { x, y, size, phase }, seconds, strength, unit) => {
    const light = blink(seconds, 1.4 + 2.5 * size, phase) ** 3;
    const radius = unit * (0.0022 + 0.0035 * size);
    raster.glow(x * raster.width, y * horizon * 0.92 * raster.height, radius, white, light * strength);
  };

const glitter =
  (horizon: number, light: Light): Painter =>
  (raster, { x, y, size, phase }, seconds, strength, unit) => {
    const near = y * y;
    const row = (horizon + (0.98 - horizon) * near * 0.9) * raster.height + 2;
    const shine = Math.max(0, blink(seconds, 0.9 + size, phase) * 2 - 1);
    const half = unit * (0.004 + 0.018 * near);
    const column = wrap(x + Math.sin(seconds * 0.7 + phase * 6) * 0.006) * raster.width;
    raster.streak(column - half, row, half * 2, 0, light, 0.5 * shine * strength);
  };

const mote =
  (light: Light, glowing: number): Painter =>
  (raster, { x, y, size, phase }, seconds, strength, unit) => {
    const aside = wrap(x + 0.05 * Math.sin(seconds * (0.3 + size * 0.4) + phase * 6.3) + seconds * 0.008);
    const up = wrap(y - seconds * (0.006 + 0.02 * size) + 0.02 * Math.sin(seconds * 0.9 + phase * 9));
    const radius = unit * (0.0025 + 0.005 * size) * (1 + glowing);
    const shine = (0.25 + 0.75 * blink(seconds, 1.6 + 2 * size, phase) ** 2) * (0.3 + 0.5 * glowing);
    raster.glow(aside * raster.width, up * raster.height, radius, light, shine * strength);
  };

/** Lamps of cars far away, white one way and red the other. */
const traffic: Painter = (raster, { x, y, size, phase }, seconds, strength, unit) => {
  const isComing = phase < 0.5;
  const along = wrap(x + (isComing ? 1 : -1) * seconds * (0.05 + 0.04 * size));
  const light = isComing ? { r: 255, g: 240, b: 200 } : { r: 255, g: 70, b: 60 };
  const row = (isComing ? 0.955 : 0.93) + y * 0.012;
  raster.glow(
    along * raster.width,
    row * raster.height,
    unit * (0.008 + 0.006 * size),
    light,
    0.8 * strength,
  );
};

const orb =
  (colours: readonly Light[]): Painter =>
  (raster, { x, y, size, phase }, seconds, strength, unit) => {
    const light = colours[Math.floor(phase * colours.length)] ?? white;
    const aside = wrap(x + 0.12 * Math.sin(seconds * (0.25 + 0.2 * size) + phase * 6.3)) * raster.width;
    const down = wrap(y + 0.12 * Math.cos(seconds * (0.2 + 0.25 * size) + phase * 3)) * raster.height;
    raster.glow(aside, down, unit * (0.03 + 0.09 * size), light, 0.35 * strength);
  };

/** `density` 1 is as usual: more steps draw more of it. */
export function createWeather(scene: Scene, seed: bigint, density: number): Weather {
  const random = createRandom(toSeed([seed, 'weather']));
  const swarm = (count: number, paint: Painter): Swarm => ({
    spots: spotsOf(count * density, random),
    paint,
  });
  const swarms = swarmsOf(scene, swarm);
  return {
    draw(raster, seconds, strength) {
      if (strength <= 0) return;
      const unit = Math.min(raster.width, raster.height);
      for (const { spots, paint } of swarms)
        for (const spot of spots) paint(raster, spot, seconds, strength, unit);
    },
  };
}

/** Spots of light in the colours of a picture that shows nothing. */
export function createOrbs(colours: readonly Light[], seed: bigint, density: number): Weather {
  const random = createRandom(toSeed([seed, 'orbs']));
  const spots = spotsOf(14 * density, random);
  const paint = orb(colours);
  return {
    draw(raster, seconds, strength) {
      const unit = Math.min(raster.width, raster.height);
      for (const spot of spots) paint(raster, spot, seconds, strength, unit);
    },
  };
}

function spotsOf(count: number, random: Random): Spot[] {
  return Array.from({ length: Math.round(count) }, () => ({
    x: random.next(),
    y: random.next(),
    size: random.next(),
    phase: random.next(),
  }));
}

function swarmsOf(scene: Scene, swarm: (count: number, paint: Painter) => Swarm): Swarm[] {
  const { sky, land, time, palette, height } = scene;
  const horizon = Math.min(1, scene.horizon / height);
  const isDark = time === 'night';
  const swarms: Swarm[] = [];
  if (sky.has('stars')) swarms.push(swarm(70, star(horizon)));
  if (land === 'sea' || land === 'beach') {
    const share = land === 'sea' ? 1 : 0.5;
    swarms.push(swarm(110 * share, glitter(horizon, palette.light)));
  }
  if (land === 'city' && isDark) swarms.push(swarm(26, traffic));
  const isGreen = land === 'meadow' || land === 'forest' || land === 'hills';
  if (isGreen && isDark) swarms.push(swarm(34, mote({ r: 215, g: 255, b: 120 }, 1)));
  else if (isGreen) swarms.push(swarm(36, mote({ r: 255, g: 248, b: 214 }, 0)));
  if (land === 'desert') swarms.push(swarm(40, mote({ r: 255, g: 224, b: 170 }, 0)));
  if (land === 'room') swarms.push(swarm(28, mote({ r: 255, g: 240, b: 210 }, 0)));
  if (sky.has('snowfall')) swarms.push(swarm(260, snow));
  else if (scene.isSnowy && land !== 'room') swarms.push(swarm(90, snow));
  if (sky.has('rain')) swarms.push(swarm(260, rain));
  return swarms;
}
