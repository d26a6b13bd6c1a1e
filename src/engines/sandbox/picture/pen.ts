/** Draws shapes in units of their own, turned, mirrored and scaled onto a canvas. Down is positive, as on the canvas. */
import type { Canvas, Contour, Paint } from './canvas.ts';
import type { Colour } from './colour.ts';

export type Point = readonly [number, number];

/** A colour, or two that go over into each other along a line or away from a point. Places are in the pen's units. */
export type Ink =
  | Colour
  | { readonly from: Colour; readonly to: Colour; readonly line: readonly [number, number, number, number] }
  | {
      readonly from: Colour;
      readonly to: Colour;
      readonly centre: readonly [number, number];
      readonly radius: number;
    };

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly scale?: number;
  /** In turns, clockwise. */
  readonly turn?: number;
  readonly isMirrored?: boolean;
}

export class Pen {
  readonly canvas: Canvas;
  readonly scale: number;
  /** x' = a·x + c·y + e, y' = b·x + d·y + f */
  readonly #matrix: readonly [number, number, number, number, number, number];

  constructor(
    canvas: Canvas,
    matrix: readonly [number, number, number, number, number, number],
    scale: number,
  ) {
    this.canvas = canvas;
    this.scale = scale;
    this.#matrix = matrix;
  }

  /** A pen in pixels. */
  static on(canvas: Canvas): Pen {
    return new Pen(canvas, [1, 0, 0, 1, 0, 0], 1);
  }

  at({ x, y, scale = 1, turn = 0, isMirrored = false }: Place): Pen {
    const [a, b, c, d] = this.#matrix;
    const [e, f] = this.#to(x, y);
    const cos = Math.cos(turn * 2 * Math.PI) * scale;
    const sin = Math.sin(turn * 2 * Math.PI) * scale;
    const side = isMirrored ? -1 : 1;
    return new Pen(
      this.canvas,
      [(a * cos + c * sin) * side, (b * cos + d * sin) * side, c * cos - a * sin, d * cos - b * sin, e, f],
      this.scale * scale,
    );
  }

  fill(shapes: readonly (readonly Point[])[], ink: Ink): void {
    this.canvas.fill(
      shapes.map((points) => this.#contour(points)),
      this.#paint(ink),
    );
  }

  polygon(points: readonly Point[], ink: Ink): void {
    this.fill([points], ink);
  }

  /** A closed line that runs smoothly through the points. */
  blob(points: readonly Point[], ink: Ink): void {
    this.fill([smooth(points, true)], ink);
  }

  ellipse(x: number, y: number, rx: number, ry: number, ink: Ink, turn = 0): void {
    this.fill([ellipsePoints(x, y, rx, ry, turn, this.scale)], ink);
  }

  circle(x: number, y: number, radius: number, ink: Ink): void {
    this.ellipse(x, y, radius, radius, ink);
  }

  ring(x: number, y: number, radius: number, width: number, ink: Ink): void {
    const outer = ellipsePoints(x, y, radius + width / 2, radius + width / 2, 0, this.scale);
    const inner = ellipsePoints(x, y, radius - width / 2, radius - width / 2, 0, this.scale).reverse();
    this.fill([outer, inner], ink);
  }

  rect(x: number, y: number, width: number, height: number, ink: Ink, radius = 0): void {
    const r = Math.min(radius, width / 2, height / 2);
    if (r <= 0) {
      this.polygon(
        [
          [x, y],
          [x + width, y],
          [x + width, y + height],
          [x, y + height],
        ],
        ink,
      );
      return;
    }
    const points: Point[] = [];
    const corners: readonly [number, number, number][] = [
      [x + width - r, y + r, -0.25],
      [x + width - r, y + height - r, 0],
      [x + r, y + height - r, 0.25],
      [x + r, y + r, 0.5],
    ];
    for (const [cx, cy, start] of corners) {
      for (let i = 0; i <= 6; i++) {
        const angle = (start + i / 24) * 2 * Math.PI;
        points.push([cx + r * Math.cos(angle), cy + r * Math.sin(angle)]);
      }
    }
    this.polygon(points, ink);
  }

  /** A line with round ends and corners. */
  stroke(points: readonly Point[], width: number, ink: Ink): void {
    const shapes: Point[][] = [];
    for (let i = 0; i + 1 < points.length; i++) {
      const [from, to] = [points[i], points[i + 1]];
      if (from !== undefined && to !== undefined) shapes.push(capsule(from, to, width / 2, this.scale));
    }
    this.fill(shapes, ink);
  }

  /** Such a line, running smoothly through the points. */
  curve(points: readonly Point[], width: number, ink: Ink): void {
    this.stroke(smooth(points, false), width, ink);
  }

  #to(x: number, y: number): [number, number] {
    const [a, b, c, d, e, f] = this.#matrix;
    return [a * x + c * y + e, b * x + d * y + f];
  }

