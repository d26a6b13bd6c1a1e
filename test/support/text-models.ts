/** The onnx process with real packs, for tests of what is built on it. */
import type { TextPortParts } from '../../src/engines/embedded/embedding.ts';
import { createModelHost, type ModelFiles, type RunningHost } from '../../src/engines/embedded/host/index.ts';
import { createPacks } from '../../src/engines/packs/index.ts';
import { createLog } from '../../src/lib/log.ts';
import { packFolder } from './packs.ts';

export interface TextModels extends TextPortParts {
  readonly host: RunningHost;
  close(): Promise<void>;
}

export async function openTextModels(...names: string[]): Promise<TextModels> {
  const folder = await packFolder(...names);
  const log = createLog('error', { write() {} });
  const packs = createPacks({ dataFolder: folder.dataFolder, log, variable: () => undefined });
  const host = createModelHost({
    program: new URL('../../src/engines/embedded/onnx/program.ts', import.meta.url),
    name: 'onnx',
    log,
    memoryMb: 2_000,
    idleMs: 60_000,
    queueLength: 16,
  });
  return {
    host,
    async resolve(name): Promise<ModelFiles> {
      return { name, files: await packs.require(name), options: packs.find(name)?.options ?? {} };
    },
    async close() {
      await host.close();
      await packs.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
