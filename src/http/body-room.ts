/**
 * How much room the bodies of requests may take together, in memory and as scratch files. A body is read before it can be
 * known whether its model has room for it, so without a bound who sends slowly, or much at once, would fill up both. Small
 * ones are not counted.
 */

import { GatewayError } from '../lib/errors.ts';
import type { ServerRequest } from '../lib/http1/server/request.ts';
import type { Route } from './route.ts';

export interface BodyRoom {
  /** Keeps room for a body until the answer's function is called. Throws `rate_limited` or `overloaded`. */
  enter(subscriptionId: string | undefined, bytes: number): () => void;
}

const smallBytes = 1024 * 1024;
const retryAfterSeconds = 5;

export function createBodyRoom({
  maxBytes = 1024 * 1024 * 1024,
  /** As many of the largest forms as a subscription may run at once. */
  maxBytesEach = maxBytes / 2,
}: {
  maxBytes?: number;
  maxBytesEach?: number;
} = {}): BodyRoom {
  let taken = 0;
  const takenBy = new Map<string, number>();
  return {
    enter(subscriptionId = '', bytes) {
      const own = takenBy.get(subscriptionId) ?? 0;
      if (own > 0 && own + bytes > maxBytesEach) {
        const message = 'Too many large requests of this subscription are under way; try again soon';
        throw new GatewayError('rate_limited', message, { retryAfterSeconds });
      }
      if (taken > 0 && taken + bytes > maxBytes)
        throw new GatewayError('overloaded', 'Too many large requests are under way; try again soon', {
          retryAfterSeconds,
        });
      taken += bytes;
      takenBy.set(subscriptionId, own + bytes);
      return () => {
        taken -= bytes;
        const left = (takenBy.get(subscriptionId) ?? 0) - bytes;
        if (left > 0) takenBy.set(subscriptionId, left);
        else takenBy.delete(subscriptionId);
      };
    },
  };
}

/** What a body may come to take, told from its head; 0 where it needs no room. */
export function toRoomBytes(request: ServerRequest, { multipart, maxBodyBytes }: Route): number {
  // Files that go to storage piece by piece take no room of a request's.
  if (Object.values(multipart?.files ?? {}).some(({ storeAt }) => storeAt !== undefined)) return 0;
  const bytes = request.length ?? maxBodyBytes;
  return bytes > smallBytes ? bytes : 0;
}
