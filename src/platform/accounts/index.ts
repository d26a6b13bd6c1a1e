/**
 * Subscriptions and their keys: making them, moving them between their states, and telling who is calling.
 *
 * A change and its notification are one transaction, so every process that shares the database hears of it,
 * and forgets what it knew, as soon as it is true. Store down: known keys keep working
 * (`authenticate.ts`); everything else is refused with 503.
 */
import assert from 'node:assert';
import { GatewayError } from '../../lib/errors.ts';
import { createId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { shown } from '../../lib/quoted.ts';
import { type Database, type Sql, StoreUnavailable } from '../../storage/database.ts';
import { createAuthenticator } from './authenticate.ts';
import { type Affected, createKeyCache } from './key-cache.ts';
import { assertUsableSecret, createSecret, hashSecret, longestPrefix, visiblePrefix } from './secret.ts';
import { type KeyMove, keyMoves, nextStatus, type SubscriptionMove, subscriptionMoves } from './states.ts';
import * as store from './store.ts';
import type { Authenticator, Key, Page, PageRequest, Subscription } from './types.ts';

export type { KeyMove, SubscriptionMove } from './states.ts';
export type * from './types.ts';

/** A key and its secret, which is told once and stored nowhere. */
export interface NewKey {
  key: Key;
  secret: string;
}

export interface KeyRequest {
  /** The subscription's id or name. */
  subscription: string;
  name: string;
  expiresAt?: number | null | undefined;
}

export interface Accounts extends Authenticator {
  /** Hears of changes from now on; until then nothing is remembered. */
  start(): Promise<void>;
  close(): Promise<void>;
  /** The subscription `default`. Where there was none it is made, with one key, whose secret is answered once. */
  ensureDefault(options?: {
    withKey?: boolean;
  }): Promise<{ subscription: Subscription; secret: string | undefined }>;
  createSubscription(name: string): Promise<Subscription>;
  listSubscriptions(page: PageRequest): Promise<Page<Subscription>>;
  getSubscription(idOrName: string): Promise<Subscription>;
  moveSubscription(idOrName: string, move: SubscriptionMove): Promise<Subscription>;
  createKey(request: KeyRequest): Promise<NewKey>;
  /**
   * Makes sure that a key with this secret exists, whose state is then the operator's: one that was revoked
   * stays revoked. An earlier seed stays valid until it is revoked.
   */
  seedKey(subscriptionId: string, secret: string, name: string): Promise<Key>;
  /** The keys of one subscription (id or name), or of all. */
  listKeys(page: PageRequest & { subscription?: string | undefined }): Promise<Page<Key>>;
  /** A key is named by its id, or by its visible prefix where no other key has the same. */
  moveKey(idOrPrefix: string, move: KeyMove): Promise<Key>;
  /** From `expiresAt` on the key is refused: at once when it is absent, never when it is null. */
  expireKey(idOrPrefix: string, expiresAt?: number | null): Promise<Key>;
}

export interface AccountsParts {
  database: Database;
  now: () => number;
  log: Log;
}

const channel = 'accounts';
const defaultName = 'default';
/** A chosen secret below this can be guessed over the network. */
const shortSecret = 16;

export function createAccounts({ database, now, log }: AccountsParts): Accounts {
  const cache = createKeyCache();
  let stopListening: (() => Promise<void>) | undefined;
  const authenticator = createAuthenticator({
    sql: database,
    cache,
    now,
    isHearing: () => stopListening !== undefined,
  });

  /** One transaction that changes records and says which; this process forgets at once, the others on hearing. */
  async function change<T>(
    work: (tx: Sql, tell: (affected: Affected) => Promise<void>) => Promise<T>,
  ): Promise<T> {
    const told: Affected[] = [];
    try {
      return await asked(() =>
        database.transaction((tx) =>
          work(tx, (affected) => {
            told.push(affected);
            return tx.notify(channel, JSON.stringify(affected));
          }),
        ),
      );
    } finally {
      // Also after a failure: a commit whose answer was lost may have happened.
      for (const affected of told) cache.forget(affected);
    }
  }

  async function insertKey(
    tx: Sql,
    tell: (affected: Affected) => Promise<void>,
    secret: string,
    owner: Pick<Key, 'subscriptionId' | 'name' | 'expiresAt'>,
  ): Promise<Key | undefined> {
    const created = await store.insertKey(
      tx,
      {
        ...owner,
        id: createId('key'),
        prefix: visiblePrefix(secret),
        status: 'active',
        createdAt: now(),
        revokedAt: null,
      },
      hashSecret(secret),
    );
    if (created !== undefined) await tell({ keyId: created.id });
    return created;
  }

  async function insertSubscription(tx: Sql, tell: (affected: Affected) => Promise<void>, name: string) {
    const created = await store.insertSubscription(tx, {
      id: createId('sub'),
      name,
      status: 'active',
      createdAt: now(),
      closedAt: null,
    });
    if (created !== undefined) await tell({ subscriptionId: created.id });
    return created;
  }

  return {
    authenticate: (secret) => authenticator.authenticate(secret),

    async start() {
      assert(stopListening === undefined, 'accounts are started once');
      stopListening = await database.listen(channel, hear, cache.markAllStale);
    },

    async close() {
      const stop = stopListening;
      stopListening = undefined;
      cache.markAllStale();
      await stop?.();
    },

    async ensureDefault({ withKey = true } = {}) {
      const secret = withKey ? createSecret() : undefined;
      const made = await change(async (tx, tell) => {
        // Of several processes that start at once, the one whose row was taken also makes the key.
        const subscription = await insertSubscription(tx, tell, defaultName);
        if (subscription === undefined || secret === undefined) return subscription;
        await insertKey(tx, tell, secret, {
          subscriptionId: subscription.id,
          name: defaultName,
          expiresAt: null,
        });
        return subscription;
      });
      if (made !== undefined) return { subscription: made, secret };
      return { subscription: await asked(() => readSubscription(database, defaultName)), secret: undefined };
    },

    async createSubscription(name) {
      if (name.startsWith('sub_')) {
        throw new GatewayError('invalid_request', 'name must not start with "sub_", as ids do', {
          param: 'name',
        });
      }
      const created = await change((tx, tell) => insertSubscription(tx, tell, name));
      if (created === undefined)
        throw new GatewayError('conflict', `The subscription ${name} exists already`);
      log.info({ subscription: created.id, name }, 'subscription created');
      return created;
    },

    async listSubscriptions({ after, limit }) {
      const rows = await asked(() => store.selectSubscriptions(database, { after, limit: limit + 1 }));
      return toPage(rows, limit);
    },

    getSubscription: (idOrName) => asked(() => readSubscription(database, idOrName)),

    async moveSubscription(idOrName, move) {
      const moved = await change(async (tx, tell) => {
        const found = await readSubscription(tx, idOrName);
        const status = nextStatus('subscription', found.status, move, subscriptionMoves[move]);
        const closedAt = status === 'closed' ? now() : null;
        const updated = await store.updateSubscriptionStatus(
          tx,
          { ...found, status, closedAt },
          found.status,
        );
        if (updated === undefined) throw changedMeanwhile('subscription');
        await tell({ subscriptionId: updated.id });
        return updated;
      });
      log.info({ subscription: moved.id, status: moved.status }, 'subscription changed');
      return moved;
    },

    async createKey({ subscription, name, expiresAt = null }) {
      if (expiresAt !== null && expiresAt <= now()) {
        throw new GatewayError('invalid_request', 'expires_at must be in the future', {
          param: 'expires_at',
        });
      }
      const secret = createSecret();
      const key = await change(async (tx, tell) => {
        const owner = await readSubscription(tx, subscription);
        if (owner.status === 'closed')
          throw new GatewayError('conflict', `The subscription ${owner.name} is closed`);
        return insertKey(tx, tell, secret, { subscriptionId: owner.id, name, expiresAt });
      });
      assert(key !== undefined, 'two random secrets of 256 bits are never equal');
      log.info({ key: key.id, subscription: key.subscriptionId }, 'key created');
      return { key, secret };
    },

    async seedKey(subscriptionId, secret, name) {
      assertUsableSecret(secret);
      const key = await change(async (tx, tell) => {
        const created = await insertKey(tx, tell, secret, { subscriptionId, name, expiresAt: null });
        return created ?? (await store.findCredential(tx, hashSecret(secret)))?.key;
      });
      assert(key !== undefined, 'a key that was not inserted exists');
      const fields = { key: key.id, subscription: key.subscriptionId };
      if (key.subscriptionId !== subscriptionId)
        log.warn(fields, 'the seeded key belongs to another subscription');
      if (key.status !== 'active') log.warn(fields, `the seeded key is ${key.status} and stays so`);
      else if (key.expiresAt !== null && key.expiresAt <= now())
        log.warn(fields, 'the seeded key has expired');
      if (secret.length < shortSecret) {
        log.warn(fields, `the seeded key has fewer than ${shortSecret} characters: it can be guessed`);
      }
      return key;
    },

    async listKeys({ subscription, after, limit }) {
      const rows = await asked(async () => {
        const owner = subscription === undefined ? undefined : await readSubscription(database, subscription);
        return store.selectKeys(database, owner?.id, { after, limit: limit + 1 });
      });
      return toPage(rows, limit);
    },

    async moveKey(idOrPrefix, move) {
      const moved = await change(async (tx, tell) => {
        const found = await readKey(tx, idOrPrefix);
        const status = nextStatus('key', found.status, move, keyMoves[move]);
        const revokedAt = status === 'revoked' ? now() : null;
        const updated = await store.updateKeyStatus(tx, { id: found.id, status, revokedAt }, found.status);
        if (updated === undefined) throw changedMeanwhile('key');
        await tell({ keyId: updated.id });
        return updated;
      });
      log.info({ key: moved.id, status: moved.status }, 'key changed');
      return moved;
    },

    async expireKey(idOrPrefix, expiresAt = now()) {
      const expired = await change(async (tx, tell) => {
        const found = await readKey(tx, idOrPrefix);
        const updated = await store.updateKeyExpiry(tx, found.id, expiresAt);
        if (updated === undefined)
          throw new GatewayError('conflict', 'The key is revoked; it cannot be given a time any more');
        await tell({ keyId: updated.id });
        return updated;
      });
      log.info({ key: expired.id, expiresAt }, 'key changed');
      return expired;
    },
  };

  function hear(payload: string): void {
    const affected = toAffected(payload);
    if (affected === undefined) cache.markAllStale();
    else cache.forget(affected);
  }
}

/** Undefined for what this version does not understand: a newer process may share the database. */
function toAffected(payload: string): Affected | undefined {
  try {
    const { keyId, subscriptionId } = JSON.parse(payload) as Affected;
    return typeof keyId === 'string'
      ? { keyId }
      : typeof subscriptionId === 'string'
        ? { subscriptionId }
        : undefined;
  } catch {
    return undefined;
  }
}

async function readSubscription(sql: Sql, idOrName: string): Promise<Subscription> {
  const found = await store.findSubscription(sql, idOrName);
  if (found === undefined) throw new GatewayError('not_found', `There is no subscription ${shown(idOrName)}`);
  return found;
}

async function readKey(sql: Sql, idOrPrefix: string): Promise<Key> {
  const found = await store.findKeys(sql, idOrPrefix);
  const [key] = found;
  // Somebody who pastes a whole secret must not find it in the log.
  const start = shown(idOrPrefix.startsWith('key_') ? idOrPrefix : idOrPrefix.slice(0, longestPrefix));
  if (key === undefined) throw new GatewayError('not_found', `There is no key ${start}`);
  if (found.length > 1)
    throw new GatewayError('conflict', `Several keys start with ${start}: name one by its id`);
  return key;
}

async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    throw new GatewayError('overloaded', 'The accounts cannot be reached at the moment', {
      retryAfterSeconds: 2,
      cause,
    });
  }
}

function changedMeanwhile(noun: string): GatewayError {
  return new GatewayError('conflict', `The ${noun} was changed at the same moment: look at it and try again`);
}

function toPage<T>(rows: T[], limit: number): Page<T> {
  return { data: rows.slice(0, limit), hasMore: rows.length > limit };
}
