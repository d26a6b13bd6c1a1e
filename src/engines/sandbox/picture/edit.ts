/** Pictures made from pictures: the first one is the ground, further ones are laid on it, a mask says what may change. */
import type { Pixels } from '../../contract/picture.ts';
import { Canvas } from './canvas.ts';
import { type Colour, fade, rgb, white } from './colour.ts';
import { Pen } from './pen.ts';
import { covering } from './scale.ts';
import type { Scene } from './scene.ts';

/** The light of the scene's hour and colours falls on what is there. */
export function tint({ data, width, height }: Canvas, { palette }: Scene, strength: number): void {
  for (let y = 0, at = 0; y < height; y++) {
    const share = y / height;
    const light: Colour = {
      r: palette.skyHigh.r + (palette.skyLow.r - palette.skyHigh.r) * share,
      g: palette.skyHigh.g + (palette.skyLow.g - palette.skyHigh.g) * share,
      b: palette.skyHigh.b + (palette.skyLow.b - palette.skyHigh.b) * share,
      a: 1,
    };
    for (let x = 0; x < width; x++, at += 4) {
      for (const [part, colour] of [light.r, light.g, light.b].entries()) {
        const value = data[at + part] ?? 0;
        const lit = value * (0.3 + (0.85 * colour) / 255);
        data[at + part] = Math.min(255, value + (lit - value) * strength + 0.5);
      }
    }
  }
}

/** Further references as small prints along the lower edge. */
export function layPrints(canvas: Canvas, prints: readonly Pixels[]): void {
  if (prints.length === 0) return;
  const pen = Pen.on(canvas);
  const { width, height } = canvas;
  const gap = Math.min(width, height) * 0.025;
  const side = Math.floor(Math.min(Math.min(width, height) * 0.3, (width - gap) / prints.length - gap));
  if (side < 4) return;
  for (const [index, print] of prints.entries()) {
    const x = Math.round(width - (prints.length - index) * (side + gap));
    const y = Math.round(height - side - gap);
    const frame = Math.max(2, side * 0.045);
    pen.rect(
      x - frame,
      y - frame + frame * 0.6,
      side + frame * 2,
      side + frame * 2,
      fade(rgb(0x101018), 0.25),
      frame,
    );
    pen.rect(x - frame, y - frame, side + frame * 2, side + frame * 2, white, frame * 0.6);
    stamp(canvas, covering(print, side, side), x, y);
  }
}

function stamp({ data, width, height }: Canvas, print: Canvas, left: number, top: number): void {
  for (let y = 0; y < print.height; y++) {
    if (top + y < 0 || top + y >= height) continue;
    for (let x = 0; x < print.width; x++) {
      if (left + x < 0 || left + x >= width) continue;
      const from = (y * print.width + x) * 4;
      const share = (print.data[from + 3] ?? 0) / 255;
      const to = ((top + y) * width + left + x) * 4;
      for (let part = 0; part < 3; part++) {
        const under = data[to + part] ?? 0;
        data[to + part] = under + ((print.data[from + part] ?? 0) - under) * share + 0.5;
      }
    }
  }
}

/** Where a mask lets something change: shares from 0 to 1, and the rectangle that holds all of them. */
export interface Opening {
  readonly shares: Float32Array;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Undefined: the mask is clear nowhere. The seam is soft on the inner side alone: where the mask is not clear at all,
 * nothing changes.
 */
export function toOpening(mask: Pixels, width: number, height: number): Opening | undefined {
  const fitted = covering(mask, width, height);
  const clear = new Float32Array(width * height);
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const share = 1 - (fitted.data[at * 4 + 3] ?? 0) / 255;
      clear[at] = share;
      if (share <= 0) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
  }
  if (right < 0) return undefined;
  const reach = Math.max(1, Math.round(Math.min(width, height) * 0.012));
  const near = blurred(blurred(clear, width, height, reach, true), width, height, reach, false);
  const shares = clear.map((share, at) => share * Math.max(0, Math.min(1, ((near[at] ?? 0) - 0.45) / 0.5)));
  return { shares, left, top, width: right - left + 1, height: bottom - top + 1 };
}

