import { describe, expect, it } from 'vitest';
import { packDeclarations } from './declarations.ts';

describe('the packs', () => {
  it('have names that can be folders, and tarballs of their own', () => {
    const names = packDeclarations.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9.-]*$/);
    const tarballs = packDeclarations.flatMap((pack) => pack.tarballs.map(({ integrity }) => integrity));
    expect(new Set(tarballs).size).toBe(tarballs.length);
    for (const integrity of tarballs) expect(integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  });

  it.each(packDeclarations.map((pack) => [pack.name, pack] as const))(
    '%s has every file once, from tarballs that it has',
    (_name, { files, tarballs, runtime }) => {
      const roles = files.map(({ role }) => role);
      if (runtime === 'soundfont') expect(roles).toEqual(['instruments']);
      // A model that hears and one that writes are two files.
      else
        expect(roles.includes('model') || (roles.includes('encoder') && roles.includes('decoder'))).toBe(
          true,
        );
      expect(new Set(files.map(({ role }) => role)).size).toBe(files.length);
      expect(new Set(files.map(({ name }) => name)).size).toBe(files.length);
      const used = new Set(files.flatMap(({ parts }) => parts.map(({ tarball }) => tarball)));
      expect([...used].sort()).toEqual([...tarballs.keys()]);
      for (const { sha256, name } of files) {
        expect(sha256).toMatch(/^[0-9a-f]{64}$/);
        expect(name).not.toBe('manifest.json');
      }
    },
  );
});
