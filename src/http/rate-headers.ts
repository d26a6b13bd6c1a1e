/** The rate-limit headers of a model route. */
import type { RateState } from '../platform/admission/types.ts';

export function setRateHeaders(
  call: { setHeader(name: string, value: string): void },
  { limit, remaining, resetMs }: RateState,
): void {
  call.setHeader('x-ratelimit-limit-requests', String(limit));
  call.setHeader('x-ratelimit-remaining-requests', String(remaining));
  call.setHeader('x-ratelimit-reset-requests', toDurationText(resetMs));
}

/** The same in the names of the messages format, beside them: there the reset is a point in time. */
export function setMessagesRateHeaders(
  call: { setHeader(name: string, value: string): void },
  { limit, remaining, resetMs }: RateState,
  now: number,
): void {
  call.setHeader('anthropic-ratelimit-requests-limit', String(limit));
  call.setHeader('anthropic-ratelimit-requests-remaining', String(remaining));
  call.setHeader('anthropic-ratelimit-requests-reset', toTimeText(now + resetMs));
}

/** RFC 3339 in whole seconds, rounded up for the same reason. */
function toTimeText(time: number): string {
  return new Date(Math.ceil(time / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** `12ms`, `1s`, `6m0s`: rounded up, so that who waits as long does not come too early. */
export function toDurationText(ms: number): string {
  if (ms <= 0) return '0s';
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
