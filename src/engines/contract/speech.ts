/** The speech port: text to sound, pushed as it is generated. Sound is always 24 kHz, 16 bit, mono, little-endian. */
import type { GatewayError } from '../../lib/errors.ts';

export const speechSampleRate = 24_000;

export type SpeechVoice =
  | { readonly type: 'builtin'; readonly id: string }
  /** A voice made from its description. */
  | { readonly type: 'design'; readonly description: string }
  /** A voice taken from a clip: a whole WAV file of 24 kHz mono, whatever the client sent. */
  | { readonly type: 'clone'; readonly clip: Buffer; readonly transcript?: string };

export interface SpeechRequest {
  /** What the engine calls the model. */
  readonly model: string;
  readonly input: string;
  readonly voice: SpeechVoice;
  /** How a built-in voice shall speak. */
  readonly instructions?: string;
  /** An ISO 639-1 code or a name; absent: told from the text. */
  readonly language?: string;
  readonly seed?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  /** It is heard while it is made: an early first sound is worth more than the flow of the first sentence. */
  readonly isStreamed?: boolean;
  /** The model's `script` as it stands in the catalogue. */
  readonly script?: Readonly<Record<string, unknown>>;
}

export interface SpeechSink {
  /** Whole samples, in order, as soon as they are there: the first sentence does not wait for the last. */
  audio(pcm: Buffer): void;
  end(): void;
  fail(error: GatewayError): void;
}

export interface SpeechRun {
  /** Stops the work at once. The sink hears nothing more. */
  abort(): void;
  /** The reader is slow: make nothing more until `resume`. */
  pause(): void;
  resume(): void;
}

export interface SpeechPort {
  speak(request: SpeechRequest, sink: SpeechSink): SpeechRun;
}
