/** What a failed attempt means: whether it is worth another, and how the job tells of it. Pure. */
import { type ErrorKind, GatewayError } from '../../lib/errors.ts';
import { toPublicMessage } from '../../lib/public-message.ts';
import type { JobErrorCode } from './types.ts';

/** Attempts that may fail before the job does. */
export const maxFailures = 3;

const backoffMs = [2_000, 15_000];
const longestBackoffMs = 60_000;

/** Of every other kind it is `server`: nothing that the client could do about it. */
const codes: Readonly<Partial<Record<ErrorKind, JobErrorCode>>> = {
  invalid_request: 'invalid_request',
  unsupported_parameter: 'invalid_request',
  unprocessable: 'invalid_request',
  too_large: 'payload_too_large',
  unreachable: 'provider_unavailable',
  not_found: 'provider_unavailable',
  overloaded: 'provider_overloaded',
  rate_limited: 'provider_overloaded',
  timeout: 'timeout',
};

export const jobErrorCodes = [
  'invalid_request',
  'invalid_image',
  'invalid_media',
  'image_download_failed',
  'media_download_failed',
  'content_policy_violation',
  'payload_too_large',
  'provider_unavailable',
  'provider_overloaded',
  'timeout',
  'server',
] as const satisfies readonly JobErrorCode[];

const retried: readonly ErrorKind[] = ['unreachable', 'overloaded', 'rate_limited', 'timeout', 'internal'];

/** Whatever was thrown; a bug shows nothing of itself. */
export function toFailure(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal', 'Something failed inside the gateway', { cause: thrown });
}

export function isWorthAnotherAttempt({ kind, permanent }: GatewayError): boolean {
  return retried.includes(kind) && !permanent;
}

/** After so many failures; longer where the engine asks for it. */
export function toBackoffMs(failures: number, { retryAfterSeconds = 0 }: GatewayError): number {
  const usual = backoffMs[Math.min(failures, backoffMs.length) - 1] ?? 0;
  return Math.min(longestBackoffMs, Math.max(usual, retryAfterSeconds * 1_000));
}

export function toJobError(error: GatewayError): { error: string; errorCode: JobErrorCode } {
  return { error: toPublicMessage(error.message) || 'The render failed', errorCode: toErrorCode(error) };
}

/** The code that the error brings; else by its kind, and by what it names where an input is at fault. */
function toErrorCode({ kind, code, param, message }: GatewayError): JobErrorCode {
  const own = jobErrorCodes.find((known) => known === code);
  if (own !== undefined) return own;
  const usual = codes[kind] ?? 'server';
  if (usual !== 'invalid_request') return usual;
  const named = param ?? message;
  if (/image|frame|picture|^input_reference$/i.test(named)) return 'invalid_image';
  if (/video_url|audio|media|input_reference/i.test(named)) return 'invalid_media';
  return usual;
}
