import { describe, expect, it } from 'vitest';
import { createKeyCache, type KnownKey } from './key-cache.ts';

function known(keyId: string, subscriptionId = 'sub_1'): KnownKey {
  return { caller: { keyId, subscriptionId, keyName: keyId }, expiresAt: null, stale: false };
}

describe('what a process remembers of keys', () => {
  it('is bounded: the oldest valid key makes room', () => {
    const cache = createKeyCache(3);
    for (const n of [1, 2, 3, 4]) cache.remember(cache.epoch, `secret-${n}`, known(`key_${n}`));
    expect(cache.size.valid).toBe(3);
    expect(cache.find('secret-1')).toBeUndefined();
    expect(cache.find('secret-4')?.caller.keyId).toBe('key_4');
  });

  it('is bounded for unknown keys, which never push out a valid one', () => {
    const cache = createKeyCache(3);
    cache.remember(cache.epoch, 'secret', known('key_1'));
    for (let n = 0; n < 100; n++) cache.rememberUnknown(cache.epoch, `hash-${n}`);
    expect(cache.size).toEqual({ valid: 1, unknown: 3 });
    expect(cache.find('secret')).toBeDefined();
  });

  it('counts a key that is remembered again only once', () => {
    const cache = createKeyCache(2);
    cache.remember(cache.epoch, 'a', known('key_a'));
    cache.remember(cache.epoch, 'b', known('key_b'));
    cache.remember(cache.epoch, 'a', known('key_a'));
    expect(cache.find('b')).toBeDefined();
    expect(cache.size.valid).toBe(2);
  });

  it('forgets one key, all keys of a subscription, and every unknown one', () => {
    const cache = createKeyCache();
    cache.remember(cache.epoch, 'a', known('key_a', 'sub_1'));
    cache.remember(cache.epoch, 'b', known('key_b', 'sub_1'));
    cache.remember(cache.epoch, 'c', known('key_c', 'sub_2'));
    cache.rememberUnknown(cache.epoch, 'hash');
    cache.forget({ keyId: 'key_a' });
    expect([cache.find('a'), cache.find('b'), cache.find('c')].map(Boolean)).toEqual([false, true, true]);
    expect(cache.isUnknown('hash')).toBe(false);
    cache.forget({ subscriptionId: 'sub_1' });
    expect([cache.find('b'), cache.find('c')].map(Boolean)).toEqual([false, true]);
  });

  it('does not remember a reading that began before a change was heard', () => {
    const cache = createKeyCache();
    const { epoch } = cache;
    cache.forget({ keyId: 'another' });
    cache.remember(epoch, 'a', known('key_a'));
    cache.rememberUnknown(epoch, 'hash');
    expect(cache.size).toEqual({ valid: 0, unknown: 0 });
  });

  it('keeps keys after a gap, but marks them as stale', () => {
    const cache = createKeyCache();
    cache.remember(cache.epoch, 'a', known('key_a'));
    cache.rememberUnknown(cache.epoch, 'hash');
    cache.markAllStale();
    expect(cache.find('a')?.stale).toBe(true);
    expect(cache.isUnknown('hash')).toBe(false);
  });
});
