/** Which speech model a set of files is, and how much of the machine it may use. */
import type { Runtime } from '../host/types.ts';
import { unusable } from '../onnx/model-files.ts';
import { loadMoonshine } from './moonshine.ts';
import { loadWhisper } from './whisper.ts';

/** Leaves the rest of the machine to the gateway. */
const defaultThreads = 1;

export function createTranscribeRuntime(options: Readonly<Record<string, unknown>>): Runtime {
  const threads = typeof options['threads'] === 'number' ? options['threads'] : defaultThreads;
  return {
    load(model) {
      switch (model.options['architecture']) {
        case 'whisper':
          return loadWhisper(model, threads);
        case 'moonshine':
          return loadMoonshine(model, threads);
        default:
          return Promise.reject(unusable(model.name, 'it is no speech recognition model'));
      }
    },
  };
}
