/** The real thing: a pack from the registry that this machine's npm is set up for, kept between runs. */
import { stat } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createPacks } from '../src/engines/packs/index.ts';
import { createLog } from '../src/lib/log.ts';
import { packFolder, pullTimeoutMs } from './support/packs.ts';

describe('a real pack', () => {
  it('comes from the registry and is what its declaration says', { timeout: pullTimeoutMs }, async () => {
    await using folder = await packFolder('all-minilm-l6-v2');
    const packs = createPacks({
      dataFolder: folder.dataFolder,
      log: createLog('silent'),
      variable: () => undefined,
    });
    const files = await packs.require('all-minilm-l6-v2');
    expect(Object.keys(files)).toEqual(['model', 'tokenizer', 'tokenizerConfig', 'config']);
    expect((await stat(files['model'] ?? '')).size).toBe(22_972_370);
    await packs.verify('all-minilm-l6-v2');
    await packs.close();
  });
});
