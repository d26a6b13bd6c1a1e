/**
 * A picture under the brush: pixels of eight bits with straight opacity, and shapes that are filled with exact
 * coverage at their edges. The coverage of a shape is summed from its edges (the way font rasterizers work), so a
 * shape costs its bounding box and no more.
 */
import type { Pixels } from '../../contract/picture.ts';
import type { Colour } from './colour.ts';

/** A closed line through points, x and y in turn, in pixels. Contours that turn the other way are holes. */
export type Contour = readonly number[];

/** What a shape is filled with; places are in pixels. */
export type Paint =
  | Colour
  | { readonly from: Colour; readonly to: Colour; readonly line: readonly [number, number, number, number] }
  | {
      readonly from: Colour;
      readonly to: Colour;
      readonly centre: readonly [number, number];
      readonly radius: number;
    };

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export class Canvas implements Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  #coverage = new Float32Array(0);

  constructor(width: number, height: number, data?: Uint8Array) {
    this.width = width;
    this.height = height;
    this.data = data ?? new Uint8Array(width * height * 4);
  }

  copy(): Canvas {
    return new Canvas(this.width, this.height, this.data.slice());
  }

  fill(contours: readonly Contour[], paint: Paint): void {
    const box = this.#boxOf(contours);
    if (box === undefined) return;
    const cells = (box.width + 2) * box.height;
    if (this.#coverage.length < cells) this.#coverage = new Float32Array(cells);
    for (const contour of contours) this.#trace(contour, box);
    const shade = toShade(paint);
    const { data } = this;
    const coverage = this.#coverage;
    for (let row = 0; row < box.height; row++) {
      const y = box.top + row;
      let cell = row * (box.width + 2);
      let at = (y * this.width + box.left) * 4;
      let sum = 0;
      for (let column = 0; column < box.width; column++, cell++, at += 4) {
        sum += coverage[cell] ?? 0;
        coverage[cell] = 0;
        const covered = Math.min(1, Math.abs(sum));
        if (covered < 0.004) continue;
        const colour = shade(box.left + column, y);
        if (covered > 0.998 && colour.a === 1) {
          data[at] = colour.r + 0.5;
          data[at + 1] = colour.g + 0.5;
          data[at + 2] = colour.b + 0.5;
          data[at + 3] = 255;
        } else {
          blend(data, at, colour, covered);
        }
      }
      coverage[cell] = 0;
      coverage[cell + 1] = 0;
    }
  }

  /** What the shapes touch, cut to the canvas; undefined: nothing. */
  #boxOf(contours: readonly Contour[]): Box | undefined {
    let [left, top, right, bottom] = [this.width, this.height, 0, 0];
    for (const contour of contours) {
      for (let i = 0; i + 1 < contour.length; i += 2) {
        const x = contour[i] ?? 0;
        const y = contour[i + 1] ?? 0;
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, y);
        bottom = Math.max(bottom, y);
      }
    }
    left = Math.max(0, Math.floor(left));
    top = Math.max(0, Math.floor(top));
    const width = Math.min(this.width, Math.ceil(right)) - left;
    const height = Math.min(this.height, Math.ceil(bottom)) - top;
    return width > 0 && height > 0 ? { left, top, width, height } : undefined;
  }

  #trace(contour: Contour, box: Box): void {
    const last = contour.length - 2;
    for (let i = 0; i <= last; i += 2) {
      const next = i === last ? 0 : i + 2;
      this.#edge(
        (contour[i] ?? 0) - box.left,
        (contour[i + 1] ?? 0) - box.top,
        (contour[next] ?? 0) - box.left,
        (contour[next + 1] ?? 0) - box.top,
        box,
      );
    }
  }

  /** Adds what an edge changes at and right of itself, row by row: the running sum of a row is then its coverage. */
  #edge(ax: number, ay: number, bx: number, by: number, { width, height }: Box): void {
    if (ay === by) return;
    const turn = ay < by ? 1 : -1;
    const [x0, y0, x1, y1] = ay < by ? [ax, ay, bx, by] : [bx, by, ax, ay];
    const slope = (x1 - x0) / (y1 - y0);
    let x = y0 < 0 ? x0 - y0 * slope : x0;
    const end = Math.min(height, Math.ceil(y1));
    for (let y = Math.max(0, Math.floor(y0)); y < end; y++) {
      const part = Math.min(y + 1, y1) - Math.max(y, y0);
      const next = x + slope * part;
      const from = Math.max(0, Math.min(width, x));
      const to = Math.max(0, Math.min(width, next));
      this.#span(y * (width + 2), Math.min(from, to), Math.max(from, to), part * turn);
      x = next;
    }
  }

  #span(start: number, low: number, high: number, part: number): void {
    const coverage = this.#coverage;
    const first = Math.floor(low);
    const beyond = Math.ceil(high);
    const at = start + first;
    if (beyond <= first + 1) {
      const share = (low + high) / 2 - first;
      coverage[at] = (coverage[at] ?? 0) + part * (1 - share);
      coverage[at + 1] = (coverage[at + 1] ?? 0) + part * share;
      return;
    }
    const slant = 1 / (high - low);
    const head = 0.5 * slant * (1 - (low - first)) ** 2;
    const tail = 0.5 * slant * (high - beyond + 1) ** 2;
    const last = start + beyond;
    coverage[at] = (coverage[at] ?? 0) + part * head;
    if (beyond === first + 2) {
      coverage[at + 1] = (coverage[at + 1] ?? 0) + part * (1 - head - tail);
    } else {
      const second = slant * (1.5 - (low - first));
      coverage[at + 1] = (coverage[at + 1] ?? 0) + part * (second - head);
      for (let cell = at + 2; cell < last - 1; cell++) coverage[cell] = (coverage[cell] ?? 0) + part * slant;
      const sum = second + (beyond - first - 3) * slant;
      coverage[last - 1] = (coverage[last - 1] ?? 0) + part * (1 - sum - tail);
    }
    coverage[last] = (coverage[last] ?? 0) + part * tail;
  }
}

