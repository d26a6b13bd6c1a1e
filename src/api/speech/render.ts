/** Speech on the wire: content types, headers, events. */
import { toEnvelope } from '../../http/errors.ts';
import type { ServerEvent } from '../../http/reply.ts';
import type { GatewayError } from '../../lib/errors.ts';
import { toUsd } from '../../platform/billing/index.ts';
import type { SpeechFormat } from './schema.ts';
import type { SpeechBill } from './speak.ts';

export const contentTypes: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm;rate=24000;channels=1',
};

export function usageHeaders({ seconds, costPicoUsd }: SpeechBill): Record<string, string> {
  return { 'x-usage-seconds': String(seconds), 'x-usage-cost': toUsdText(costPicoUsd) };
}

/** Dollars as a plain decimal: a small amount as a number would be written with an exponent. */
function toUsdText(picoUsd: bigint): string {
  const digits = picoUsd.toString().padStart(13, '0');
  const decimals = digits.slice(-12).replace(/0+$/, '');
  return digits.slice(0, -12) + (decimals === '' ? '' : `.${decimals}`);
}

export function toDelta(bytes: Buffer, format: SpeechFormat): ServerEvent {
  const type = 'speech.audio.delta';
  return { event: type, data: { type, audio: bytes.toString('base64'), response_format: format } };
}

/**
 * Engines do not say tokens, or each its own: a token of text is counted for four bytes, and 25 of sound for a
 * second, which is what the codecs of speech models have about. What is billed is the seconds.
 */
const bytesPerToken = 4;
const tokensPerSecond = 25;

export function toDone(input: string, { seconds, costPicoUsd }: SpeechBill): ServerEvent {
  const type = 'speech.audio.done';
  const inputTokens = Math.ceil(Buffer.byteLength(input) / bytesPerToken);
  const outputTokens = seconds * tokensPerSecond;
  const usage = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    seconds,
    cost: toUsd(costPicoUsd),
  };
  return { event: type, data: { type, usage } };
}

export function toFailure(error: GatewayError, requestId: string): ServerEvent {
  const type = 'speech.audio.error';
  return { event: type, data: { type, ...toEnvelope(error, 'router', requestId).body } };
}