  #contour(points: readonly Point[]): Contour {
    const contour: number[] = [];
    for (const [x, y] of points) contour.push(...this.#to(x, y));
    return contour;
  }

  #paint(ink: Ink): Paint {
    if (!('from' in ink)) return ink;
    const { from, to } = ink;
    if ('centre' in ink) {
      return { from, to, centre: this.#to(...ink.centre), radius: ink.radius * this.scale };
    }
    const [x0, y0, x1, y1] = ink.line;
    return { from, to, line: [...this.#to(x0, y0), ...this.#to(x1, y1)] };
  }
}

function ellipsePoints(x: number, y: number, rx: number, ry: number, turn: number, scale: number): Point[] {
  // A corner for about every two pixels looks round.
  const count = Math.max(12, Math.min(180, Math.ceil(Math.sqrt(Math.max(rx, ry) * scale) * 5)));
  const cos = Math.cos(turn * 2 * Math.PI);
  const sin = Math.sin(turn * 2 * Math.PI);
  return Array.from({ length: count }, (_, index): Point => {
    const angle = (index / count) * 2 * Math.PI;
    const [px, py] = [rx * Math.cos(angle), ry * Math.sin(angle)];
    return [x + px * cos - py * sin, y + px * sin + py * cos];
  });
}

function capsule([ax, ay]: Point, [bx, by]: Point, radius: number, scale: number): Point[] {
  const angle = Math.atan2(by - ay, bx - ax);
  const steps = Math.max(4, Math.min(16, Math.ceil(Math.sqrt(radius * scale) * 2)));
  const points: Point[] = [];
  for (let i = 0; i <= steps; i++) {
    const turn = angle - Math.PI / 2 + (i / steps) * Math.PI;
    points.push([bx + radius * Math.cos(turn), by + radius * Math.sin(turn)]);
  }
  for (let i = 0; i <= steps; i++) {
    const turn = angle + Math.PI / 2 + (i / steps) * Math.PI;
    points.push([ax + radius * Math.cos(turn), ay + radius * Math.sin(turn)]);
  }
  return points;
}

const curveSteps = 10;

/** A Catmull-Rom curve: it goes through every point. */
function smooth(points: readonly Point[], isClosed: boolean): Point[] {
  const count = points.length;
  const pick = (index: number): Point => {
    const at = isClosed ? (index + count) % count : Math.max(0, Math.min(count - 1, index));
    return points[at] ?? [0, 0];
  };
  const result: Point[] = [];
  const spans = isClosed ? count : count - 1;
  for (let span = 0; span < spans; span++) {
    const [a, b, c, d] = [pick(span - 1), pick(span), pick(span + 1), pick(span + 2)];
    for (let step = 0; step < curveSteps; step++) {
      const t = step / curveSteps;
      result.push([cubic(a[0], b[0], c[0], d[0], t), cubic(a[1], b[1], c[1], d[1], t)]);
    }
  }
  if (!isClosed) result.push(pick(count - 1));
  return result;
}

function cubic(a: number, b: number, c: number, d: number, t: number): number {
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}
