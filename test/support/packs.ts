/**
 * Real packs for tests: pulled once and kept between runs under node_modules/.cache, which `npm ci` empties.
 * Several test files may ask at the same time; the packs' own lock lets one of them pull.
 */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPacks } from '../../src/engines/packs/index.ts';
import { createLog } from '../../src/lib/log.ts';

const cacheFolder = fileURLToPath(new URL('../../node_modules/.cache/roundhouse-packs', import.meta.url));

/** For the hook or the test that calls `packFolder`: the first run on a machine has 300 MB to fetch. */
export const pullTimeoutMs = 600_000;

export interface PackFolder {
  /** A data folder of the test's own, in which the packs are. Whatever else is put there goes with it. */
  readonly dataFolder: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A data folder whose `models` are the cached ones; those that are named are there when it answers. */
export async function packFolder(...names: string[]): Promise<PackFolder> {
  const packs = createPacks({
    dataFolder: cacheFolder,
    log: createLog('warn'),
    variable: (name) => process.env[name],
  });
  try {
    for (const name of names) await packs.pull(name, () => {});
  } finally {
    await packs.close();
  }
  await mkdir(join(cacheFolder, 'models'), { recursive: true });
  const dataFolder = await mkdtemp(join(tmpdir(), 'roundhouse-packs-'));
  await symlink(join(cacheFolder, 'models'), join(dataFolder, 'models'));
  return {
    dataFolder,
    // Removes the link, not what it leads to.
    [Symbol.asyncDispose]: () => rm(dataFolder, { recursive: true }),
  };
}
