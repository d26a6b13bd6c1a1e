/**
 * Sound, pictures and film through a real codec stack, in child processes that hostile files cannot use against
 * the gateway: bounded time, memory and output, no network, no file but what they are handed.
 */
export interface MediaInfo {
  /** What the bytes are, whatever their name said: `wav`, `mp3`, `mp4`, `mov`, `matroska`, … */
  readonly container: string;
  /** As long as it really plays: what a header claims is held against the packets. */
  readonly durationSeconds: number;
  readonly audio:
    | { readonly codec: string; readonly sampleRate: number; readonly channels: number }
    | undefined;
  readonly video:
    | { readonly codec: string; readonly width: number; readonly height: number; readonly fps: number }
    | undefined;
}

/** A film: its length is that of its pictures, its size the one that is seen. */
export interface FilmInfo extends MediaInfo {
  readonly container: 'mp4' | 'mov';
  readonly video: NonNullable<MediaInfo['video']>;
}

export interface DecodeOptions {
  readonly sampleRate: number;
  /** Longer audio is refused. */
  readonly maxSeconds: number;
  /** The field's path: failures name it. */
  readonly param: string;
}

export type AudioFormat = 'mp3' | 'opus' | 'flac' | 'wav';

export interface EncodeOptions {
  readonly format: AudioFormat;
  /** Of the samples that are given. */
  readonly sampleRate: number;
  /** Interleaved where there are two. Default 1. */
  readonly channels?: 1 | 2;
  /** 0.25 to 4: faster or slower without a change of pitch. Default 1. */
  readonly speed?: number;
}

/** What a sound becomes when it is cut or joined: a WAV of this shape. */
export interface SoundShape {
  readonly sampleRate: number;
  readonly channels: 1 | 2;
}

export interface CutOptions extends SoundShape {
  readonly startSeconds: number;
  /** Behind the sound's end: to its end. */
  readonly endSeconds: number;
  /** Longer audio is refused. */
  readonly maxSeconds: number;
  /** The field's path: failures name it. */
  readonly param: string;
}

export interface Media {
  /**
   * Rejects with `invalid_request` naming `param` when the bytes are no medium that can be read, or none of the
   * `accepted` containers where those are given.
   */
  probe(bytes: Buffer, param: string, signal: AbortSignal, accepted?: readonly string[]): Promise<MediaInfo>;
  /** Likewise for an MP4 or MOV with moving pictures, the first of which is decoded. */
  probeFilm(bytes: Buffer, param: string, signal: AbortSignal): Promise<FilmInfo>;
  /**
   * Mono samples of 16 bit, in order, in pieces of about a second; what is not read yet is not decoded yet, so that
   * hours of sound take little memory. Rejects like `probe`, also in the middle.
   */
  decode(bytes: Buffer, options: DecodeOptions, signal: AbortSignal): AsyncIterable<Int16Array>;
  /** A whole file of 16-bit samples. Ten minutes of stereo are no trouble. */
  encode(samples: Int16Array, options: EncodeOptions, signal: AbortSignal): Promise<Buffer>;
  /** The samples at another speed, with the same pitch. */
  stretch(samples: Int16Array, sampleRate: number, speed: number, signal: AbortSignal): Promise<Int16Array>;
  /** A stretch of a sound, as a WAV. Rejects like `probe`. */
  cut(bytes: Buffer, options: CutOptions, signal: AbortSignal): Promise<Buffer>;
  /** Sounds one after the other, as one WAV. Each may be as long as `maxSeconds`. */
  join(
    sounds: readonly { readonly bytes: Buffer; readonly param: string }[],
    options: SoundShape & { readonly maxSeconds: number },
    signal: AbortSignal,
  ): Promise<Buffer>;
  close(): Promise<void>;
}
