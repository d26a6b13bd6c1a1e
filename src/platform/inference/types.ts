/** The pipeline that every call to a model goes through: admit, call, bill, release. */
import type { ChatRequest, ChatResult, ChatSink } from '../../engines/contract/chat.ts';
import type { Engine } from '../../engines/contract/engine.ts';
import type { Leaving } from '../../lib/presence.ts';
import type { Caller } from '../accounts/types.ts';
import type { RateState } from '../admission/types.ts';
import type { Quantities } from '../billing/types.ts';
import type { ChatModel, Model } from '../catalog/index.ts';

/** One operation as the ledger will name it. */
export interface Operation {
  /** `gen_…` */
  readonly id: string;
  readonly caller: Caller;
  /** `chat`, `messages`, `embeddings`, …: the capability that is used. */
  readonly name: string;
  /** Aborted when the client leaves. */
  readonly signal: Leaving;
  /** Told how the limits stand once the request was counted against them or refused by them. */
  onRate?(rate: RateState): void;
}

export interface Billed<T> {
  readonly result: T;
  readonly costPicoUsd: bigint;
}

/** What one call of an engine used, and how it ended. */
export interface Settlement {
  readonly quantities: Quantities;
  readonly outcome: string;
}

/** A request, or what is still to be done for it (media to fetch, tokens to count) once it has been admitted. */
export type Prepared = ChatRequest | (() => Promise<ChatRequest>);

export interface Inference {
  /**
   * Runs one call that answers once. Another engine of the model is tried when one cannot be reached, is busy
   * or silent. Billed when it succeeds, and only then.
   */
  run<T>(
    operation: Operation,
    model: Model,
    work: (engine: Engine, signal: AbortSignal) => Promise<T>,
    settle: (result: T) => Settlement,
    /** The same for every turn of a conversation: it goes to the engine that has it cached. */
    affinity?: string,
  ): Promise<Billed<T>>;

  /** A whole chat answer. */
  complete(operation: Operation, model: ChatModel, request: Prepared): Promise<Billed<ChatResult>>;

  /**
   * Streams a chat answer into the sink and resolves when it has ended. What fails before the first part is
   * rejected, so that it gets its status; what fails later goes to `sink.fail`. When the client leaves it
   * rejects with the signal's reason. What was delivered is billed in every case.
   */
  stream(operation: Operation, model: ChatModel, request: Prepared, sink: BilledSink): Promise<void>;

  /** The prompt's tokens as the model's engine counts them. Neither limited nor billed. */
  countTokens(model: ChatModel, request: ChatRequest, signal: AbortSignal): Promise<number>;

  /** Waits for the bills of clients who have left. */
  close(): Promise<void>;
}

/** A sink that is told the price before the end, and can slow the engine down. */
export interface BilledSink extends ChatSink {
  /** Called once, with the run's brakes, before the first part. */
  onStart(flow: { pause(): void; resume(): void }): void;
  /** Called right before `usage`: what the operation costs. */
  cost(picoUsd: bigint): void;
}
