/**
 * A model process as the gateway sees it, and as its program sees it. Native code runs in a child process, one
 * per runtime: it loads models when they are first asked for, lets go of idle ones, and may crash without
 * taking the gateway along.
 */

/** A model's files on this machine, complete and checked. */
export interface ModelFiles {
  /** What the model is called here: a pack's name, or the path that the configuration names. */
  readonly name: string;
  /** Absolute paths by role (`model`, `tokenizer`, `voices`), as the pack or the folder gives them. */
  readonly files: Readonly<Record<string, string>>;
  /** What the runtime has to know besides (pooling, quantisation). */
  readonly options: Readonly<Record<string, unknown>>;
  /** What helps when they cannot be loaded, as a sentence for who asked. */
  readonly remedy?: string;
}

/** One piece of work for one model. Everything in it is structured-cloneable. */
export interface Task {
  readonly model: ModelFiles;
  /** `chat`, `embed`, `count`, `transcribe`, …: what the runtime knows to do. */
  readonly kind: string;
  readonly input: unknown;
  /** The rest of something that has begun: it waits its turn, and is not refused for the length of the line. */
  readonly isContinued?: boolean;
  /** The longest that it may run, whatever signs of life it gives; as long as it likes where absent. */
  readonly deadlineMs?: number;
}

export interface TaskRun {
  /** Stops the work. Nothing is called any more. Safe to call twice, and after the end. */
  abort(): void;
}

/** The gateway's side. */
export interface ModelHost {
  /** `onPart` hears what the work emits on its way. Fails with a `GatewayError`. */
  start(
    task: Task,
    on: { part(part: unknown): void; done(result: unknown): void; fail(error: Error): void },
  ): TaskRun;
  /** The same as a promise, for work that answers once. */
  run<T>(task: Task, signal: AbortSignal): Promise<T>;
  /** Waits for nothing: what is under way fails. */
  close(): Promise<void>;
}

/** The program's side: what a runtime implements. */
export interface Runtime {
  load(model: ModelFiles): Promise<LoadedModel>;
}

export interface LoadedModel {
  /** How much of this work may run at once in it; the rest waits in line. */
  readonly concurrency: number;
  /** Kinds of work that take no time worth mentioning: they wait for nothing once the model is loaded. */
  readonly quick?: readonly string[];
  run(task: Omit<Task, 'model'>, emit: (part: unknown) => void, signal: AbortSignal): Promise<unknown>;
  dispose(): Promise<void>;
}
