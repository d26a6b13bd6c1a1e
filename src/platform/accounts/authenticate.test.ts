import { describe, expect, it } from 'vitest';
import type { Sql } from '../../storage/database.ts';
import { createAuthenticator } from './authenticate.ts';
import { createKeyCache } from './key-cache.ts';

const caller = { subscriptionId: 'sub_1', keyId: 'key_1', keyName: 'k' };

describe('a key that is known while the database hangs', () => {
  it('is answered from memory after a moment, and from then on at once', async () => {
    const cache = createKeyCache();
    let asked = 0;
    const hanging = {
      query: () => {
        asked += 1;
        return new Promise(() => {});
      },
    } as unknown as Sql;
    const authenticator = createAuthenticator({ sql: hanging, cache, now: Date.now, isHearing: () => true });
    cache.remember(cache.epoch, 'secret', { caller, expiresAt: null, stale: false });
    expect(authenticator.authenticate('secret')).toEqual(caller);
    cache.markAllStale();
    const startedAt = performance.now();
    expect(await authenticator.authenticate('secret')).toEqual(caller);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(authenticator.authenticate('secret')).toEqual(caller);
    expect(asked).toBe(1);
  });
});
