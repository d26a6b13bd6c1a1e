/** The image port: a prompt, and pictures to start from, to pictures. */
import type { PictureFile, PictureFormat } from './picture.ts';

export interface ImageRequest {
  /** What the engine calls the model. */
  readonly model: string;
  readonly prompt: string;
  /** Made together: another count can change every picture of a seed. */
  readonly count: number;
  readonly width: number;
  readonly height: number;
  /** A whole number; absent: chance. */
  readonly seed?: number;
  readonly steps?: number;
  readonly guidanceScale?: number;
  /** Takes effect only where `guidanceScale` is above 0. */
  readonly negativePrompt?: string;
  /** What the engine shall answer with if it can: another format is converted afterwards. */
  readonly outputFormat: PictureFormat;
  /** 0 to 100: the quality of jpeg and webp, the effort of png. */
  readonly outputCompression?: number;
  readonly background: 'auto' | 'opaque' | 'transparent';
  /** Pictures to work from, each png, jpeg or webp and whole. Present: it is an edit. */
  readonly references: readonly PictureFile[];
  /** A png: where it is clear, the first reference is drawn anew. */
  readonly mask?: PictureFile;
  readonly script?: Readonly<Record<string, unknown>>;
}

export interface GeneratedImage {
  readonly bytes: Buffer;
  /** Only where the engine really rewrote the prompt. */
  readonly revisedPrompt?: string;
}

export interface ImagePort {
  /** May answer fewer than asked; none at all is a failure of the engine. */
  generate(request: ImageRequest, signal: AbortSignal): Promise<readonly GeneratedImage[]>;
}
