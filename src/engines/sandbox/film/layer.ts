/**
 * A painted layer of a film: pixels in one number each, their colour multiplied by their opacity, so that a place
 * between four of them is found with few multiplications. Painted once, looked at in every frame.
 */
import type { Pixels } from '../../contract/picture.ts';

/** What a row holds: nothing is skipped, what covers everything hides what lies behind it. */
export const rowKinds = { clear: 0, mixed: 1, covering: 2 } as const;

export class Layer {
  readonly width: number;
  readonly height: number;
  /** One pixel more than the picture is wide, so that the last one has a neighbour. */
  readonly stride: number;
  readonly pixels: Int32Array;
  readonly rows: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.stride = width + 1;
    this.pixels = new Int32Array(this.stride * (height + 1));
    this.rows = new Uint8Array(height + 1);
  }

  static from({ width, height, data }: Pixels): Layer {
    const layer = new Layer(width, height);
    layer.load(data);
    return layer;
  }

  /** Opacity is laid on white: a frame of a film has none. */
  static covering({ width, height, data }: Pixels): Layer {
    const solid = new Uint8Array(data);
    for (let at = 0; at < solid.length; at += 4) {
      const share = solid[at + 3]! / 255;
      if (share < 1) {
        for (let part = 0; part < 3; part++) solid[at + part] = 255 + (solid[at + part]! - 255) * share + 0.5;
      }
      solid[at + 3] = 255;
    }
    return Layer.from({ width, height, data: solid });
  }

  /** Straight opacity in, row by row from the top. */
  load(data: Uint8Array): void {
    const { width, height, stride, pixels, rows } = this;
    for (let y = 0, from = 0; y < height; y++) {
      let least = 255;
      let most = 0;
      const row = y * stride;
      for (let x = 0; x < width; x++, from += 4) {
        const a = data[from + 3]!;
        if (a < least) least = a;
        if (a > most) most = a;
        pixels[row + x] = toPacked(data[from]!, data[from + 1]!, data[from + 2]!, a);
      }
      pixels[row + width] = pixels[row + width - 1]!;
      rows[y] = most === 0 ? rowKinds.clear : least === 255 ? rowKinds.covering : rowKinds.mixed;
    }
    pixels.copyWithin(height * stride, (height - 1) * stride, height * stride);
    rows[height] = rows[height - 1]!;
  }
}

function toPacked(r: number, g: number, b: number, a: number): number {
  if (a === 255) return (255 << 24) | (b << 16) | (g << 8) | r;
  if (a === 0) return 0;
  const share = a / 255;
  const part = (value: number) => Math.round(value * share);
  return (a << 24) | (part(b) << 16) | (part(g) << 8) | part(r);
}