/** The mean of the neighbours in one direction; beyond the edge the last one goes on. */
function blurred(
  values: Float32Array,
  width: number,
  height: number,
  reach: number,
  isAcross: boolean,
): Float32Array {
  const result = new Float32Array(values.length);
  const [lanes, length] = isAcross ? [height, width] : [width, height];
  const [lane, step] = isAcross ? [width, 1] : [1, width];
  for (let index = 0; index < lanes; index++) {
    const start = index * lane;
    const at = (place: number) => values[start + Math.max(0, Math.min(length - 1, place)) * step] ?? 0;
    let sum = 0;
    for (let place = -reach; place <= reach; place++) sum += at(place);
    for (let place = 0; place < length; place++) {
      result[start + place * step] = sum / (2 * reach + 1);
      sum += at(place + reach + 1) - at(place - reach);
    }
  }
  return result;
}

/** `patch` into the opening of `ground`. */
export function compose(ground: Canvas, patch: Canvas, { shares, left, top, width, height }: Opening): void {
  const { data } = ground;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const place = (top + y) * ground.width + left + x;
      const share = shares[place] ?? 0;
      if (share <= 0) continue;
      const [at, from] = [place * 4, (y * patch.width + x) * 4];
      const under = (data[at + 3] ?? 0) * (1 - share);
      const over = (patch.data[from + 3] ?? 0) * share;
      const all = under + over;
      for (let part = 0; part < 3; part++) {
        const mixed =
          all <= 0 ? 0 : ((data[at + part] ?? 0) * under + (patch.data[from + part] ?? 0) * over) / all;
        data[at + part] = mixed + 0.5;
      }
      data[at + 3] = all + 0.5;
    }
  }
}

/** How far a colour may be from the one at the border to be background, squared. */
const tolerance = 46 ** 2;
const leastBackground = 0.02;

/** Clears what hangs together with the border and has its colour; where that is next to nothing, all but an oval. */
export function cutOut(canvas: Canvas): void {
  const { data, width, height } = canvas;
  const seen = new Uint8Array(width * height);
  const queue = new Int32Array(width * height);
  const corner = [data[0] ?? 0, data[1] ?? 0, data[2] ?? 0] as const;
  let filled = 0;
  const visit = (place: number): void => {
    if (seen[place] === 1) return;
    const at = place * 4;
    let far = 0;
    for (const [part, value] of corner.entries()) far += ((data[at + part] ?? 0) - value) ** 2;
    if (far > tolerance) return;
    seen[place] = 1;
    queue[filled++] = place;
  };
  for (let x = 0; x < width; x++) {
    visit(x);
    visit((height - 1) * width + x);
  }
  for (let y = 0; y < height; y++) {
    visit(y * width);
    visit(y * width + width - 1);
  }
  for (let next = 0; next < filled; next++) {
    const place = queue[next] ?? 0;
    const x = place % width;
    if (x > 0) visit(place - 1);
    if (x < width - 1) visit(place + 1);
    if (place >= width) visit(place - width);
    if (place < (height - 1) * width) visit(place + width);
  }
  if (filled < leastBackground * seen.length) cutOval(canvas);
  else
    for (let place = 0; place < seen.length; place++)
      if (seen[place] === 1) data.fill(0, place * 4, place * 4 + 4);
}

export function cutOval({ data, width, height }: Canvas): void {
  const soft = Math.min(width, height) / 2;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      const far = Math.hypot((x + 0.5) / width - 0.5, (y + 0.5) / height - 0.5) / 0.47;
      const share = Math.max(0, Math.min(1, (1 - far) * soft * 0.25));
      if (share <= 0) data.fill(0, at, at + 4);
      else data[at + 3] = (data[at + 3] ?? 0) * share + 0.5;
    }
  }
}

export function cutFrom({ width: all, data }: Canvas, { left, top, width, height }: Opening): Canvas {
  const part = new Canvas(width, height);
  for (let y = 0; y < height; y++) {
    const from = ((top + y) * all + left) * 4;
    part.data.set(data.subarray(from, from + width * 4), y * width * 4);
  }
  return part;
}
