/**
 * One frame of a film under way. Two of a pixel's four parts are worked on at once in one 32-bit number: a frame of
 * 1344 × 768 from two layers takes about 10 ms that way, and four times as much part by part.
 */
import { type Layer, rowKinds } from './layer.ts';

const one = 0x10000;
/** Red and blue; shifted by eight bits: green and opacity. */
const pair = 0x00ff00ff;

/** What part of a layer is seen: its upper left corner and how many of its pixels go into one of the frame. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly step: number;
  /** How far a row of the layer is pushed to the side, in its pixels: water and hot air. */
  readonly sway?: (row: number) => number;
}

/** Where a sprite goes: x' = a·x + c·y + e, y' = b·x + d·y + f. */
export interface Placement {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;
}

export interface Light {
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

export class Raster {
  readonly width: number;
  readonly height: number;
  readonly pixels: Int32Array;
  /** The same memory, as the film takes it. */
  readonly bytes: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.pixels = new Int32Array(width * height);
    this.bytes = new Uint8Array(this.pixels.buffer);
  }

  /** A whole layer; rows that `hiddenBy` covers need not be drawn. */
  layer(layer: Layer, view: View, hiddenBy?: (row: number) => boolean): void {
    const step = Math.round(view.step * one);
    const lastX = Math.max(0, (layer.width - 1) * one - step * (this.width - 1));
    const lastY = (layer.height - 1) * one;
    for (let y = 0; y < this.height; y++) {
      if (hiddenBy?.(y) === true) continue;
      const atY = clamp(Math.round(view.y * one) + y * step, lastY);
      const row = atY >> 16;
      const kind = Math.max(layer.rows[row]!, layer.rows[row + 1]!);
      if (kind === rowKinds.clear) continue;
      const side = view.sway === undefined ? 0 : view.sway(atY / one);
      const atX = clamp(Math.round((view.x + side) * one), lastX);
      const isCovering = Math.min(layer.rows[row]!, layer.rows[row + 1]!) === rowKinds.covering;
      if (isCovering) this.#copyRow(layer, row, (atY >> 8) & 0xff, atX, step, y);
      else this.#blendRow(layer, row, (atY >> 8) & 0xff, atX, step, y);
    }
  }

  #copyRow(layer: Layer, row: number, fy: number, atX: number, step: number, y: number): void {
    const { pixels, stride } = layer;
    const target = this.pixels;
    const upper = row * stride;
    const end = (y + 1) * this.width;
    for (let to = y * this.width, x = atX; to < end; to++, x += step)
      target[to] = between(pixels, upper + (x >> 16), stride, (x >> 8) & 0xff, fy);
  }

  #blendRow(layer: Layer, row: number, fy: number, atX: number, step: number, y: number): void {
    const { pixels, stride } = layer;
    const target = this.pixels;
    const upper = row * stride;
    const end = (y + 1) * this.width;
    for (let to = y * this.width, x = atX; to < end; to++, x += step) {
      const at = upper + (x >> 16);
      if ((pixels[at]! | pixels[at + 1]! | pixels[at + stride]! | pixels[at + stride + 1]!) === 0) continue;
      target[to] = over(between(pixels, at, stride, (x >> 8) & 0xff, fy), target[to]!);
    }
  }

  /** Something small with clear edges, turned and scaled as it likes; `strength` 0 to 1. */
  sprite(layer: Layer, placement: Placement, strength = 1): void {
    const { a, b, c, d, e, f } = placement;
    const force = Math.round(Math.min(1, strength) * 256);
    const size = a * d - b * c;
    if (force <= 0 || Math.abs(size) < 1e-6) return;
    const box = this.#boxOf(layer, placement);
    const { pixels, stride, width, height } = layer;
    const target = this.pixels;
    const stepU = Math.round((d / size) * one);
    const stepV = Math.round((-b / size) * one);
    for (let y = box.top; y < box.bottom; y++) {
      const [dx, dy] = [box.left + 0.5 - e, y + 0.5 - f];
      let u = Math.round(((d * dx - c * dy) / size - 0.5) * one);
      let v = Math.round(((a * dy - b * dx) / size - 0.5) * one);
      for (let to = y * this.width + box.left, end = to + box.right - box.left; to < end; to++) {
        const column = u >> 16;
        const row = v >> 16;
        if (column >= 0 && row >= 0 && column < width && row < height) {
          const at = row * stride + column;
          if ((pixels[at]! | pixels[at + 1]! | pixels[at + stride]! | pixels[at + stride + 1]!) !== 0) {
            const colour = between(pixels, at, stride, (u >> 8) & 0xff, (v >> 8) & 0xff);
            target[to] = over(force === 256 ? colour : weaken(colour, force), target[to]!);
          }
        }
        u += stepU;
        v += stepV;
      }
    }
  }

  #boxOf({ width, height }: Layer, { a, b, c, d, e, f }: Placement) {
    const [wide, tall] = [a * width, b * width];
    const [aside, down] = [c * height, d * height];
    const left = e + Math.min(0, wide) + Math.min(0, aside);
    const right = e + Math.max(0, wide) + Math.max(0, aside);
    const top = f + Math.min(0, tall) + Math.min(0, down);
    const bottom = f + Math.max(0, tall) + Math.max(0, down);
    return {
      left: Math.max(0, Math.floor(left)),
      right: Math.min(this.width, Math.ceil(right) + 1),
      top: Math.max(0, Math.floor(top)),
      bottom: Math.min(this.height, Math.ceil(bottom) + 1),
    };
  }

  /** Light in a round spot, brightest in its middle. */
  glow(x: number, y: number, radius: number, light: Light, strength: number): void {
    if (strength <= 0 || radius <= 0) return;
    const { pixels, width } = this;
    const top = Math.max(0, Math.ceil(y - radius));
    const bottom = Math.min(this.height - 1, Math.floor(y + radius));
    for (let row = top; row <= bottom; row++) {
      const dy = row - y;
      const half = Math.sqrt(Math.max(0, radius * radius - dy * dy));
      const end = Math.min(width - 1, Math.floor(x + half));
      for (let column = Math.max(0, Math.ceil(x - half)); column <= end; column++) {
        const dx = column - x;
        const fall = 1 - (dx * dx + dy * dy) / (radius * radius);
        const force = fall * fall * strength;
        const at = row * width + column;
        pixels[at] = brighten(pixels[at]!, light, force);
      }
    }
  }

  /** A thin slanted line, as rain draws it. */
  streak(x: number, y: number, dx: number, dy: number, light: Light, strength: number): void {
    const steps = Math.max(1, Math.ceil(Math.max(Math.abs(dx), Math.abs(dy))));
    const colour = toPixel(light);
    const force = Math.round(strength * 256);
    for (let step = 0; step <= steps; step++) {
      const column = Math.round(x + (dx * step) / steps);
      const row = Math.round(y + (dy * step) / steps);
      if (column < 0 || row < 0 || column >= this.width || row >= this.height) continue;
      const at = row * this.width + column;
      this.pixels[at] = mixed(this.pixels[at]!, colour, force);
    }
  }

  /** Everything takes on something of a colour. */
  tint(light: Light, strength: number): void {
    const force = Math.round(Math.min(1, strength) * 256);
    if (force <= 0) return;
    const colour = toPixel(light);
    const { pixels } = this;
    for (let at = 0; at < pixels.length; at++) pixels[at] = mixed(pixels[at]!, colour, force);
  }

  /** Goes over into another frame: `share` 1 is all of it. */
  dissolve(other: Raster, share: number): void {
    const force = Math.round(Math.max(0, Math.min(1, share)) * 256);
    if (force === 0) return;
    if (force === 256) {
      this.pixels.set(other.pixels);
      return;
    }
    const { pixels } = this;
    const { pixels: others } = other;
    for (let at = 0; at < pixels.length; at++) pixels[at] = mixed(pixels[at]!, others[at]!, force);
  }
}

