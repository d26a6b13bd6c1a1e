/**
 * The only place where admission, engines and billing meet: admit → call → bill → release, for answers that
 * come whole and for streams. Another engine of the model is tried as long as nothing has reached the client.
 */
import assert from 'node:assert';
import { toAbortSignal } from '../../lib/presence.ts';
import type { Model } from '../catalog/index.ts';
import { createPipeline, type PipelineParts, withScript } from './pipeline.ts';
import { runSession } from './session.ts';
import { createChatStream } from './stream.ts';
import { tryEngines } from './try-engines.ts';
import type { Inference, Operation } from './types.ts';
import { completeChat } from './whole.ts';

export type * from './types.ts';

export function createInference(parts: PipelineParts): Inference {
  const pipeline = createPipeline(parts);

  /** Whatever happens to the work, the permit is given back. */
  async function admitted<T>(operation: Operation, model: Model, work: () => Promise<T>): Promise<T> {
    const entered = pipeline.admit(operation, model);
    const permit = entered instanceof Promise ? await entered : entered;
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  return {
    enter: admitted,

    run: (operation, model, work, settle, affinity = '') =>
      admitted(operation, model, async () => {
        const startedAt = pipeline.now();
        const { caller } = operation;
        const signal = toAbortSignal(operation.signal);
        const result = await tryEngines(pipeline, model, affinity, signal, {
          work(use) {
            const waiting = use.enter(caller.subscriptionId, signal, pipeline.maxQueueWaitMs(model));
            return waiting === undefined
              ? work(use.engine, signal)
              : waiting.then(() => work(use.engine, signal));
          },
        });
        const costPicoUsd = await pipeline.bill(operation, model, startedAt, settle(result), false);
        return { result, costPicoUsd };
      }),

    session: (operation, model, work, options) =>
      admitted(operation, model, () => runSession(pipeline, operation, model, work, options)),

    complete: (operation, model, prepared) => completeChat(pipeline, operation, model, prepared),

    stream: (operation, model, prepared, sink) =>
      admitted(operation, model, async () => {
        const asked = typeof prepared === 'function' ? await prepared() : prepared;
        const request = withScript(model, asked);
        await createChatStream({ pipeline, operation, model, request, sink }).run();
      }),

    async countTokens(model, request, signal) {
      const { chat } = pipeline.engineForQuestion(model, request.affinity);
      assert(chat !== undefined, 'the catalogue gives chat models only engines that have the chat port');
      return chat.countTokens(request, signal);
    },

    async countPrompt(operation, model, prepare) {
      const permit = await pipeline.admitQuestion(operation, model);
      try {
        const signal = toAbortSignal(operation.signal);
        return await this.countTokens(model, await prepare(), signal);
      } finally {
        permit.release();
      }
    },

    close: () => pipeline.close(),
  };
}
