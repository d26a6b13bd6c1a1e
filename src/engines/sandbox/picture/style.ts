/** The manner of a whole picture: watercolour, pixels, lines, tiles, black and white, poster. Works on what is drawn. */
import type { Random } from '../seed.ts';
import type { Canvas } from './canvas.ts';
import { createNoise } from './noise.ts';
import { scaled } from './scale.ts';
import type { Style } from './words.ts';

export function applyStyle(canvas: Canvas, style: Style | undefined, random: Random): void {
  if (style !== undefined) manners[style](canvas, random);
}

const manners: Readonly<Record<Style, (canvas: Canvas, random: Random) => void>> = {
  watercolour,
  pixel,
  lines,
  mosaic,
  noir,
  poster,
};

/** Paper shines through, colours bleed and gather at the edges of their patches. */
function watercolour(canvas: Canvas, random: Random): void {
  const { width, height, data } = canvas;
  const noise = createNoise(random);
  const unit = Math.min(width, height);
  const soft = scaled(scaled(canvas, Math.ceil(width / 4), Math.ceil(height / 4)), width, height).data;
  const source = data.slice();
  const bleed = unit * 0.012;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      const wide = noise.layered((x / unit) * 9, (y / unit) * 9, 2);
      const fine = noise.at((x / unit) * 110, (y / unit) * 110);
      const fromX = clampTo(Math.round(x + (wide - 0.5) * bleed * 2), width);
      const fromY = clampTo(
        Math.round(y + (noise.at((x / unit) * 9 + 40, (y / unit) * 9) - 0.5) * bleed * 2),
        height,
      );
      const from = (fromY * width + fromX) * 4;
      const wash = 0.24 + 0.26 * wide + 0.1 * (fine - 0.5);
      for (let part = 0; part < 3; part++) {
        const sharp = source[from + part] ?? 0;
        const blurred = soft[from + part] ?? 0;
        const edge = Math.min(26, Math.abs(sharp - blurred)) * 0.7;
        const pigment = blurred * 0.55 + sharp * 0.45 - edge;
        const paper = part === 2 ? 244 : 251;
        data[at + part] = limit(pigment + (paper - pigment) * wash);
      }
    }
  }
}

const levels = 6;

/** Large square pixels of few colours. */
function pixel(canvas: Canvas): void {
  const { width, height, data } = canvas;
  const cell = Math.max(4, Math.round(Math.min(width, height) / 72));
  const [columns, rows] = [Math.ceil(width / cell), Math.ceil(height / cell)];
  const small = scaled(canvas, columns, rows).data;
  for (let at = 0; at < small.length; at++) {
    if (at % 4 === 3) small[at] = (small[at] ?? 0) < 128 ? 0 : 255;
    else small[at] = Math.round(((small[at] ?? 0) / 255) * levels) * (255 / levels);
  }
  for (let y = 0, at = 0; y < height; y++) {
    const row = Math.floor(y / cell) * columns;
    for (let x = 0; x < width; x++, at += 4) {
      const from = (row + Math.floor(x / cell)) * 4;
      for (let part = 0; part < 4; part++) data[at + part] = small[from + part] ?? 0;
    }
  }
}

/** Ink along the edges on paper, hatched where it is dark. */
function lines(canvas: Canvas): void {
  const { width, height, data } = canvas;
  const light = new Float32Array(width * height);
  for (let pixelAt = 0, at = 0; pixelAt < light.length; pixelAt++, at += 4) {
    light[pixelAt] = 0.3 * (data[at] ?? 0) + 0.59 * (data[at + 1] ?? 0) + 0.11 * (data[at + 2] ?? 0);
  }
  const reach = Math.max(1, Math.round(Math.min(width, height) / 700));
  const gap = Math.max(5, Math.round(Math.min(width, height) / 130));
  for (let y = 0, at = 0; y < height; y++) {
    const up = Math.max(0, y - reach) * width;
    const low = Math.min(height - 1, y + reach) * width;
    const here = y * width;
    for (let x = 0; x < width; x++, at += 4) {
      const left = Math.max(0, x - reach);
      const right = Math.min(width - 1, x + reach);
      const dx = (light[here + right] ?? 0) - (light[here + left] ?? 0);
      const dy = (light[low + x] ?? 0) - (light[up + x] ?? 0);
      const edge = Math.min(1, Math.max(0, (Math.hypot(dx, dy) - 7) / 32));
      const shade = light[here + x] ?? 0;
      const isHatched =
        (shade < 105 && (x + y) % gap < gap * 0.22) || (shade < 55 && (x - y + 10_000) % gap < gap * 0.22);
      const ink = Math.max(edge, isHatched ? 0.55 : 0);
      data[at] = 250 - 218 * ink;
      data[at + 1] = 247 - 217 * ink;
      data[at + 2] = 240 - 200 * ink;
    }
  }
}

/** Small stones, each of one colour, each a little askew, with grout between them. */
function mosaic(canvas: Canvas, random: Random): void {
  const { width, height, data } = canvas;
  const cell = Math.max(6, Math.round(Math.min(width, height) / 52));
  const [columns, rows] = [Math.ceil(width / cell), Math.ceil(height / cell)];
  const small = scaled(canvas, columns, rows).data;
  const chances = Float32Array.from({ length: columns * rows * 3 }, () => random.next());
  const grout = cell * 0.07;
  for (let y = 0, at = 0; y < height; y++) {
    const row = Math.floor(y / cell);
    for (let x = 0; x < width; x++, at += 4) {
      const stone = row * columns + Math.floor(x / cell);
      const [tilt, tone, shift] = [
        chances[stone * 3] ?? 0,
        chances[stone * 3 + 1] ?? 0,
        chances[stone * 3 + 2] ?? 0,
      ];
      const [px, py] = [x % cell, y % cell];
      const lean = (tilt - 0.5) * 0.35;
      const u = px + lean * (py - cell / 2);
      const v = py + (shift - 0.5) * 0.35 * (px - cell / 2);
      const isGrout = Math.min(u, cell - u, v, cell - v) < grout;
      const shine = 1 + (tone - 0.5) * 0.22 + (1 - v / cell) * 0.08;
      for (let part = 0; part < 3; part++) {
        data[at + part] = isGrout ? 66 - part * 2 : limit((small[stone * 4 + part] ?? 0) * shine);
      }
    }
  }
}

/** Black and white with hard contrast, dark corners and grain. */
function noir(canvas: Canvas, random: Random): void {
  const { width, height, data } = canvas;
  for (let y = 0, at = 0; y < height; y++) {
    const dy = y / height - 0.5;
    for (let x = 0; x < width; x++, at += 4) {
      const dx = x / width - 0.5;
      const grey = 0.35 * (data[at] ?? 0) + 0.5 * (data[at + 1] ?? 0) + 0.15 * (data[at + 2] ?? 0);
      const hard = (grey - 118) * 1.45 + 112;
      const shade = limit((hard + (random.next() - 0.5) * 26) * (1.08 - 1.1 * (dx * dx + dy * dy)));
      data[at] = shade;
      data[at + 1] = shade;
      data[at + 2] = shade;
    }
  }
}

/** Few flat tones. */
function poster(canvas: Canvas): void {
  const { data } = canvas;
  const steps = 5;
  for (let at = 0; at < data.length; at++) {
    if (at % 4 !== 3) data[at] = Math.round(((data[at] ?? 0) / 255) * steps) * (255 / steps);
  }
}

function clampTo(value: number, size: number): number {
  return Math.max(0, Math.min(size - 1, value));
}

function limit(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value + 0.5;
}
