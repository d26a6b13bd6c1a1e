/** The onnx runtime: which kind of model a set of files is, and how much of the machine it may use. */
import type { Runtime } from '../host/types.ts';
import { readTextModel } from './model-files.ts';
import { loadTextEmbedder } from './text-embedder.ts';

/** Leaves the rest of the machine to the gateway. */
const defaultThreads = 1;

export function createOnnxRuntime(options: Readonly<Record<string, unknown>>): Runtime {
  const threads = typeof options.threads === 'number' ? options.threads : defaultThreads;
  return {
    load: async (model) => loadTextEmbedder(await readTextModel(model), threads),
  };
}
