/**
 * Sound, pictures and film through a real codec stack, in child processes that hostile files cannot use against
 * the gateway: bounded time, memory and output, no network, no file but what they are handed.
 */
export interface MediaInfo {
  /** What the bytes are, whatever their name said: `wav`, `mp3`, `mp4`, `matroska`, … */
  readonly container: string;
  readonly durationSeconds: number;
  readonly audio:
    | { readonly codec: string; readonly sampleRate: number; readonly channels: number }
    | undefined;
  readonly video:
    | { readonly codec: string; readonly width: number; readonly height: number; readonly fps: number }
    | undefined;
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
  /** 0.25 to 4: faster or slower without a change of pitch. Default 1. */
  readonly speed?: number;
}

export interface Media {
  /** Rejects with `invalid_request` naming `param` when the bytes are no medium that can be read. */
  probe(bytes: Buffer, param: string, signal: AbortSignal): Promise<MediaInfo>;
  /**
   * Mono samples of 16 bit, in order, in pieces of about a second; what is not read yet is not decoded yet, so that
   * hours of sound take little memory. Rejects like `probe`, also in the middle.
   */
  decode(bytes: Buffer, options: DecodeOptions, signal: AbortSignal): AsyncIterable<Int16Array>;
  /** A whole file of mono 16-bit samples. */
  encode(samples: Int16Array, options: EncodeOptions, signal: AbortSignal): Promise<Buffer>;
  /** The samples at another speed, with the same pitch. */
  stretch(samples: Int16Array, sampleRate: number, speed: number, signal: AbortSignal): Promise<Int16Array>;
  close(): Promise<void>;
}
