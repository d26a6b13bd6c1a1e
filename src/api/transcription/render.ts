/** Transcripts as clients read them: one object, a text, or the events of a stream. Pure. */
import { toBytes } from '../../engines/contract/json-bytes.ts';
import { toEnvelope } from '../../http/errors.ts';
import type { GatewayError } from '../../lib/errors.ts';
import { toUsd } from '../../platform/billing/index.ts';
import type { Transcript } from '../../platform/transcripts/index.ts';
import type { Transcription, TranscriptionUsage } from './schema.ts';

/** What is billed. */
export function toSeconds(seconds: number): number {
  return Math.ceil(seconds);
}

export function toUsage({ seconds }: Transcript, costPicoUsd: bigint): TranscriptionUsage {
  return { type: 'duration', seconds: toSeconds(seconds), cost: toUsd(costPicoUsd) };
}

export function toTranscription(transcript: Transcript, costPicoUsd: bigint): Transcription {
  const { text, language, seconds } = transcript;
  return {
    text,
    task: 'transcribe',
    ...(language === undefined ? {} : { language }),
    duration: Math.round(seconds * 1000) / 1000,
    usage: toUsage(transcript, costPicoUsd),
  };
}

export function toDelta(delta: string): string {
  return toEvent({ type: 'transcript.text.delta', delta });
}

export function toDone(transcript: Transcript, costPicoUsd: bigint): string {
  const usage = toUsage(transcript, costPicoUsd);
  return toEvent({ type: 'transcript.text.done', text: transcript.text, usage });
}

export function toFailure(error: GatewayError): string {
  const { error: told } = toEnvelope(error, 'router', '').body as { error: object };
  return toEvent({ type: 'transcript.text.error', error: told });
}

/** In bytes, as a pushed stream wants them. */
function toEvent(data: { readonly type: string; readonly [member: string]: unknown }): string {
  return toBytes(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
}
