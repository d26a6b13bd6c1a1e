/**
 * What one process remembers of keys, without I/O: valid ones by the text of their secret, unknown ones by
 * hash. Both are bounded, so random keys cannot fill the memory, and unknown ones can never push out valid
 * ones.
 *
 * Every change that is heard starts a new epoch. A reading belongs to the epoch in which it was begun and is
 * remembered only if that epoch still runs: one that crossed a change may show the state before it.
 */
import type { Caller } from './types.ts';

export interface KnownKey {
  readonly caller: Caller;
  readonly expiresAt: number | null;
  /** Changes may have been missed since it was read: it is read again before its next use. */
  stale: boolean;
}

/** What a notification says has changed. */
export interface Affected {
  keyId?: string;
  subscriptionId?: string;
}

export interface KeyCache {
  readonly epoch: number;
  readonly size: { valid: number; unknown: number };
  find(secret: string): KnownKey | undefined;
  isUnknown(hash: string): boolean;
  remember(epoch: number, secret: string, known: KnownKey): void;
  rememberUnknown(epoch: number, hash: string): void;
  /** A reading that began in `epoch` found that the secret is no longer valid. */
  drop(secret: string): void;
  forget(affected: Affected): void;
  /** Nothing is dropped, so that keys go on working should the store be out of reach as well. */
  markAllStale(): void;
}

export function createKeyCache(limit = 10_000): KeyCache {
  const valid = new Map<string, KnownKey>();
  const unknown = new Set<string>();
  let epoch = 0;

  function beginEpoch(): void {
    epoch++;
    unknown.clear();
  }

  return {
    get epoch() {
      return epoch;
    },
    get size() {
      return { valid: valid.size, unknown: unknown.size };
    },
    find: (secret) => valid.get(secret),
    isUnknown: (hash) => unknown.has(hash),
    remember(readIn, secret, known) {
      if (readIn !== epoch) return;
      valid.delete(secret);
      if (valid.size >= limit) deleteOldest(valid);
      valid.set(secret, known);
    },
    rememberUnknown(readIn, hash) {
      if (readIn !== epoch) return;
      if (unknown.size >= limit) deleteOldest(unknown);
      unknown.add(hash);
    },
    drop: (secret) => void valid.delete(secret),
    forget({ keyId, subscriptionId }) {
      beginEpoch();
      for (const [secret, { caller }] of valid) {
        if (caller.keyId === keyId || caller.subscriptionId === subscriptionId) valid.delete(secret);
      }
    },
    markAllStale() {
      beginEpoch();
      for (const known of valid.values()) known.stale = true;
    },
  };
}

/** Maps and sets keep the order of insertion. */
function deleteOldest(entries: Map<string, unknown> | Set<string>): void {
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
