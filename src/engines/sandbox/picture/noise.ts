/** Smooth noise over the plane: clouds, ridges, water and paper are made of it. */
import type { Random } from '../seed.ts';

const side = 128;

export interface Noise {
  /** From 0 to 1, changing over distances of about 1. */
  at(x: number, y: number): number;
  /** Several of them, each half as large and half as strong as the one before. */
  layered(x: number, y: number, layers: number): number;
}

export function createNoise(random: Random): Noise {
  const table = Float32Array.from({ length: side * side }, () => random.next());
  const at = (x: number, y: number): number => {
    const column = Math.floor(x);
    const row = Math.floor(y);
    const fx = x - column;
    const fy = y - row;
    const sx = fx * fx * (3 - 2 * fx);
    const sy = fy * fy * (3 - 2 * fy);
    const x0 = column & (side - 1);
    const x1 = (column + 1) & (side - 1);
    const y0 = (row & (side - 1)) * side;
    const y1 = ((row + 1) & (side - 1)) * side;
    const a = table[y0 + x0] ?? 0;
    const b = table[y0 + x1] ?? 0;
    const c = table[y1 + x0] ?? 0;
    const d = table[y1 + x1] ?? 0;
    const top = a + (b - a) * sx;
    return top + (c + (d - c) * sx - top) * sy;
  };
  return {
    at,
    layered(x, y, layers) {
      let [sum, weight, total, scale] = [0, 1, 0, 1];
      for (let layer = 0; layer < layers; layer++) {
        // Shifted, so that the layers do not share their grid.
        sum += at(x * scale + layer * 17.3, y * scale + layer * 9.1) * weight;
        total += weight;
        weight /= 2;
        scale *= 2;
      }
      return sum / total;
    },
  };
}
