/** A studio without a process of its own that keeps a film's frames and sound instead of encoding them. For tests alone. */
import type { Pixels } from '../../src/engines/contract/picture.ts';
import type { FilmOptions, Render, Stage, Studio, StudioOrder } from '../../src/engines/contract/studio.ts';
import { toContent } from '../../src/lib/content.ts';

/** What is shot, as it was handed to the film. */
export interface Reel {
  readonly options: FilmOptions;
  readonly frames: Uint8Array[];
  readonly sound: Int16Array;
  readonly isClosed: boolean;
}

export interface FilmStudio extends Studio {
  readonly orders: StudioOrder[];
  readonly reels: Reel[];
  /** How reference films were asked for. */
  readonly readings: { startSeconds: number; fps: number; frames: number }[];
  /** Reference films that were not read to their end and let go of. */
  readonly open: number;
}

/** Pictures are raw pixels behind two bytes of width and height; films are one colour that changes; sounds are a tone. */
export function rawPicture({ width, height, data }: Pixels): Buffer {
  return Buffer.concat([Buffer.from([width, height]), data]);
}

export function createFilmStudio(pieceBytes = 3): FilmStudio {
  const orders: StudioOrder[] = [];
  const reels: Reel[] = [];
  const readings: { startSeconds: number; fps: number; frames: number }[] = [];
  let open = 0;

  const tools: Stage['tools'] = {
    readPicture: async (bytes) => ({ width: bytes[0]!, height: bytes[1]!, data: bytes.slice(2) }),
    writePicture: () => Promise.reject(new Error('no picture in this test')),
    async *readFilm(_, { startSeconds, fps, maxFrames }) {
      const reading = { startSeconds, fps, frames: 0 };
      readings.push(reading);
      open += 1;
      try {
        for (; reading.frames < maxFrames; reading.frames++) {
          yield { width: 16, height: 9, data: new Uint8Array(16 * 9 * 4).fill(255 - reading.frames) };
        }
      } finally {
        open -= 1;
      }
    },
    async readSound(_, { sampleRate, maxSeconds }) {
      return new Int16Array(Math.round(sampleRate * maxSeconds) * 2).fill(3_000);
    },
    createFilm(options) {
      const reel = { options, frames: [] as Uint8Array[], sound: new Int16Array(0), isClosed: false };
      reels.push(reel);
      return {
        async frame(pixels) {
          reel.frames.push(pixels.slice());
        },
        async sound(samples) {
          reel.sound = samples.slice();
        },
        finish: async () => Buffer.from(`a film of ${reel.frames.length} frames`),
        close() {
          reel.isClosed = true;
        },
      };
    },
  };

  return {
    orders,
    reels,
    readings,
    get open() {
      return open;
    },
    async *render(order, signal) {
      orders.push(order);
      const waiting: Uint8Array[] = [];
      let isOver = false;
      let wake = () => {};
      const stage: Stage = {
        tools,
        async emit(bytes) {
          for (let at = 0; at < bytes.length; at += pieceBytes)
            waiting.push(bytes.slice(at, at + pieceBytes));
          wake();
        },
        throwIfStopped() {
          signal.throwIfAborted();
          if (isOver) throw new Error('nobody waits any more');
        },
      };
      const { render } = (await import(order.module.href)) as { render: Render };
      const inputs = await Promise.all(order.inputs.map((each) => toContent(each).toBuffer()));
      // Nothing but what can be cloned reaches another process.
      const work = render(structuredClone(order.request), inputs, stage);
      let isDone = false;
      const end = () => {
        isDone = true;
        wake();
      };
      const ended = work.then(end, end);
      try {
        for (;;) {
          signal.throwIfAborted();
          const piece = waiting.shift();
          if (piece !== undefined) yield piece;
          else if (isDone) return await work;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      } finally {
        isOver = true;
        await ended;
      }
    },
  };
}
