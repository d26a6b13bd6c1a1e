/** What the gateway and a model process say to each other, and how a failure crosses over. */
import { type ErrorKind, GatewayError } from '../../../lib/errors.ts';
import type { ModelFiles, Task } from './types.ts';

/** Said once, before anything else. */
export interface ProgramSettings {
  /** A model that had nothing to do for so long is let go. */
  readonly idleMs: number;
  readonly pulseMs: number;
  /** From 0 to 19: the gateway comes first on a busy machine. */
  readonly nice: number;
  /** A model that takes more by itself is not kept. */
  readonly memoryMb: number;
  /** What the runtime itself is told (threads). */
  readonly options: Readonly<Record<string, unknown>>;
}

export type ToProgram =
  | { readonly type: 'begin'; readonly settings: ProgramSettings }
  | { readonly type: 'run'; readonly id: number; readonly key: string; readonly task: Task }
  | { readonly type: 'abort'; readonly id: number };

/** Every `run` is answered by one `done` or `fail`, an aborted one too: only then is its place free. */
export type FromProgram =
  | { readonly type: 'parts'; readonly id: number; readonly parts: readonly unknown[] }
  | { readonly type: 'done'; readonly id: number; readonly result: unknown }
  | { readonly type: 'fail'; readonly id: number; readonly failure: Failure }
  | {
      readonly type: 'loaded';
      readonly key: string;
      readonly concurrency: number;
      readonly quick: readonly string[];
    }
  /** Before the failures of those who wait for it. */
  | { readonly type: 'oversized'; readonly key: string; readonly megabytes: number }
  | { readonly type: 'pulse'; readonly rssBytes: number; readonly models: number };

/** A failure as plain data: classes do not survive the way. */
export interface Failure {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly param?: string;
  readonly retryAfterSeconds?: number;
  readonly permanent: boolean;
  /** For the operator's log. */
  readonly detail: string;
}

/** Two models are the same when all of this is. */
export function toModelKey({ name, files, options }: ModelFiles): string {
  return JSON.stringify([name, files, options]);
}

/** `otherwise` is what a client is told of an error that was not thrown on purpose. */
export function toFailure(thrown: unknown, otherwise: GatewayError): Failure {
  const error = thrown instanceof GatewayError ? thrown : otherwise;
  const { kind, message, param, retryAfterSeconds, permanent } = error;
  return {
    kind,
    message,
    ...(param === undefined ? {} : { param }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    permanent,
    detail: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
  };
}

export function fromFailure({ kind, message, detail, ...details }: Failure): GatewayError {
  return new GatewayError(kind, message, { ...details, cause: detail });
}
