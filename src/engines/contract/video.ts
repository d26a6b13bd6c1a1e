/** The video port: a prompt, and media to start from, to a film. */
import type { MediaFile } from './picture.ts';
import type { RenderContext } from './render.ts';

export interface VideoReference extends MediaFile {
  readonly kind: 'image' | 'video' | 'audio';
  readonly role: 'reference' | 'driving' | 'control';
}

export interface VideoRequest {
  /** What the engine calls the model. */
  readonly model: string;
  /** Exactly as the client wrote it. */
  readonly prompt: string;
  readonly durationSeconds: number;
  readonly width: number;
  readonly height: number;
  /** What is rendered is enlarged by this factor to the size above: 2 at 2K, else 1. */
  readonly upscale: number;
  readonly fps: number;
  readonly seed: number;
  readonly steps: number;
  /** `turbo` is the distilled schedule of few steps. */
  readonly schedule: 'turbo' | 'base';
  readonly generateAudio: boolean;
  readonly firstFrame?: MediaFile;
  readonly lastFrame?: MediaFile;
  /** Only where there are no frames. */
  readonly references: readonly VideoReference[];
  /** Where each reference video is read from. */
  readonly startTimeSeconds?: number;
  readonly script?: Readonly<Record<string, unknown>>;
}

export interface VideoPort {
  /** A whole MP4 file, H.264 and AAC. Stops, at the engine too, when the signal says so. */
  render(request: VideoRequest, context: RenderContext, signal: AbortSignal): Promise<Buffer>;
}
