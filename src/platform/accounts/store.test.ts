import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { migrate } from '../../storage/migrate.ts';
import * as store from './store.ts';
import type { Key, Subscription } from './types.ts';

const subscription: Subscription = {
  id: 'sub_1',
  name: 'acme',
  status: 'active',
  createdAt: 1,
  closedAt: null,
};
const key: Key = {
  id: 'key_1',
  subscriptionId: 'sub_1',
  name: 'first',
  prefix: 'rh_1234567',
  status: 'active',
  createdAt: 1_794_711_240_123,
  expiresAt: null,
  revokedAt: null,
};
let test: TestDatabase;

beforeEach(async () => {
  test = await createTestDatabase();
  await migrate(test.database, { folder: fileURLToPath(new URL('../../../migrations', import.meta.url)) });
  await store.insertSubscription(test.database, subscription);
  await store.insertKey(test.database, key, 'hash');
});
afterEach(() => test.close());

describe('the statements on accounts', () => {
  it('answer records as they were stored', async () => {
    expect(await store.findSubscription(test.database, 'acme')).toEqual(subscription);
    expect(await store.findCredential(test.database, 'hash')).toEqual({
      key,
      hash: 'hash',
      subscriptionStatus: 'active',
    });
  });

  it('change a status only if it still is what was read', async () => {
    const { database } = test;
    const revoked = { ...key, status: 'revoked', revokedAt: 5 } as const;
    expect(await store.updateKeyStatus(database, revoked, 'suspended')).toBeUndefined();
    expect(await store.findKeys(database, key.id)).toEqual([key]);
    expect(await store.updateKeyStatus(database, revoked, 'active')).toEqual(revoked);
    const closed = { ...subscription, status: 'closed', closedAt: 5 } as const;
    expect(await store.updateSubscriptionStatus(database, closed, 'suspended')).toBeUndefined();
    expect(await store.findSubscription(database, 'sub_1')).toEqual(subscription);
    expect(await store.updateSubscriptionStatus(database, closed, 'active')).toEqual(closed);
  });

  it('leave the time of a revoked key alone, and the status of one whose time is set', async () => {
    const { database } = test;
    await store.updateKeyStatus(database, { ...key, status: 'suspended' }, 'active');
    expect(await store.updateKeyExpiry(database, key.id, 7)).toMatchObject({
      status: 'suspended',
      expiresAt: 7,
    });
    await store.updateKeyStatus(database, { ...key, status: 'revoked', revokedAt: 5 }, 'suspended');
    expect(await store.updateKeyExpiry(database, key.id, 8)).toBeUndefined();
    expect(await store.findKeys(database, key.id)).toMatchObject([{ expiresAt: 7 }]);
  });

  it('refuse a second key with the same secret and a second subscription with the same name', async () => {
    expect(await store.insertKey(test.database, { ...key, id: 'key_2' }, 'hash')).toBeUndefined();
    expect(await store.insertSubscription(test.database, { ...subscription, id: 'sub_2' })).toBeUndefined();
  });
});
