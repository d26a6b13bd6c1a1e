import { describe, expect, it } from 'vitest';
import { assertUsableSecret, createSecret, hashSecret, sameHash, visiblePrefix } from './secret.ts';

describe("a key's secret", () => {
  it('is rh_ and 256 random bits, of which ten characters are shown', () => {
    const secret = createSecret();
    expect(secret).toMatch(/^rh_[A-Za-z0-9_-]{43}$/);
    expect(secret).not.toBe(createSecret());
    expect(visiblePrefix(secret)).toBe(secret.slice(0, 10));
  });

  it('is kept as its SHA-256 in hex', () => {
    expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sameHash(hashSecret('abc'), hashSecret('abc'))).toBe(true);
    expect(sameHash(hashSecret('abc'), hashSecret('abd'))).toBe(false);
    expect(sameHash('ab', 'abc')).toBe(false);
  });

  it('shows at most a third of one that the operator chose', () => {
    expect(visiblePrefix('hunter2')).toBe('hu');
    expect(visiblePrefix('x')).toBe('');
  });

  it.each([
    ['empty', ''],
    ['a space', 'two words'],
    ['a line break', 'key\n'],
    ['not ASCII', 'schlüssel'],
    ['too long', 'x'.repeat(513)],
  ])('cannot be %s', (_, secret) => {
    expect(() => assertUsableSecret(secret)).toThrowError(/visible ASCII/);
  });

  it('may be any visible ASCII', () => {
    expect(() => assertUsableSecret('!~"$%&/()=?sk-test')).not.toThrow();
  });
});
