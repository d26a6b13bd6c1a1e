/**
 * How a picture becomes finer step by step. The first step blocks it in: large patches of colour. Every further one is
 * an update: it halves what is still missing, draws the edges more firmly and adds touches of the brush, smaller each
 * time. N steps: N − 1 updates.
 */
import type { Random } from '../seed.ts';
import type { Canvas } from './canvas.ts';
import { type Colour, darken, fade, lighten } from './colour.ts';
import { Pen } from './pen.ts';
import { scaled } from './scale.ts';

/** Patches along the shorter side of a picture that is only blocked in. */
const patches = 20;
const touchesPerUpdate = 60;

/** Touches of so many updates onto the finished drawing. */
export function addTouches(canvas: Canvas, updates: number, random: Random): void {
  const pen = Pen.on(canvas);
  const { width, height, data } = canvas;
  const unit = Math.min(width, height);
  for (let update = 1; update <= updates; update++) {
    const long = (unit * 0.02) / Math.sqrt(update);
    for (let touch = 0; touch < touchesPerUpdate; touch++) {
      const [x, y] = [random.next() * width, random.next() * height];
      const turn = random.next() - 0.5;
      const isLight = random.next() < 0.5;
      const at = (Math.floor(y) * width + Math.floor(x)) * 4;
      if ((data[at + 3] ?? 0) < 255) continue;
      const under: Colour = { r: data[at] ?? 0, g: data[at + 1] ?? 0, b: data[at + 2] ?? 0, a: 1 };
      const colour = isLight ? lighten(under, 0.12) : darken(under, 0.1);
      pen.ellipse(x, y, long, long * 0.22, fade(colour, 0.14), turn * 0.3);
    }
  }
}

const sharpnessPerUpdate = 0.008;

/** Every update draws the edges a little more firmly. */
export function sharpen({ data, width, height }: Canvas, updates: number): void {
  if (updates === 0) return;
  const strength = updates * sharpnessPerUpdate;
  const source = data.slice();
  const row = width * 4;
  for (let y = 1; y < height - 1; y++) {
    for (let at = y * row + 4; at < (y + 1) * row - 4; at++) {
      // Clear pixels have no colour that could be told from.
      if ((at & 3) === 3 || source[at | 3] !== 255) continue;
      const own = source[at] ?? 0;
      const around =
        (source[at - 4] ?? 0) + (source[at + 4] ?? 0) + (source[at - row] ?? 0) + (source[at + row] ?? 0);
      const sharp = own + (own - around / 4) * strength;
      data[at] = clamp(sharp);
    }
  }
}

/** What is there after so many updates, on the way from patches to the finished picture. */
export function approach(canvas: Canvas, updates: number): void {
  const missing = 0.5 ** updates;
  // No eye sees what is still missing then.
  if (missing < 1 / 100) return;
  const { width, height, data } = canvas;
  const cell = Math.min(width, height) / patches;
  const small = scaled(canvas, Math.max(2, Math.round(width / cell)), Math.max(2, Math.round(height / cell)));
  const rough = scaled(small, width, height).data;
  for (let at = 0; at < data.length; at++) {
    const fine = data[at] ?? 0;
    data[at] = fine + ((rough[at] ?? 0) - fine) * missing + 0.5;
  }
}

/** Guidance makes colours and contrasts stronger, the more of it the stronger. */
export function strengthen({ data }: Canvas, guidance: number): void {
  if (guidance <= 0) return;
  const saturation = 1 + guidance * 0.035;
  const contrast = 1 + guidance * 0.018;
  for (let at = 0; at < data.length; at += 4) {
    const grey = 0.2126 * (data[at] ?? 0) + 0.7152 * (data[at + 1] ?? 0) + 0.0722 * (data[at + 2] ?? 0);
    for (let part = 0; part < 3; part++) {
      const strong = grey + ((data[at + part] ?? 0) - grey) * saturation;
      data[at + part] = clamp((strong - 128) * contrast + 128);
    }
  }
}

function clamp(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value + 0.5;
}
