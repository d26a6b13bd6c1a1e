/** What the speech models are asked and answer. The gateway's process reads this, so no native code. */

/** Input of the task `transcribe`. */
export interface TranscribeInput {
  /** 16 kHz, mono, at most 30 s. */
  readonly samples: Int16Array;
  /** An ISO 639-1 code. */
  readonly language?: string;
  readonly prompt?: string;
  readonly temperature?: number;
}

export interface TranscribeOutput {
  readonly text: string;
  readonly language?: string;
}
