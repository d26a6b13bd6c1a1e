/** What a key's secret looks like, and what is kept of it. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../lib/errors.ts';

/** Longer ones are refused unread: neither the store nor the memory is spent on them. */
export const longestSecret = 512;
export const longestPrefix = 10;

export function createSecret(): string {
  return `rh_${randomBytes(32).toString('base64url')}`;
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Compared in constant time, so that nothing of a stored hash can be measured out. */
export function sameHash(one: string, other: string): boolean {
  const a = Buffer.from(one);
  const b = Buffer.from(other);
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * What is shown of a secret: ten characters of our own (42 random bits, out of 256), and never more than a
 * third of one that the operator chose, which may be short.
 */
export function visiblePrefix(secret: string): string {
  return secret.slice(0, Math.min(longestPrefix, Math.floor(secret.length / 3)));
}

/** A secret must survive an HTTP header: visible ASCII, no spaces. */
export function assertUsableSecret(secret: string): void {
  if (/^[\x21-\x7e]+$/.test(secret) && secret.length <= longestSecret) return;
  throw new GatewayError(
    'invalid_request',
    `A key must be 1 to ${longestSecret} visible ASCII characters without spaces`,
  );
}
