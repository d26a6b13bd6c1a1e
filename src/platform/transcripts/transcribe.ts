/**
 * A recording of any length to text: cut into stretches of speech, which an engine hears one after the other, each
 * knowing what was said before it. Memory holds one stretch, and text is there as soon as the first one ended.
 */
import type { TranscriptionRequest, TranscriptionResult } from '../../engines/contract/transcription.ts';
import { transcriptionSampleRate } from '../../engines/contract/transcription.ts';
import { readAhead } from './read-ahead.ts';
import { cutAtSilences } from './stretches.ts';
import { toAddition, toPrompt } from './text.ts';

export interface Recording {
  /** 16 kHz, mono. */
  readonly audio: AsyncIterable<Int16Array>;
  /** An ISO 639-1 code; absent: heard from the speech. */
  readonly language?: string;
  /** How the client spells things. */
  readonly guidance?: string;
  /** Somebody reads along: text is to come soon rather than cheaply. */
  readonly isStreamed: boolean;
}

/** What differs from one stretch to the next. */
export type Heard = Pick<TranscriptionRequest, 'samples' | 'language' | 'prompt'>;

export interface Listener {
  hear(stretch: Heard): Promise<TranscriptionResult>;
  /** More text, and how many seconds of the recording it and all before it stand for. */
  onText?(addition: string, seconds: number): void;
}

export interface Transcript {
  /** Everything that `onText` heard, joined. */
  readonly text: string;
  /** Of the longest stretch, when the engine says it. */
  readonly language?: string;
  /** The whole recording, silence included. */
  readonly seconds: number;
}

/** A stream has its first text after a few seconds of speech, and then goes over to what is cheaper. */
const streamedSeconds = [5, 10, 20, 24];
const wholeSeconds = [24];
/** 10 MB of samples. */
const aheadSeconds = 300;

export async function transcribe(recording: Recording, { hear, onText }: Listener): Promise<Transcript> {
  const { audio, language, guidance, isStreamed } = recording;
  let text = '';
  let taken = 0;
  let longest = 0;
  let spoken = language;
  const usualSeconds = isStreamed ? streamedSeconds : wholeSeconds;
  const ahead = readAhead(audio, aheadSeconds * transcriptionSampleRate);
  const stretches = cutAtSilences(ahead, { usualSeconds }, (samples) => {
    taken = samples;
  });
  for await (const { samples, endsAt } of stretches) {
    // A few seconds can sound like another language: a shorter stretch takes over that of a longer one.
    const known = language ?? (samples.length <= longest ? spoken : undefined);
    const prompt = toPrompt(guidance, text);
    const result = await hear({
      samples,
      ...(known === undefined ? {} : { language: known }),
      ...(prompt === undefined ? {} : { prompt }),
    });
    const addition = toAddition(text, result.text);
    if (samples.length > longest && addition !== '') {
      longest = samples.length;
      spoken = language ?? result.language;
    }
    if (addition === '') continue;
    text += addition;
    onText?.(addition, endsAt / transcriptionSampleRate);
  }
  return {
    text,
    ...(spoken === undefined ? {} : { language: spoken }),
    seconds: taken / transcriptionSampleRate,
  };
}
