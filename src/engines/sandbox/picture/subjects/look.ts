/** How one thing is drawn. A drawing stands on y = 0 in the middle of x = 0, about one unit high. */
import type { Random } from '../../seed.ts';
import { type Colour, mix, rgb } from '../colour.ts';
import type { Pen } from '../pen.ts';

export interface Look {
  readonly main: Colour;
  readonly accent: Colour;
  /** How dark it is around: lamps and windows are lit. */
  readonly dark: number;
  readonly random: Random;
}

export type Drawing = (pen: Pen, look: Look) => void;

export const glass = rgb(0xa8d4ee);
export const lamp = rgb(0xffd978);
export const iron = rgb(0x2c2d33);

/** A window: the darker it is around, the more light comes out of it. */
export const pane = ({ dark }: Look): Colour => mix(glass, lamp, Math.min(0.75, dark));
