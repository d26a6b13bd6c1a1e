/** The steps around an engine call, which whole answers and streams share. */
import type { ChatRequest } from '../../engines/contract/chat.ts';
import type { Engine } from '../../engines/contract/engine.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Admission, Limits, Permit } from '../admission/types.ts';
import { priceOf } from '../billing/price.ts';
import type { Billing } from '../billing/types.ts';
import type { ChatModel, Model } from '../catalog/index.ts';
import type { Engines, EngineUse } from '../engines/index.ts';
import type { Operation, Settlement } from './types.ts';

export interface PipelineParts {
  admission: Admission;
  billing: Billing;
  engines: Engines;
  /** The limits of every subscription on a model, as the configuration has them now. */
  limitsOf(model: Model): Limits;
  now: () => number;
  log: Log;
}

export interface Pipeline {
  /** At once when there is room. */
  admit(operation: Operation, model: Model): Permit | Promise<Permit>;
  /** The same for a question beside the work, such as a count: with limits of its own. */
  admitQuestion(operation: Operation, model: Model): Permit | Promise<Permit>;
  /** How long a request may wait for an engine's slot. */
  maxQueueWaitMs(model: Model): number;
  /** An engine that was not tried yet; throws what the last one failed with when there is none. */
  nextEngine(
    model: Model,
    affinity: string,
    tried: readonly string[],
    failure: GatewayError | undefined,
  ): EngineUse;
  /** An engine for a question beside the work; see `Engines.forQuestion`. */
  engineForQuestion(model: Model, affinity: string): Engine;
  /** Prices and records an operation. Answers what it costs once the row cannot be lost any more. */
  bill(
    operation: Operation,
    model: Model,
    startedAt: number,
    settlement: Settlement,
    streamed: boolean,
  ): bigint | Promise<bigint>;
  /** Work that nobody waits for, such as the bill of a client who has left. `close` does. */
  inBackground(work: Promise<unknown>): void;
  close(): Promise<void>;
  readonly now: () => number;
  readonly log: Log;
}

/** A client may ask about a request a few times before it sends it. */
const questionsPerRequest = 10;

export function createPipeline({ admission, billing, engines, limitsOf, now, log }: PipelineParts): Pipeline {
  const background = new Set<Promise<unknown>>();

  function counted(operation: Operation, permit: Permit): Permit {
    operation.onRate?.(permit.rate);
    return permit;
  }

  function refused(operation: Operation, model: Model, limits: Limits, error: unknown): never {
    operation.onRate?.(admission.rate(operation.caller.subscriptionId, model.id, limits));
    throw error;
  }

  return {
    now,
    log,
    admit(operation, model) {
      const { caller, signal } = operation;
      const limits = limitsOf(model);
      try {
        const entered = admission.enter(caller.subscriptionId, model.id, limits, signal);
        if (entered instanceof Promise) {
          return entered.then(
            (permit) => counted(operation, permit),
            (error) => refused(operation, model, limits, error),
          );
        }
        return counted(operation, entered);
      } catch (error) {
        return refused(operation, model, limits, error);
      }
    },
    admitQuestion({ caller, signal }, model) {
      const limits = limitsOf(model);
      const requestsPerMinute = limits.requestsPerMinute * questionsPerRequest;
      return admission.enter(
        caller.subscriptionId,
        `${model.id} questions`,
        { ...limits, requestsPerMinute },
        signal,
      );
    },
    maxQueueWaitMs: (model) => limitsOf(model).maxQueueWaitMs,
    nextEngine(model, affinity, tried, failure) {
      const use = engines.use(model.engines, affinity, tried);
      if (use !== undefined) return use;
      throw failure ?? new GatewayError('overloaded', `The model ${model.id} has no engine at the moment`);
    },
    engineForQuestion(model, affinity) {
      const engine = engines.forQuestion(model.engines, affinity);
      if (engine !== undefined) return engine;
      throw new GatewayError('overloaded', `The model ${model.id} has no engine at the moment`);
    },
    bill({ id, caller, name }, model, startedAt, { quantities, outcome }, streamed) {
      const costPicoUsd = priceOf(model, quantities);
      const waiting = billing.record({
        id,
        subscriptionId: caller.subscriptionId,
        keyId: caller.keyId,
        modelId: model.id,
        operation: name,
        at: startedAt,
        durationMs: now() - startedAt,
        streamed,
        outcome,
        quantities,
        costPicoUsd,
      });
      return waiting instanceof Promise ? waiting.then(() => costPicoUsd) : costPicoUsd;
    },
    inBackground(work) {
      const watched = work
        .catch((error) => log.error({ err: error }, 'an operation could not be billed'))
        .finally(() => background.delete(watched));
      background.add(watched);
    },
    async close() {
      await Promise.all(background);
    },
  };
}

/** With the model's script, by which the sandbox engine behaves. */
export function withScript({ script }: ChatModel, request: ChatRequest): ChatRequest {
  return script === undefined ? request : { ...request, script };
}

/** Another engine may do better with what this one could not reach, was too busy for or did not answer. */
export function isWorthAnotherEngine({ kind }: GatewayError): boolean {
  return kind === 'unreachable' || kind === 'overloaded' || kind === 'timeout';
}
