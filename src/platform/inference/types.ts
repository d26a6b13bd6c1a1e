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

export interface SessionOptions {
  /** As the ledger says it. */
  readonly streamed: boolean;
}

/** The engine calls and the one bill of an operation. */
export interface Session {
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  /**
   * One call of an engine, the same one for every call while that can be. Another is tried when it cannot be
   * reached, is busy or silent, unless this call has delivered something already. Only the first call can be
   * refused for want of a slot.
   */
  call<T>(work: (engine: Engine, signal: AbortSignal) => Promise<T>): Promise<T>;
  /** What has reached the client so far, in all: what is billed if it ends early. */
  delivered(quantities: Quantities): void;
  /** Bills the whole: once, before the client sees the end. Answers what it costs, in pico-dollars. */
  bill(settlement: Settlement): Promise<bigint>;
}

/** A request, or what is still to be done for it (media to fetch, tokens to count) once it has been admitted. */
export type Prepared = ChatRequest | (() => Promise<ChatRequest>);

export interface Inference {
  /** Work that counts against the limits like a call but neither calls an engine nor bills: a job that is created. */
  enter<T>(operation: Operation, model: Model, work: () => Promise<T>): Promise<T>;

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

  /**
   * One operation of several engine calls, or of one whose answer leaves piece by piece: admitted once, billed
   * once. When `work` throws, what it has `delivered` is billed before the rejection: as `error`, or as
   * `cancelled` when the client left. What delivered nothing costs nothing.
   */
  session<T>(
    operation: Operation,
    model: Model,
    work: (session: Session) => Promise<T>,
    options: SessionOptions,
  ): Promise<T>;

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

  /**
   * The same as an operation of its own, for a client that asks for nothing else: not billed, but held to ten times
   * the model's limits, since counting is work for the engine too.
   */
  countPrompt(operation: Operation, model: ChatModel, prepare: () => Promise<ChatRequest>): Promise<number>;

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
