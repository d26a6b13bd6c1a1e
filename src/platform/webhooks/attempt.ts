/** One attempt: signs the body with what is in force now, posts it, and says how it went in a few words. */
import { GatewayError } from '../../lib/errors.ts';
import { shown } from '../../lib/quoted.ts';
import type { SafeFetch } from '../../lib/safe-fetch.ts';
import type { Database } from '../../storage/database.ts';
import type { Leased } from './outbox.ts';
import { readSecrets } from './secrets.ts';
import { toSignature } from './sign.ts';

export interface Outcome {
  /** Of the answer, where there was one. */
  readonly status: number | undefined;
  /** Absent: the receiver has taken it. */
  readonly error: string | undefined;
}

export interface AttemptParts {
  database: Database;
  poster: Pick<SafeFetch, 'post'>;
  now: () => number;
  /** The word in the names of our headers. */
  brand: string;
  answerTimeoutMs: number;
}

export type Attempt = (leased: Leased, signal: AbortSignal) => Promise<Outcome>;

const userAgent = 'Roundhouse-Webhooks/1.0';

export function createAttempt(parts: AttemptParts): Attempt {
  const { database, poster, now, brand, answerTimeoutMs: timeoutMs } = parts;
  return async ({ id, subscriptionId, url, body: text }, signal) => {
    const { inForce } = await readSecrets(database, subscriptionId, now());
    const body = Buffer.from(text);
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': userAgent,
      [`X-${brand}-Signature`]: toSignature(inForce, body, Math.floor(now() / 1000)),
      [`X-${brand}-Idempotency-Key`]: id,
    };
    try {
      const { status } = await poster.post(url, { param: 'callback_url', headers, body, timeoutMs, signal });
      return { status, error: toProblem(status) };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { status: undefined, error: toReason(error) };
    }
  };
}

function toProblem(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) return `the receiver redirects (${status}), which is not followed`;
  return `the receiver answered ${status}`;
}

/** Read by the operator, so it may say what the network said: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
function toReason({ message, cause }: GatewayError): string {
  const { code } = (cause ?? {}) as { code?: unknown };
  const isTold = typeof code === 'string' && code !== 'UND_ERR_ABORTED';
  return isTold ? `${message} (${shown(code)})` : message;
}
