/** Finds stop sequences in a text that comes in pieces, and lets nothing out that could still become one. */
import type { TokenLogprob } from '../../contract/chat.ts';

export interface Piece {
  readonly text: string;
  readonly logprobs?: readonly TokenLogprob[];
}

export interface StopFinder {
  /** What can go out now. After `stopped` nothing more is taken. */
  push(piece: Piece): readonly Piece[];
  /** What was held back, when the answer ended without a stop sequence. */
  rest(): readonly Piece[];
  readonly stopped: string | undefined;
}

export function createStopFinder(stops: readonly string[] = []): StopFinder {
  let held: Piece[] = [];
  let stopped: string | undefined;

  function push(piece: Piece): readonly Piece[] {
    held.push(piece);
    const text = held.map((each) => each.text).join('');
    const found = findFirst(text, stops);
    if (found !== undefined) {
      stopped = found.stop;
      return release(found.index, true);
    }
    return release(text.length - heldBackLength(text, stops), false);
  }

  /** Pieces up to this length. The one that the cut goes through is cut itself, or waits whole. */
  function release(length: number, isCut: boolean): readonly Piece[] {
    const out: Piece[] = [];
    let left = length;
    while (held[0] !== undefined && held[0].text.length <= left) {
      const piece = held.shift() as Piece;
      left -= piece.text.length;
      out.push(piece);
    }
    const [next] = held;
    if (isCut && next !== undefined && left > 0) out.push({ ...next, text: next.text.slice(0, left) });
    if (isCut) held = [];
    return out;
  }

  return {
    push,
    rest: () => release(Number.POSITIVE_INFINITY, false),
    get stopped() {
      return stopped;
    },
  };
}

function findFirst(text: string, stops: readonly string[]): { stop: string; index: number } | undefined {
  let first: { stop: string; index: number } | undefined;
  for (const stop of stops) {
    const index = text.indexOf(stop);
    if (index >= 0 && (first === undefined || index < first.index)) first = { stop, index };
  }
  return first;
}

/** How much of the end could be the beginning of one of them. */
export function heldBackLength(text: string, marks: readonly string[]): number {
  let longest = 0;
  for (const mark of marks) {
    for (let length = Math.min(mark.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(mark.slice(0, length))) longest = length;
    }
  }
  return longest;
}
