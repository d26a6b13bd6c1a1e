/**
 * The work of one model inside a model process. The model is loaded for the first task and let go when it has
 * had nothing to do for a while. The line stands in the gateway: what waits here waits for the model to load.
 */
import { GatewayError } from '../../../lib/errors.ts';
import { type Failure, toFailure } from './protocol.ts';
import type { LoadedModel, ModelFiles, Task } from './types.ts';

export interface QueueParts {
  readonly name: string;
  readonly idleMs: number;
  load(model: ModelFiles): Promise<LoadedModel>;
  loaded(concurrency: number, quick: readonly string[]): void;
  /** The queue is empty and of no more use. */
  unloaded(): void;
  part(id: number, part: unknown): void;
  /** Exactly one of the two for every task, also for one that was aborted. */
  done(id: number, result: unknown): void;
  fail(id: number, failure: Failure): void;
}

interface Job {
  readonly id: number;
  readonly task: Task;
  readonly aborter: AbortController;
}

export class ModelQueue {
  readonly #parts: QueueParts;
  #waiting: Job[] = [];
  readonly #running = new Map<number, Job>();
  /** Of those that run, how many take one of the model's places. */
  #busy = 0;
  #model: LoadedModel | undefined;
  #isLoading = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #unloading: Promise<void> | undefined;

  constructor(parts: QueueParts) {
    this.#parts = parts;
  }

  add(id: number, task: Task): void {
    clearTimeout(this.#idleTimer);
    this.#waiting.push({ id, task, aborter: new AbortController() });
    this.#advance();
  }

  abort(id: number): void {
    const job = this.#waiting.find((waiting) => waiting.id === id);
    if (job === undefined) {
      this.#running.get(id)?.aborter.abort();
      return;
    }
    this.#waiting = this.#waiting.filter((waiting) => waiting !== job);
    this.#parts.done(id, undefined);
    this.#advance();
  }

  #advance(): void {
    if (this.#isLoading || this.#unloading !== undefined) return;
    const model = this.#model;
    if (model === undefined) {
      const first = this.#waiting[0];
      if (first === undefined) this.#parts.unloaded();
      else void this.#load(first.task.model);
      return;
    }
    for (const job of this.#waiting) {
      const isQuick = model.quick?.includes(job.task.kind) ?? false;
      if (isQuick || this.#busy < model.concurrency) void this.#run(model, job, isQuick);
    }
    this.#waiting = this.#waiting.filter(({ id }) => !this.#running.has(id));
    if (this.#running.size === 0) this.#rest();
  }

  async #load(files: ModelFiles): Promise<void> {
    this.#isLoading = true;
    try {
      this.#model = await this.#parts.load(files);
      this.#parts.loaded(this.#model.concurrency, this.#model.quick ?? []);
    } catch (error) {
      const failure = toFailure(error, cannotLoad(files));
      for (const { id } of this.#waiting.splice(0)) this.#parts.fail(id, failure);
    } finally {
      this.#isLoading = false;
      this.#advance();
    }
  }

  async #run(model: LoadedModel, job: Job, isQuick: boolean): Promise<void> {
    const { id, task, aborter } = job;
    const { signal } = aborter;
    this.#running.set(id, job);
    if (!isQuick) this.#busy += 1;
    const emit = (part: unknown) => {
      if (!signal.aborted) this.#parts.part(id, part);
    };
    try {
      // Not in this turn: `#advance` still looks at who waits.
      const result = await Promise.resolve().then(() => model.run(task, emit, signal));
      this.#parts.done(id, signal.aborted ? undefined : result);
    } catch (error) {
      if (signal.aborted) this.#parts.done(id, undefined);
      else this.#parts.fail(id, toFailure(error, failed(this.#parts.name)));
    } finally {
      this.#running.delete(id);
      if (!isQuick) this.#busy -= 1;
      this.#advance();
    }
  }

  #rest(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      this.#unloading = this.#unload();
    }, this.#parts.idleMs);
  }

  async #unload(): Promise<void> {
    const model = this.#model;
    this.#model = undefined;
    await model?.dispose();
    this.#unloading = undefined;
    this.#advance();
  }
}

function cannotLoad({ name, remedy }: ModelFiles): GatewayError {
  const message = `The model ${name} cannot be loaded: its files are damaged, or not what this engine reads`;
  return new GatewayError('internal', remedy === undefined ? message : `${message}. ${remedy}`, {
    permanent: true,
  });
}

function failed(name: string): GatewayError {
  return new GatewayError('internal', `The model ${name} failed to answer`);
}
