/** What a painter of landscapes works with. */
import type { Random } from '../seed.ts';
import type { Canvas } from './canvas.ts';
import type { Noise } from './noise.ts';
import type { Pen } from './pen.ts';
import type { Scene } from './scene.ts';

export interface Brush {
  readonly canvas: Canvas;
  readonly pen: Pen;
  readonly scene: Scene;
  readonly noise: Noise;
  readonly random: Random;
  /** The shorter side. */
  readonly unit: number;
}
