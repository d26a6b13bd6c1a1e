/**
 * The only place where admission, engines and billing meet: admit → call → bill → release, for answers that
 * come whole and for streams. Another engine of the model is tried as long as nothing has reached the client.
 */
import type { ChatRequest, ChatResult } from '../../engines/contract/chat.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { ChatModel, Model } from '../catalog/index.ts';
import type { EngineUse } from '../engines/index.ts';
import { completeChat } from './complete.ts';
import { createPipeline, isWorthAnotherEngine, type Pipeline, type PipelineParts } from './pipeline.ts';
import { createChatStream } from './stream.ts';
import type { Inference } from './types.ts';

export type * from './types.ts';

export function createInference(parts: PipelineParts): Inference {
  const pipeline = createPipeline(parts);

  const inference: Inference = {
    async run(operation, model, work, settle, affinity = '') {
      const permit = await pipeline.admit(operation, model);
      try {
        const startedAt = pipeline.now();
        const result = await tryEngines(pipeline, model, affinity, operation.signal, async (use) => {
          await use.enter(operation.caller.subscriptionId, operation.signal, pipeline.maxQueueWaitMs(model));
          return work(use.engine, operation.signal);
        });
        const costPicoUsd = await pipeline.bill(operation, model, startedAt, {
          ...settle(result),
          streamed: false,
        });
        return { result, costPicoUsd };
      } finally {
        permit.release();
      }
    },
    complete(operation, model, request) {
      return inference.run(
        operation,
        model,
        (engine, signal) => completeChat(engine, scripted(model, request), signal),
        (result: ChatResult) => ({
          quantities: result.usage,
          outcome: result.choices[0]?.finish.reason ?? 'stop',
        }),
        request.affinity,
      );
    },
    async stream(operation, model, request, sink) {
      const permit = await pipeline.admit(operation, model);
      try {
        await createChatStream({ pipeline, operation, model, request: scripted(model, request), sink }).run();
      } finally {
        permit.release();
      }
    },
    async countTokens(model, request, signal) {
      return tryEngines(pipeline, model, request.affinity, signal, ({ engine }) => {
        if (engine.chat === undefined)
          throw new GatewayError('internal', `${model.id}: its engine has no chat port`);
        return engine.chat.countTokens(request, signal);
      });
    },
    close: () => pipeline.close(),
  };
  return inference;
}

/** The sandbox engine behaves as the model's declaration says. */
function scripted({ script }: ChatModel, request: ChatRequest): ChatRequest {
  return script === undefined ? request : { ...request, script };
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
      use.release(undefined);
      return result;
    } catch (error) {
      failure = error instanceof GatewayError ? error : undefined;
      use.release(failure);
      if (failure === undefined || signal.aborted || !isWorthAnotherEngine(failure)) throw error;
      pipeline.log.warn({ model: model.id, engine: use.name, error: failure.message }, 'an engine failed');
    }
  }
}