/** One pixel over what is there. */
export function blend(data: Uint8Array, at: number, { r, g, b, a }: Colour, share: number): void {
  const over = a * share;
  const under = ((data[at + 3] ?? 0) / 255) * (1 - over);
  const all = over + under;
  if (all <= 0) return;
  const weight = over / all;
  const red = data[at] ?? 0;
  const green = data[at + 1] ?? 0;
  const blue = data[at + 2] ?? 0;
  data[at] = red + (r - red) * weight + 0.5;
  data[at + 1] = green + (g - green) * weight + 0.5;
  data[at + 2] = blue + (b - blue) * weight + 0.5;
  data[at + 3] = all * 255 + 0.5;
}

/** The answer is used again for the next pixel. */
function toShade(paint: Paint): (x: number, y: number) => Colour {
  if (!('from' in paint)) return () => paint;
  const { from, to } = paint;
  const mixed = { ...from };
  const between = (share: number): Colour => {
    mixed.r = from.r + (to.r - from.r) * share;
    mixed.g = from.g + (to.g - from.g) * share;
    mixed.b = from.b + (to.b - from.b) * share;
    mixed.a = from.a + (to.a - from.a) * share;
    return mixed;
  };
  if ('line' in paint) {
    const [x0, y0, x1, y1] = paint.line;
    const length = (x1 - x0) ** 2 + (y1 - y0) ** 2 || 1;
    const dx = (x1 - x0) / length;
    const dy = (y1 - y0) / length;
    return (x, y) => between(Math.max(0, Math.min(1, (x + 0.5 - x0) * dx + (y + 0.5 - y0) * dy)));
  }
  const { centre, radius } = paint;
  return (x, y) => between(Math.min(1, Math.hypot(x + 0.5 - centre[0], y + 0.5 - centre[1]) / radius));
}
