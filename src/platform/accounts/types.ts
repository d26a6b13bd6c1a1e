/** The nouns of accounts: a subscription owns keys, limits, files, usage; a key speaks for its subscription. */

/**
 * subscription:  active ⇄ suspended,  either → closed (final)
 * key:           active ⇄ suspended,  either → revoked (final); past `expiresAt` it is refused as well
 */
export type SubscriptionStatus = 'active' | 'suspended' | 'closed';
export type KeyStatus = 'active' | 'suspended' | 'revoked';

export interface Subscription {
  id: string;
  name: string;
  status: SubscriptionStatus;
  createdAt: number;
  closedAt: number | null;
}

export interface Key {
  id: string;
  subscriptionId: string;
  name: string;
  /** The first characters of the secret, so that a person can tell keys apart. */
  prefix: string;
  status: KeyStatus;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
}

/** A stretch of a list, oldest first; `hasMore` when it goes on after the last one. */
export interface Page<T> {
  data: T[];
  hasMore: boolean;
}

/** Where a stretch begins (after the record with this id) and how long it may be. */
export interface PageRequest {
  after?: string | undefined;
  limit: number;
}

/** Who is calling: what a valid key stands for. */
export interface Caller {
  subscriptionId: string;
  keyId: string;
  keyName: string;
}

/** What the shell asks of accounts. */
export interface Authenticator {
  /**
   * The caller behind a secret, or undefined when no active key has it. Synchronous when the key is known
   * already. Rejects with a GatewayError `overloaded` (503) when the store cannot be asked: a valid key must
   * never look wrong.
   */
  authenticate(secret: string): Caller | undefined | Promise<Caller | undefined>;
}