function clamp(value: number, most: number): number {
  return Math.max(0, Math.min(most, value));
}

function toPixel({ r, g, b }: Light): number {
  return (255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);
}

/** Between four neighbours; `fx` and `fy` are shares of 256 of the right and the lower ones. */
function between(pixels: Int32Array, at: number, stride: number, fx: number, fy: number): number {
  const a = pixels[at]!;
  const b = pixels[at + 1]!;
  const gx = 256 - fx;
  let low = ((Math.imul(a & pair, gx) + Math.imul(b & pair, fx)) >>> 8) & pair;
  let high = ((Math.imul((a >>> 8) & pair, gx) + Math.imul((b >>> 8) & pair, fx)) >>> 8) & pair;
  if (fy !== 0) {
    const c = pixels[at + stride]!;
    const d = pixels[at + stride + 1]!;
    const gy = 256 - fy;
    const lower = ((Math.imul(c & pair, gx) + Math.imul(d & pair, fx)) >>> 8) & pair;
    const higher = ((Math.imul((c >>> 8) & pair, gx) + Math.imul((d >>> 8) & pair, fx)) >>> 8) & pair;
    low = ((Math.imul(low, gy) + Math.imul(lower, fy)) >>> 8) & pair;
    high = ((Math.imul(high, gy) + Math.imul(higher, fy)) >>> 8) & pair;
  }
  return low | (high << 8);
}

/** A colour that was multiplied by its opacity, over one that covers. */
function over(colour: number, under: number): number {
  const a = colour >>> 24;
  if (a === 255) return colour;
  if (a === 0) return under;
  const rest = 256 - a - (a >> 7);
  const low = (colour & pair) + ((Math.imul(under & pair, rest) >>> 8) & pair);
  const high = ((colour >>> 8) & 0xff) + ((Math.imul((under >>> 8) & 0xff, rest) >>> 8) & 0xff);
  return (255 << 24) | (low & pair) | ((high & 0xff) << 8);
}

function weaken(colour: number, force: number): number {
  const low = (Math.imul(colour & pair, force) >>> 8) & pair;
  const high = (Math.imul((colour >>> 8) & pair, force) >>> 8) & pair;
  return low | (high << 8);
}

function mixed(one: number, other: number, force: number): number {
  const rest = 256 - force;
  const low = ((Math.imul(one & pair, rest) + Math.imul(other & pair, force)) >>> 8) & pair;
  const high = ((Math.imul((one >>> 8) & pair, rest) + Math.imul((other >>> 8) & pair, force)) >>> 8) & pair;
  return low | (high << 8);
}

function brighten(colour: number, { r, g, b }: Light, force: number): number {
  const red = Math.min(255, (colour & 0xff) + r * force);
  const green = Math.min(255, ((colour >>> 8) & 0xff) + g * force);
  const blue = Math.min(255, ((colour >>> 16) & 0xff) + b * force);
  return (255 << 24) | (blue << 16) | (green << 8) | red;
}
