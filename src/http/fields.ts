/** Headers of answers as the lines that go out: most are the same every time. */
import { toField } from '../lib/http1/server/answer-head.ts';

const exposedHeaders =
  'x-request-id, request-id, x-generation-id, retry-after, x-ratelimit-limit-requests, ' +
  'x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-usage-seconds, x-usage-cost, idempotent-replayed, ' +
  'accept-ranges, content-range, etag, content-disposition';

/** Whoever asks from a browser may read the answer, from anywhere: a key is what protects it. */
const corsFields =
  toField('access-control-allow-origin', '*') + toField('access-control-expose-headers', exposedHeaders);

/** What every answer carries. */
export function toCommonFields(requestId: string): string {
  return `x-request-id: ${requestId}\r\nrequest-id: ${requestId}\r\n${corsFields}`;
}

export const jsonField = toField('content-type', 'application/json; charset=utf-8');

export const eventStreamFields =
  toField('content-type', 'text/event-stream; charset=utf-8') +
  toField('cache-control', 'no-cache') +
  // nginx would otherwise hold the stream back until its buffer is full.
  toField('x-accel-buffering', 'no');

export function toFields(headers: Readonly<Record<string, string>>): string {
  let fields = '';
  for (const [name, value] of Object.entries(headers)) fields += toField(name, value);
  return fields;
}
