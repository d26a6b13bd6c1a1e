/** The music port: a prompt and words to songs, heard while they are made. */
import type { MediaFile } from './picture.ts';
import type { RenderContext } from './render.ts';

export interface MusicRequest {
  /** What the engine calls the model. */
  readonly model: string;
  readonly prompt: string;
  readonly lyrics?: string;
  readonly instrumental: boolean;
  /** The most that is made; a song may end earlier. */
  readonly durationSeconds: number;
  /** How many songs. */
  readonly count: number;
  readonly seed: number;
  readonly negativePrompt?: string;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly guidanceScale?: number;
  readonly steps?: number;
  readonly references: readonly MediaFile[];
  /** What the samples shall be. */
  readonly sampleRate: number;
  readonly channels: number;
  readonly script?: Readonly<Record<string, unknown>>;
}

/** A stretch of one song: whole frames of 16 bit, little-endian, channels interleaved. */
export interface MusicPart {
  /** Of the song, from 0. */
  readonly index: number;
  readonly samples: Buffer;
}

export interface MusicPort {
  /** Parts of a song come in order. What is not taken is not made. Ends when every song is whole. */
  render(request: MusicRequest, context: RenderContext, signal: AbortSignal): AsyncIterable<MusicPart>;
}
