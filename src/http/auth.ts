/** Finds the caller of a request: a subscription's key, a signed link, or the operator's token on admin routes. */

import { hash, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../lib/errors.ts';
import type { RequestHeaders } from '../lib/http1/server/request-head.ts';
import type { Authenticator, Caller } from '../platform/accounts/types.ts';
import type { Links } from '../platform/objects/types.ts';

/**
 * The key that a request carries. `Authorization` wins over `x-api-key` even when it is wrong, and its scheme
 * is `Bearer` with a capital B: anything else there is a key that does not exist.
 */
function sentKey(headers: RequestHeaders): string | undefined {
  const { authorization, 'x-api-key': apiKey } = headers;
  if (authorization !== undefined) return authorization.startsWith('Bearer ') ? authorization.slice(7) : '';
  return apiKey;
}

export function authenticate(headers: RequestHeaders, keys: Authenticator): Caller | Promise<Caller> {
  const secret = sentKey(headers);
  if (secret === undefined) throw new GatewayError('unauthenticated', 'No API key provided');
  if (secret === '') throw invalidKey();
  const caller = keys.authenticate(secret);
  return caller instanceof Promise ? caller.then(orInvalid) : orInvalid(caller);
}

/** The same, or nobody, where a signed link leads to the path. A key that is sent decides, valid link or not. */
export function authenticateLink(
  headers: RequestHeaders,
  { path, search }: { path: string; search: string },
  { accounts, links }: { accounts: Authenticator; links: Links },
): Caller | undefined | Promise<Caller> {
  if (sentKey(headers) !== undefined) return authenticate(headers, accounts);
  const query = new URLSearchParams(search);
  const sig = query.get('sig') ?? undefined;
  if (links.isValid(path, { exp: query.get('exp') ?? undefined, sig })) return undefined;
  if (sig === undefined) return authenticate(headers, accounts);
  throw new GatewayError('unauthenticated', 'No API key provided, and the link is not or no longer valid');
}

function orInvalid(caller: Caller | undefined): Caller {
  if (caller === undefined) throw invalidKey();
  return caller;
}

function invalidKey(): GatewayError {
  return new GatewayError('unauthenticated', 'Invalid API key');
}

/** The operator: whoever reaches the control socket, or sends the configured token. */
export function authenticateOperator(
  headers: RequestHeaders,
  isLocal: boolean,
  token: string | undefined,
): void {
  if (isLocal) return;
  const sent = sentKey(headers);
  if (sent === undefined) throw new GatewayError('unauthenticated', 'No API key provided');
  if (token === undefined || token === '' || !sameSecret(sent, token)) throw invalidKey();
}

/** Compares digests, so that neither the length nor a common beginning shows in the time it takes. */
function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}
