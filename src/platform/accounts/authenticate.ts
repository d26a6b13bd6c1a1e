/**
 * Tells who is behind a secret. A known key is answered at once from memory; another is looked up by its hash.
 *
 * Store down: a key that is in memory keeps working, also when changes may have been missed; any other is
 * refused with 503, never with 401, because a valid key must not look wrong.
 */
import { GatewayError } from '../../lib/errors.ts';
import { type Sql, StoreUnavailable } from '../../storage/database.ts';
import type { KeyCache, KnownKey } from './key-cache.ts';
import { hashSecret, longestSecret, sameHash } from './secret.ts';
import { type Credential, findCredential } from './store.ts';
import type { Authenticator, Caller } from './types.ts';

/** A key that is known, but may have changed meanwhile, is not kept waiting for a store that hangs. */
const staleWaitMs = 250;

/** While the store is down, one request in this time asks whether it is back; the others do not wait for it. */
const storeRetryMs = 1_000;

export interface AuthenticatorParts {
  sql: Sql;
  cache: KeyCache;
  now: () => number;
  /** False while changes are not heard: what is read then must not be remembered. */
  isHearing: () => boolean;
}

export function createAuthenticator({ sql, cache, now, isHearing }: AuthenticatorParts): Authenticator {
  /** Lookups under way, by hash. Those of an earlier epoch are not joined: they may show an earlier state. */
  const lookups = new Map<string, { epoch: number; answer: Promise<KnownKey | undefined> }>();
  /** When the store is asked again; undefined while it answers. */
  let retryAt: number | undefined;

  function ifNotExpired({ caller, expiresAt }: KnownKey): Caller | undefined {
    return expiresAt !== null && expiresAt <= now() ? undefined : caller;
  }

  /** Whether this request is the one that asks a store which did not answer the last time. */
  function mayAsk(): boolean {
    if (retryAt === undefined) return true;
    if (now() < retryAt) return false;
    retryAt = now() + storeRetryMs;
    return true;
  }

  async function lookUp(secret: string, hash: string): Promise<KnownKey | undefined> {
    const { epoch } = cache;
    const hearing = isHearing();
    const credential = await findCredential(sql, hash);
    retryAt = undefined;
    const known = toKnownKey(credential, hash);
    if (known === undefined) {
      cache.drop(secret);
      if (hearing) cache.rememberUnknown(epoch, hash);
    } else if (hearing) cache.remember(epoch, secret, known);
    return known;
  }

  function joinLookUp(secret: string, hash: string): Promise<KnownKey | undefined> {
    const { epoch } = cache;
    const running = lookups.get(hash);
    if (running?.epoch === epoch) return running.answer;
    const started = {
      epoch,
      answer: lookUp(secret, hash).finally(() => {
        if (lookups.get(hash) === started) lookups.delete(hash);
      }),
    };
    lookups.set(hash, started);
    return started.answer;
  }

  async function read(secret: string, hash: string): Promise<Caller | undefined> {
    try {
      const known = await joinLookUp(secret, hash);
      return known === undefined ? undefined : ifNotExpired(known);
    } catch (cause) {
      if (!(cause instanceof StoreUnavailable)) throw cause;
      retryAt = now() + storeRetryMs;
      // Asked only now: a revocation that was heard meanwhile has dropped it.
      const remembered = cache.find(secret);
      if (remembered !== undefined) return ifNotExpired(remembered);
      throw new GatewayError('overloaded', 'Keys cannot be checked at the moment', {
        retryAfterSeconds: 2,
        cause,
      });
    }
  }

  /** The answer of the store if it comes soon, else what is remembered; the store's answer then counts from the next time on. */
  async function readSoon(secret: string, hash: string): Promise<Caller | undefined> {
    const answer = read(secret, hash);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, staleWaitMs, 'late');
    });
    try {
      const first = await Promise.race([answer, late]);
      if (first !== 'late') return first;
      retryAt = now() + storeRetryMs;
      const remembered = cache.find(secret);
      return remembered === undefined ? await answer : ifNotExpired(remembered);
    } finally {
      clearTimeout(timer);
      answer.catch(() => {});
    }
  }

  return {
    authenticate(secret) {
      const known = cache.find(secret);
      if (known !== undefined && (!known.stale || !mayAsk())) return ifNotExpired(known);
      if (secret.length > longestSecret) return undefined;
      const hash = hashSecret(secret);
      if (cache.isUnknown(hash)) return undefined;
      return known === undefined ? read(secret, hash) : readSoon(secret, hash);
    },
  };
}

function toKnownKey(credential: Credential | undefined, hash: string): KnownKey | undefined {
  if (credential === undefined || !sameHash(credential.hash, hash)) return undefined;
  const { key, subscriptionStatus } = credential;
  if (key.status !== 'active' || subscriptionStatus !== 'active') return undefined;
  const caller = { subscriptionId: key.subscriptionId, keyId: key.id, keyName: key.name };
  return { caller, expiresAt: key.expiresAt, stale: false };
}
