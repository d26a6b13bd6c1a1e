/**
 * The only place where admission, engines and billing meet: admit → call → bill → release, for answers that
 * come whole and for streams. Another engine of the model is tried as long as nothing has reached the client.
 */
import { GatewayError } from '../../lib/errors.ts';
import { toAbortSignal } from '../../lib/presence.ts';
import type { Model } from '../catalog/index.ts';
import type { EngineUse } from '../engines/index.ts';
import {
  createPipeline,
  isWorthAnotherEngine,
  type Pipeline,
  type PipelineParts,
  withScript,
} from './pipeline.ts';
import { createChatStream } from './stream.ts';
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
    run: (operation, model, work, settle, affinity = '') =>
      admitted(operation, model, async () => {
        const startedAt = pipeline.now();
        const { caller } = operation;
        const signal = toAbortSignal(operation.signal);
        const result = await tryEngines(pipeline, model, affinity, signal, (use) => {
          const waiting = use.enter(caller.subscriptionId, signal, pipeline.maxQueueWaitMs(model));
          return waiting === undefined
            ? work(use.engine, signal)
            : waiting.then(() => work(use.engine, signal));
        });
        const costPicoUsd = await pipeline.bill(operation, model, startedAt, settle(result), false);
        return { result, costPicoUsd };
      }),

    complete: (operation, model, prepared) => completeChat(pipeline, operation, model, prepared),

    stream: (operation, model, prepared, sink) =>
      admitted(operation, model, async () => {
        const asked = typeof prepared === 'function' ? await prepared() : prepared;
        const request = withScript(model, asked);
        await createChatStream({ pipeline, operation, model, request, sink }).run();
      }),

    async countTokens(model, request, signal) {
      const use = pipeline.nextEngine(model, request.affinity, [], undefined);
      try {
        if (use.engine.chat === undefined)
          throw new GatewayError('internal', `${model.id}: its engine has no chat port`);
        return await use.engine.chat.countTokens(request, signal);
      } finally {
        // Tokens can be counted by an engine that answers nothing else.
        use.release('unproven');
      }
    },

    close: () => pipeline.close(),
  };
}

/** One engine after the other, until one answers or a failure is not the engine's own. */
async function tryEngines<T>(
  pipeline: Pipeline,
  model: Model,
  affinity: string,
  signal: AbortSignal,
  work: (use: EngineUse) => Promise<T>,
): Promise<T> {
  const tried: string[] = [];
  let failure: GatewayError | undefined;
  for (;;) {
    const use = pipeline.nextEngine(model, affinity, tried, failure);
    tried.push(use.name);
    try {
      const result = await work(use);
      use.release('answered');
      return result;
    } catch (error) {
      failure = error instanceof GatewayError ? error : undefined;
      const isOwn = failure !== undefined && !signal.aborted;
      use.release(isOwn && failure !== undefined ? failure : 'unproven');
      if (failure === undefined || signal.aborted || !isWorthAnotherEngine(failure)) throw error;
      pipeline.log.warn({ model: model.id, engine: use.name, error: failure.message }, 'an engine failed');
    }
  }
}
