/** What becomes of a file whose run has failed. Pure. */
import { type ErrorKind, GatewayError } from '../../../lib/errors.ts';
import { StoreUnavailable } from '../../../storage/database.ts';
import { toRefusal } from '../read/index.ts';
import type { CollectionFile } from '../types.ts';

export type Verdict =
  /** For good: the file itself, or what an engine says of it. */
  | { readonly type: 'fail'; readonly error: NonNullable<CollectionFile['lastError']> }
  /** Nothing of it is the file's doing: it is tried again as long as that takes. */
  | { readonly type: 'wait'; readonly retryAfterMs: number }
  /** Nobody knows why: as after the death of its process, it is tried again a few times. */
  | { readonly type: 'drop' };

/** The first run that is not begun any more, of a file that fails for no known reason or whose process died each time. */
export const maxAttempts = 6;

const firstWaitMs = 2_000;
const longestWaitMs = 60_000;

/** Engines that refuse a text will refuse it again. */
const final: ReadonlySet<ErrorKind> = new Set([
  'invalid_request',
  'unsupported_parameter',
  'too_large',
  'unprocessable',
]);

/** `waits`: how often in a row it had to wait before. */
export function judge(error: unknown, waits: number): Verdict {
  const refusal = toRefusal(error);
  if (refusal !== undefined) return { type: 'fail', error: refusal };
  if (error instanceof StoreUnavailable) return { type: 'wait', retryAfterMs: waitMs(waits) };
  if (error instanceof GatewayError && error.kind !== 'internal') {
    const { kind, message, retryAfterSeconds = 0 } = error;
    if (!final.has(kind))
      return {
        type: 'wait',
        retryAfterMs: Math.max(waitMs(waits), Math.min(longestWaitMs, retryAfterSeconds * 1000)),
      };
    return fail(`The embedding model did not take the file's text: ${message}`);
  }
  return { type: 'drop' };
}

export const givenUp: NonNullable<CollectionFile['lastError']> = {
  code: 'server_error',
  message: `Reading the file was interrupted ${maxAttempts - 1} times: send it again, or another one`,
};

function fail(message: string): Verdict & { type: 'fail' } {
  return { type: 'fail', error: { code: 'server_error', message } };
}

function waitMs(times: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(times, 10));
}
