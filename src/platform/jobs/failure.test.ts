import { describe, expect, it } from 'vitest';
import { type ErrorDetails, type ErrorKind, GatewayError } from '../../lib/errors.ts';
import { isWorthAnotherAttempt, jobErrorCodes, toBackoffMs, toFailure, toJobError } from './failure.ts';

const failure = (kind: ErrorKind, details: ErrorDetails = {}, message = 'it failed') =>
  new GatewayError(kind, message, details);

describe('a failed attempt', () => {
  it.each<[ErrorKind, ErrorDetails, string]>([
    ['invalid_request', {}, 'invalid_request'],
    ['unsupported_parameter', { param: 'seed' }, 'invalid_request'],
    ['invalid_request', { param: 'frame_images[0].image_url.url' }, 'invalid_image'],
    ['invalid_request', { param: 'input_reference' }, 'invalid_image'],
    ['invalid_request', { param: 'input_references[1].audio_url' }, 'invalid_media'],
    ['invalid_request', { code: 'content_policy_violation' }, 'content_policy_violation'],
    ['unreachable', { code: 'image_download_failed' }, 'image_download_failed'],
    ['unreachable', { code: 'media_download_failed' }, 'media_download_failed'],
    ['too_large', {}, 'payload_too_large'],
    ['unreachable', {}, 'provider_unavailable'],
    ['not_found', {}, 'provider_unavailable'],
    ['overloaded', {}, 'provider_overloaded'],
    ['rate_limited', {}, 'provider_overloaded'],
    ['timeout', {}, 'timeout'],
    ['internal', {}, 'server'],
    ['unauthenticated', {}, 'server'],
  ])('[JOB-9] %s %j is told as %s', (kind, details, code) => {
    expect(toJobError(failure(kind, details)).errorCode).toBe(code);
    expect(jobErrorCodes).toContain(code);
  });

  it('[JOB-8] is told in one line without internals', () => {
    const told = toJobError(failure('unreachable', {}, 'no answer from http://10.0.0.5:8000/render\nat x'));
    expect(told.error).toBe('no answer from [address]');
    expect(toJobError(toFailure(new TypeError('secret is undefined')))).toEqual({
      error: 'Something failed inside the gateway',
      errorCode: 'server',
    });
  });

  it('is worth another attempt when the engine or the gateway is at fault', () => {
    const kinds: ErrorKind[] = [
      'unreachable',
      'overloaded',
      'timeout',
      'internal',
      'invalid_request',
      'too_large',
    ];
    expect(kinds.filter((kind) => isWorthAnotherAttempt(failure(kind)))).toEqual(kinds.slice(0, 4));
    expect(isWorthAnotherAttempt(failure('internal', { permanent: true }))).toBe(false);
  });

  it('is followed by a pause that grows, or that the engine asks for', () => {
    expect([1, 2, 3].map((failures) => toBackoffMs(failures, failure('timeout')))).toEqual([
      2_000, 15_000, 15_000,
    ]);
    expect(toBackoffMs(1, failure('overloaded', { retryAfterSeconds: 20 }))).toBe(20_000);
    expect(toBackoffMs(1, failure('overloaded', { retryAfterSeconds: 3_600 }))).toBe(60_000);
  });
});
