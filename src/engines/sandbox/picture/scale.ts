/** Pictures in another size: averaged when they get smaller, interpolated when they get larger. Pure. */
import type { Pixels } from '../../contract/picture.ts';
import { Canvas } from './canvas.ts';

interface Window {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export function scaled(picture: Pixels, width: number, height: number): Canvas {
  return resampled(picture, { left: 0, top: 0, width: picture.width, height: picture.height }, width, height);
}

/** The largest part from the middle that has the wanted shape. A picture that has the size already stays as it is. */
export function covering(picture: Pixels, width: number, height: number): Canvas {
  const zoom = Math.max(width / picture.width, height / picture.height);
  const [wide, tall] = [width / zoom, height / zoom];
  const window = {
    left: (picture.width - wide) / 2,
    top: (picture.height - tall) / 2,
    width: wide,
    height: tall,
  };
  return resampled(picture, window, width, height);
}

/** One row of weights per target pixel: first source pixel, and the shares of it and of the following ones. */
interface Tap {
  readonly first: number;
  readonly shares: readonly number[];
}

function toTaps(start: number, length: number, target: number, limit: number): readonly Tap[] {
  const step = length / target;
  const reach = Math.max(1, step);
  return Array.from({ length: target }, (_, index): Tap => {
    const middle = start + (index + 0.5) * step - 0.5;
    const first = Math.ceil(middle - reach);
    const weights: number[] = [];
    for (let at = first; at < middle + reach; at++)
      weights.push(Math.max(0, 1 - Math.abs(at - middle) / reach));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    // Beyond the edge the last pixel goes on.
    const from = Math.max(0, Math.min(limit - 1, first));
    const shares: number[] = [];
    for (const [offset, weight] of weights.entries()) {
      const at = Math.max(0, Math.min(limit - 1, first + offset)) - from;
      shares[at] = (shares[at] ?? 0) + weight / sum;
    }
    return { first: from, shares };
  });
}

/** First along the rows, then along the columns. Clear pixels lend their neighbours no colour. */
function resampled(picture: Pixels, window: Window, width: number, height: number): Canvas {
  const isWhole = window.width === picture.width && window.height === picture.height;
  if (isWhole && width === picture.width && height === picture.height) {
    return new Canvas(width, height, new Uint8Array(picture.data));
  }
  const across = toTaps(window.left, window.width, width, picture.width);
  const down = toTaps(window.top, window.height, height, picture.height);
  const rows = new Float32Array(width * picture.height * 4);
  const { data } = picture;
  for (let y = 0, to = 0; y < picture.height; y++) {
    for (const { first, shares } of across) {
      let [r, g, b, a] = [0, 0, 0, 0];
      for (let offset = 0; offset < shares.length; offset++) {
        const at = (y * picture.width + first + offset) * 4;
        const weight = (shares[offset] ?? 0) * (data[at + 3] ?? 0);
        r += (data[at] ?? 0) * weight;
        g += (data[at + 1] ?? 0) * weight;
        b += (data[at + 2] ?? 0) * weight;
        a += weight;
      }
      rows[to++] = r;
      rows[to++] = g;
      rows[to++] = b;
      rows[to++] = a;
    }
  }
  const result = new Canvas(width, height);
  for (let y = 0, to = 0; y < height; y++) {
    const { first, shares } = down[y] ?? { first: 0, shares: [1] };
    for (let x = 0; x < width; x++, to += 4) {
      let [r, g, b, a] = [0, 0, 0, 0];
      for (let offset = 0; offset < shares.length; offset++) {
        const at = ((first + offset) * width + x) * 4;
        const weight = shares[offset] ?? 0;
        r += (rows[at] ?? 0) * weight;
        g += (rows[at + 1] ?? 0) * weight;
        b += (rows[at + 2] ?? 0) * weight;
        a += (rows[at + 3] ?? 0) * weight;
      }
      if (a <= 0) continue;
      result.data[to] = r / a + 0.5;
      result.data[to + 1] = g / a + 0.5;
      result.data[to + 2] = b / a + 0.5;
      result.data[to + 3] = a + 0.5;
    }
  }
  return result;
}
