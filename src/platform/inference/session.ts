/**
 * One operation that takes several engine calls, or one whose answer leaves piece by piece: counted once, billed
 * once. Its calls prefer one engine, because they share an affinity; each takes a slot of the engine and gives it
 * back, so that hours of audio do not keep a short clip waiting.
 */
import assert from 'node:assert';
import type { Engine } from '../../engines/contract/engine.ts';
import { toAbortSignal } from '../../lib/presence.ts';
import type { Quantities } from '../billing/types.ts';
import type { Model } from '../catalog/index.ts';
import type { Pipeline } from './pipeline.ts';
import { tryEngines } from './try-engines.ts';
import type { Operation, Session, SessionOptions, Settlement } from './types.ts';

/** Runs the work of an operation that was admitted. */
export async function runSession<T>(
  pipeline: Pipeline,
  operation: Operation,
  model: Model,
  work: (session: Session) => Promise<T>,
  options: SessionOptions,
): Promise<T> {
  const session = new EngineSession(pipeline, operation, model, options);
  try {
    return await work(session);
  } catch (error) {
    await session.billEarlyEnd();
    throw error;
  }
}

class EngineSession implements Session {
  readonly #pipeline: Pipeline;
  readonly #operation: Operation;
  readonly #model: Model;
  readonly #streamed: boolean;
  readonly #startedAt: number;
  readonly signal: AbortSignal;
  #delivered: Quantities | undefined;
  #deliveries = 0;
  #hasBegun = false;
  #isBilled = false;

  constructor(pipeline: Pipeline, operation: Operation, model: Model, { streamed }: SessionOptions) {
    this.#pipeline = pipeline;
    this.#operation = operation;
    this.#model = model;
    this.#streamed = streamed;
    this.#startedAt = pipeline.now();
    this.signal = toAbortSignal(operation.signal);
  }

  async call<T>(work: (engine: Engine, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this;
    signal.throwIfAborted();
    const deliveriesBefore = this.#deliveries;
    const { id, caller } = this.#operation;
    // What has begun is not refused for want of a slot.
    const maxWaitMs = this.#hasBegun ? undefined : this.#pipeline.maxQueueWaitMs(this.#model);
    const result = await tryEngines(this.#pipeline, this.#model, id, signal, {
      async work(use) {
        await use.enter(caller.subscriptionId, signal, maxWaitMs);
        return work(use.engine, signal);
      },
      // What has reached the client cannot be begun again elsewhere.
      mayTryAnother: () => this.#deliveries === deliveriesBefore,
    });
    this.#hasBegun = true;
    return result;
  }

  delivered(quantities: Quantities): void {
    this.#delivered = quantities;
    this.#deliveries += 1;
  }

  async bill(settlement: Settlement): Promise<bigint> {
    assert(!this.#isBilled, 'an operation is billed once');
    this.#isBilled = true;
    return this.#pipeline.bill(this.#operation, this.#model, this.#startedAt, settlement, this.#streamed);
  }

  /** What has reached the client is paid for, also when the rest did not come. */
  async billEarlyEnd(): Promise<void> {
    if (this.#isBilled || this.#delivered === undefined) return;
    const hasLeft = this.#operation.signal.aborted;
    const billing = this.bill({ quantities: this.#delivered, outcome: hasLeft ? 'cancelled' : 'error' });
    // Nobody waits for the bill of a client who has left: its permit is given back now.
    if (hasLeft) this.#pipeline.inBackground(billing);
    else await billing;
  }
}
