/** The transcription port: a stretch of speech to text. Long audio is cut at silences before it comes here. */
export const transcriptionSampleRate = 16_000;
/** The longest stretch that a port is handed: what Whisper's models hear at once. */
export const longestStretchSeconds = 30;

export interface TranscriptionRequest {
  /** What the engine calls the model. */
  readonly model: string;
  /** 16 kHz, mono, at most 30 s. */
  readonly samples: Int16Array;
  /** An ISO 639-1 code; absent: heard from the speech. */
  readonly language?: string;
  /** Spelling guidance, or what was said just before. */
  readonly prompt?: string;
  readonly temperature?: number;
  readonly script?: Readonly<Record<string, unknown>>;
}

export interface TranscriptionResult {
  readonly text: string;
  /** ISO 639-1, when the engine says it. */
  readonly language?: string;
}

export interface TranscriptionPort {
  transcribe(request: TranscriptionRequest, signal: AbortSignal): Promise<TranscriptionResult>;
}
