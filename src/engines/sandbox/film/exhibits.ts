/** References as a gallery shows them: a picture, and a film that is read while it plays. */
import type { Pixels } from '../../contract/picture.ts';
import type { StudioTools } from '../../contract/studio.ts';
import type { Exhibit } from './gallery.ts';

export function createStillExhibit(picture: Pixels): Exhibit {
  let isShown = false;
  return {
    async next() {
      if (isShown) return undefined;
      isShown = true;
      return picture;
    },
    close: async () => {},
  };
}

/** Of a reference film, this many frames a second: it is seen in small. */
const framesPerSecond = 12;

export interface FilmExhibitParts {
  readonly tools: StudioTools;
  readonly bytes: Buffer;
  readonly startSeconds: number;
  readonly maxSeconds: number;
  readonly maxSide: number;
}

export function createFilmExhibit(parts: FilmExhibitParts): Exhibit {
  const { tools, bytes, startSeconds, maxSeconds, maxSide } = parts;
  const maxFrames = Math.ceil(maxSeconds * framesPerSecond) + 1;
  const frames = tools
    .readFilm(bytes, { startSeconds, fps: framesPerSecond, maxFrames, maxSide })
    [Symbol.asyncIterator]();
  let shown = 0;
  let isOver = false;
  return {
    async next(seconds) {
      let latest: Pixels | undefined;
      while (!isOver && shown <= seconds * framesPerSecond) {
        const { done, value } = await frames.next();
        if (done === true) isOver = true;
        else {
          latest = value;
          shown += 1;
        }
      }
      return latest;
    },
    async close() {
      isOver = true;
      await frames.return?.();
    },
  };
}
