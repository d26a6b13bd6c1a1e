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
import type { Billed, Inference, Operation, Prepared, Settlement } from './types.ts';

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

  async function callAndBill<T>(
    operation: Operation,
    model: Model,
    affinity: string,
    work: (use: EngineUse) => Promise<T>,
    settle: (result: T) => Settlement,
  ): Promise<Billed<T>> {
    const startedAt = pipeline.now();
    const { caller, signal } = operation;
    const result = await tryEngines(pipeline, model, affinity, signal, (use) => {
      const waiting = use.enter(caller.subscriptionId, signal, pipeline.maxQueueWaitMs(model));
      return waiting === undefined ? work(use) : waiting.then(() => work(use));
    });
    const billed = pipeline.bill(operation, model, startedAt, settle(result), false);
    return { result, costPicoUsd: billed instanceof Promise ? await billed : billed };
  }

  return {
    run: (operation, model, work, settle, affinity = '') =>
      admitted(operation, model, () =>
        callAndBill(operation, model, affinity, ({ engine }) => work(engine, operation.signal), settle),
      ),

    complete: (operation, model, prepared) =>
      admitted(operation, model, async () => {
        const request = await toRequest(model, prepared);
        const answer = ({ engine }: EngineUse) => completeChat(engine, request, operation.signal);
        return callAndBill(operation, model, request.affinity, answer, toSettlement);
      }),

    stream: (operation, model, prepared, sink) =>
      admitted(operation, model, async () => {
        const request = await toRequest(model, prepared);
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

function toSettlement({ usage, choices }: ChatResult): Settlement {
  return { quantities: usage, outcome: choices[0]?.finish.reason ?? 'stop' };
}

/** With the model's script, by which the sandbox engine behaves. */
function toRequest({ script }: ChatModel, prepared: Prepared): ChatRequest | Promise<ChatRequest> {
  const scripted = (request: ChatRequest) => (script === undefined ? request : { ...request, script });
  return typeof prepared === 'function' ? prepared().then(scripted) : scripted(prepared);
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
