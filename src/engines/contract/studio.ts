/**
 * A studio: a child process where an engine's own code draws, films and plays, so that work of seconds never stands
 * in the way of a request. An engine names the module; the studio loads it in the process and gives it tools.
 */
import type { Bytes } from '../../lib/content.ts';
import type { MediaFile, PictureFormat, Pixels } from './picture.ts';

export interface Studio {
  /**
   * Runs `render` of the module with what can be cloned. Yields the bytes that it puts out, as they come: what is not
   * taken is not made. Returns what `render` returns. Aborting ends the work within two seconds.
   */
  render(order: StudioOrder, signal: AbortSignal): AsyncGenerator<Uint8Array, unknown>;
}

export interface StudioOrder {
  /** A file of the engine's own folder that exports `render: Render`. */
  readonly module: URL;
  readonly request: unknown;
  /** Files and other bytes that it works from. */
  readonly inputs: readonly Bytes[];
  /** More output than this is a failure. */
  readonly maxBytes: number;
  /** Of processor time. */
  readonly maxCpuMs: number;
  /** A client waits for it: it has a line of its own, apart from what jobs order, which takes minutes. Default false. */
  readonly isAwaited?: boolean;
}

/** What such a module exports. It imports only its own folder, `engines/contract`, `lib` and pure packages. */
export type Render<Request = unknown, Result = unknown> = (
  request: Request,
  inputs: readonly Buffer[],
  stage: Stage,
) => Promise<Result>;

export interface Stage {
  readonly tools: StudioTools;
  /** Waits until the bytes are wanted. Up to 1 MiB they arrive as one piece, more in several. */
  emit(bytes: Uint8Array): Promise<void>;
  /**
   * Throws when nobody waits any more: long work asks often. A word from outside is only heard between two turns of
   * the event loop, so work without any tool awaits a `setImmediate` now and then.
   */
  throwIfStopped(): void;
}

export interface StudioTools {
  /** Turned upright, at most `maxSide` long on its longer side where that is given. */
  readPicture(bytes: Uint8Array, maxSide?: number): Promise<Pixels>;
  writePicture(pixels: Pixels, options: { format: PictureFormat; compression?: number }): Promise<MediaFile>;
  /** Frames of a film from a place in it, as many per second as asked, each at most `maxSide` long. */
  readFilm(
    bytes: Uint8Array,
    options: { startSeconds: number; fps: number; maxFrames: number; maxSide: number },
  ): AsyncIterable<Pixels>;
  /** The sound of a film or an audio file, 16 bit, interleaved stereo; what lies behind `maxSeconds` is left out. */
  readSound(bytes: Uint8Array, options: { sampleRate: number; maxSeconds: number }): Promise<Int16Array>;
  createFilm(options: FilmOptions): FilmWriter;
}

export interface FilmOptions {
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  /** Frames are enlarged by this whole factor while they are written. */
  readonly upscale: number;
  /** Of the sound, stereo; absent: a silent film without a sound track. */
  readonly sampleRate?: number;
}

/** An MP4 of H.264 and AAC, ready to play before it is whole at the reader's end (`moov` first). */
export interface FilmWriter {
  /** The next picture, `width` × `height` before enlarging; its opacity is not looked at. */
  frame(pixels: Uint8Array): Promise<void>;
  /**
   * The next stretch of sound, 16 bit, interleaved stereo. It may run ahead of the pictures or behind them: at the end
   * it is cut, or filled up with silence, to their length.
   */
  sound(samples: Int16Array): Promise<void>;
  finish(): Promise<Buffer>;
  /** Lets go of everything, also after a failure. */
  close(): void;
}
