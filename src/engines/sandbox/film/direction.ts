/** Where the camera looks while a film runs: a prompt may say so, chance decides the rest. Pure. */
import type { Random } from '../seed.ts';

/** `x` and `y` from -1 to 1 over the room that the camera has; `zoom` 0 shows as much as there is, 1 as little. */
export interface Framing {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export interface Direction {
  readonly from: Framing;
  readonly to: Framing;
  /** How fast things happen: 1 as usual. */
  readonly pace: number;
  /** Things that could walk, swim or fly do more than breathe. */
  readonly isLively: boolean;
}

interface Move {
  readonly words: RegExp;
  readonly from: Partial<Framing>;
  readonly to: Partial<Framing>;
}

const moves: readonly Move[] = [
  {
    words: /\b(?:zoom(?:s|ing)? out|pull(?:s|ing)? (?:back|out|away)|dolly out|reveal(?:s|ing)?|widening)\b/,
    from: { zoom: 1 },
    to: { zoom: 0 },
  },
  {
    words:
      /\b(?:zoom(?:s|ing)? in|push(?:es|ing)? in|dolly in|close[- ]?up|closing in|moves? (?:in|closer))\b/,
    from: { zoom: 0 },
    to: { zoom: 1 },
  },
  {
    words: /\b(?:pan(?:s|ning)?|track(?:s|ing)?|moves?|moving|slid(?:es|ing)) (?:to the )?left\b/,
    from: { x: 1, zoom: 0.5 },
    to: { x: -1, zoom: 0.5 },
  },
  {
    words:
      /\b(?:pan(?:s|ning)?|track(?:s|ing)?|moves?|moving|slid(?:es|ing)) (?:to the )?right\b|\btracking shot\b/,
    from: { x: -1, zoom: 0.5 },
    to: { x: 1, zoom: 0.5 },
  },
  {
    words: /\b(?:tilt(?:s|ing)? up|crane up|rising shot)\b/,
    from: { y: 1, zoom: 0.6 },
    to: { y: -1, zoom: 0.6 },
  },
  {
    words: /\b(?:tilt(?:s|ing)? down|crane down|descending)\b/,
    from: { y: -1, zoom: 0.6 },
    to: { y: 1, zoom: 0.6 },
  },
  {
    words: /\b(?:static|still|fixed|locked(?:[- ]off)?) (?:shot|camera|frame)\b|\btripod\b/,
    from: { zoom: 0.3 },
    to: { zoom: 0.3 },
  },
];

const slow = /\b(?:slow(?:ly)?|slow[- ]?motion|calm|gentle|peaceful|serene|dreamy)\b/;
const fast = /\b(?:time[- ]?lapse|hyper[- ]?lapse|fast|quick(?:ly)?|rapid(?:ly)?|racing|sped up|speeding)\b/;
const lively =
  /\b(?:runs?|running|walks?|walking|danc(?:es?|ing)|jump(?:s|ing)?|play(?:s|ing)?|hop(?:s|ping)?|chas(?:es?|ing)|marching|racing)\b/;

export function toDirection(prompt: string, random: Random): Direction {
  const text = prompt.toLowerCase();
  // Drawn in any case, so that a move that is asked for changes nothing else.
  const side = random.next() < 0.5 ? -1 : 1;
  const lift = (random.next() - 0.5) * 0.8;
  const goesIn = random.next() < 0.7;
  const asked = moves.find(({ words }) => words.test(text));
  const chance: Pick<Move, 'from' | 'to'> = {
    from: { x: -0.75 * side, y: lift, zoom: goesIn ? 0 : 0.9 },
    to: { x: 0.75 * side, y: -lift, zoom: goesIn ? 0.9 : 0 },
  };
  const { from, to } = asked ?? chance;
  const middle = { x: 0, y: 0, zoom: 0.4 };
  return {
    from: { ...middle, ...from },
    to: { ...middle, ...to },
    pace: fast.test(text) ? 2.2 : slow.test(text) ? 0.6 : 1,
    isLively: lively.test(text),
  };
}

/** Begins and ends softly: `share` of the film from 0 to 1. */
export function framingAt({ from, to }: Direction, share: number): Framing {
  const way = ease(share);
  const between = (a: number, b: number) => a + (b - a) * way;
  return { x: between(from.x, to.x), y: between(from.y, to.y), zoom: between(from.zoom, to.zoom) };
}

/** Half of the way is even: a camera that rests at both ends for long looks stuck. */
export function ease(share: number): number {
  const held = Math.max(0, Math.min(1, share));
  return 0.5 * held + 0.5 * smooth(held);
}

export function smooth(share: number): number {
  const held = Math.max(0, Math.min(1, share));
  return held * held * (3 - 2 * held);
}
