/** Runs an engine's own code in the process: its module is loaded by its address and given its stage. */
import assert from 'node:assert';
import { setImmediate } from 'node:timers/promises';
import type { Render, Stage } from '../../../engines/contract/studio.ts';
import { emitAll } from './emit.ts';
import type { Jobs } from './protocol.ts';
import type { Seal } from './seal.ts';
import { createLoaders, createWorkshop } from './tools.ts';

export function createRender(seal: Seal): Jobs['render'] {
  const loaders = createLoaders(seal);

  return async (bytes, { module, request, inputLengths }, output) => {
    const { render }: { render?: Render } = await seal.lift(() => import(module));
    assert(typeof render === 'function', `${module} exports a render`);
    let at = 0;
    const inputs = inputLengths.map((length) => {
      at += length;
      return bytes.subarray(at - length, at);
    });
    const workshop = createWorkshop(loaders, output);
    const stage: Stage = {
      tools: workshop.tools,
      async emit(made) {
        await emitAll(made, output);
        // A word from outside is heard here, also by a render that uses no tool.
        await setImmediate();
      },
      throwIfStopped: () => output.throwIfStopped(),
    };
    try {
      return await render(request, inputs, stage);
    } finally {
      await workshop.close();
    }
  };
}
