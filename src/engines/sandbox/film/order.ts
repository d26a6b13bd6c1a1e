/** What the sandbox's video port orders from the studio, and how the answer is told apart from the way to it. */

export type InputRole = 'first_frame' | 'last_frame' | 'image' | 'video' | 'audio';

export interface FilmOrder {
  readonly prompt: string;
  readonly frames: number;
  readonly fps: number;
  /** Before it is enlarged. */
  readonly width: number;
  readonly height: number;
  readonly upscale: number;
  readonly seed: number;
  readonly steps: number;
  readonly schedule: 'turbo' | 'base';
  readonly hasSound: boolean;
  /** Where reference films are read from. */
  readonly startSeconds: number;
  /** What each input is, in their order. */
  readonly roles: readonly InputRole[];
}

/** The frame grid: so many more than the seconds ask for. */
const extraFrames = 9;

export function countFrames(durationSeconds: number, fps: number): number {
  return Math.round(durationSeconds * fps) + extraFrames;
}

/**
 * What the render puts out: a byte for every percent that is done, from 1 to 100, then a byte 0, then the film. No
 * matter how it is cut into pieces on its way, it can be told apart.
 */
export const filmFollows = 0;

export interface FilmReader {
  /** Takes the next piece; answers the last percent that it told, if it told one. */
  take(piece: Uint8Array): number | undefined;
  /** What came of the film so far. */
  film(): Buffer;
}

export function createFilmReader(): FilmReader {
  const parts: Uint8Array[] = [];
  let isFilm = false;
  return {
    take(piece) {
      if (isFilm) {
        parts.push(piece);
        return undefined;
      }
      const end = piece.indexOf(filmFollows);
      const told = end === -1 ? piece : piece.subarray(0, end);
      if (end !== -1) {
        isFilm = true;
        if (end + 1 < piece.length) parts.push(piece.subarray(end + 1));
      }
      return told.at(-1);
    },
    film: () => Buffer.concat(parts),
  };
}
