/**
 * One whole chat answer: admitted, asked of one engine after the other until one answers, billed, and handed
 * over. A small state machine instead of a chain of async functions: each of those would cost a promise and a
 * turn of the microtask queue, which together weigh as much as the rest of a short request.
 */
import assert from 'node:assert';
import type { ChatPort, ChatRequest, ChatResult, ChatRun } from '../../engines/contract/chat.ts';
import type { GatewayError } from '../../lib/errors.ts';
import { toAbortSignal } from '../../lib/presence.ts';
import type { Permit } from '../admission/types.ts';
import type { ChatModel } from '../catalog/index.ts';
import type { EngineUse } from '../engines/index.ts';
import { logEngineFailure } from './engine-failure.ts';
import { isWorthAnotherEngine, type Pipeline, withScript } from './pipeline.ts';
import type { Billed, Operation, Prepared, Settlement } from './types.ts';

export function completeChat(
  pipeline: Pipeline,
  operation: Operation,
  model: ChatModel,
  prepared: Prepared,
): Promise<Billed<ChatResult>> {
  return new Promise((resolve, reject) => {
    new WholeAnswer(pipeline, operation, model, resolve, reject).start(prepared);
  });
}

class WholeAnswer {
  readonly #pipeline: Pipeline;
  readonly #operation: Operation;
  readonly #model: ChatModel;
  readonly #resolve: (billed: Billed<ChatResult>) => void;
  readonly #reject: (error: unknown) => void;
  #permit: Permit | undefined;
  #request: ChatRequest | undefined;
  #startedAt = 0;
  #tried: string[] | undefined;
  #use: EngineUse | undefined;
  #run: ChatRun | undefined;
  #isOver = false;

  constructor(
    pipeline: Pipeline,
    operation: Operation,
    model: ChatModel,
    resolve: (billed: Billed<ChatResult>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#pipeline = pipeline;
    this.#operation = operation;
    this.#model = model;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(prepared: Prepared): void {
    // What it throws rejects the promise that it is called in.
    const entered = this.#pipeline.admit(this.#operation, this.#model);
    if (entered instanceof Promise) entered.then((permit) => this.#prepare(permit, prepared), this.#reject);
    else this.#prepare(entered, prepared);
  }

  #prepare(permit: Permit, prepared: Prepared): void {
    this.#permit = permit;
    if (typeof prepared === 'function')
      prepared().then(
        (request) => this.#ask(request),
        (error) => this.#fail(error),
      );
    else this.#ask(prepared);
  }

  #ask(request: ChatRequest): void {
    const { signal } = this.#operation;
    if (signal.aborted) {
      this.#fail(signal.reason);
      return;
    }
    this.#startedAt = this.#pipeline.now();
    this.#request = withScript(this.#model, request);
    signal.addEventListener('abort', this.#onLeave, { once: true });
    this.#begin(undefined);
  }

  /** Calls the next engine; `failure` is why the one before it is not the one that answers. */
  #begin(failure: GatewayError | undefined): void {
    const { affinity } = this.#request as ChatRequest;
    try {
      const use = this.#pipeline.nextEngine(this.#model, affinity, this.#tried ?? none, failure);
      this.#use = use;
      const { caller, signal } = this.#operation;
      const waiting = use.enter(caller.subscriptionId, signal, this.#pipeline.maxQueueWaitMs(this.#model));
      if (waiting === undefined) this.#call(use);
      else waiting.then(() => this.#call(use)).catch((error) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  #call({ engine: { chat } }: EngineUse): void {
    if (this.#isOver) return;
    assert(chat !== undefined, 'the catalogue gives chat models only engines that have the chat port');
    this.#run = chat.complete(this.#request as ChatRequest, (error, result) => {
      if (this.#isOver) return;
      if (error !== undefined) this.#failover(error);
      else if (hasUsage(result as ChatResult)) this.#finish(result as ChatResult);
      else this.#count(chat, result as ChatResult);
    });
  }

  #failover(error: GatewayError): void {
    const use = this.#use as EngineUse;
    this.#use = undefined;
    use.release(error);
    if (!isWorthAnotherEngine(error)) {
      this.#fail(error);
      return;
    }
    logEngineFailure(this.#pipeline.log, this.#model, use.name, error);
    this.#tried = [...(this.#tried ?? none), use.name];
    this.#begin(error);
  }

  #count(chat: ChatPort, result: ChatResult): void {
    countUsage(chat, this.#request as ChatRequest, result, toAbortSignal(this.#operation.signal)).then(
      (counted) => this.#isOver || this.#finish(counted),
      (error) => this.#fail(error),
    );
  }

  #finish(result: ChatResult): void {
    this.#close('answered');
    try {
      const settlement = toSettlement(result);
      const billed = this.#pipeline.bill(this.#operation, this.#model, this.#startedAt, settlement, false);
      if (billed instanceof Promise)
        billed.then((costPicoUsd) => this.#hand(result, costPicoUsd), this.#reject);
      else this.#hand(result, billed);
    } catch (error) {
      this.#reject(error);
    }
  }

  #hand(result: ChatResult, costPicoUsd: bigint): void {
    this.#resolve({ result, costPicoUsd });
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#close('unproven');
    this.#reject(error);
  }

  readonly #onLeave = (): void => {
    if (this.#isOver) return;
    this.#run?.abort();
    this.#fail(this.#operation.signal.reason);
  };

  /** Whatever happened, everything that was taken is given back. */
  #close(outcome: 'answered' | 'unproven'): void {
    this.#isOver = true;
    this.#operation.signal.removeEventListener('abort', this.#onLeave);
    this.#use?.release(outcome);
    this.#permit?.release();
  }
}

const none: readonly string[] = [];

function toSettlement({ usage, choices }: ChatResult): Settlement {
  return { quantities: usage, outcome: choices[0]?.finish.reason ?? 'stop' };
}

function hasUsage({ usage }: ChatResult): boolean {
  return usage.promptTokens > 0 || usage.completionTokens > 0;
}

/** For an engine that does not say what it used: the prompt is counted, the answer is counted as a prompt would be. */
async function countUsage(
  chat: ChatPort,
  request: ChatRequest,
  result: ChatResult,
  signal: AbortSignal,
): Promise<ChatResult> {
  const said = result.choices
    .map(({ text, reasoning, toolCalls }) => text + reasoning + JSON.stringify(toolCalls))
    .join('');
  const [promptTokens, completionTokens] = await Promise.all([
    chat.countTokens(request, signal),
    chat.countTokens({ ...request, messages: [{ role: 'user', content: said }] }, signal),
  ]);
  return { ...result, usage: { promptTokens, completionTokens, cachedTokens: 0, reasoningTokens: 0 } };
}
