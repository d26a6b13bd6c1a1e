/**
 * One streamed chat answer on its way from an engine to a client's sink.
 *
 * Until the first part nothing has reached the client: an engine that fails is replaced by another, and the last
 * failure is rejected so that it gets its status. From then on parts go straight through, and a failure is told
 * by `sink.fail`. However it ends, what was delivered is billed once, and the row is safe before the client
 * sees the end: a client that closes on `[DONE]` has not left early.
 */
import assert from 'node:assert';
import type {
  ChatRequest,
  ChatRun,
  ChatSink,
  Finish,
  TokenLogprob,
  Usage,
} from '../../engines/contract/chat.ts';
import type { JsonBytes } from '../../engines/contract/json-bytes.ts';
import type { GatewayError } from '../../lib/errors.ts';
import type { ChatModel } from '../catalog/index.ts';
import type { EngineUse } from '../engines/index.ts';
import { logEngineFailure } from './engine-failure.ts';
import { isWorthAnotherEngine, type Pipeline } from './pipeline.ts';
import type { BilledSink, Operation } from './types.ts';

export interface ChatStreamParts {
  pipeline: Pipeline;
  operation: Operation;
  model: ChatModel;
  request: ChatRequest;
  sink: BilledSink;
}

export interface ChatStream {
  run(): Promise<void>;
}

/** How long the prompt's tokens may be counted after a client has left, before they are estimated. */
const countTimeoutMs = 5_000;
const bytesPerToken = 4;
/** On average: longer pieces hold several tokens each. */
const longestTokenBytes = 16;

export function createChatStream(parts: ChatStreamParts): ChatStream {
  return new ForwardingSink(parts);
}

class ForwardingSink implements ChatSink, ChatStream {
  readonly #parts: ChatStreamParts;
  readonly #sink: BilledSink;
  readonly #startedAt: number;
  readonly #tried: string[] = [];
  #use: EngineUse | undefined;
  #run: ChatRun | undefined;
  #isStarted = false;
  #isOver = false;
  #textPieces = 0;
  #reasoningPieces = 0;
  /** Of everything that was delivered, for engines whose pieces are no tokens. */
  #bytes = 0;
  #usage: Usage | undefined;
  #outcome = 'stop';
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(parts: ChatStreamParts) {
    this.#parts = parts;
    this.#sink = parts.sink;
    this.#startedAt = parts.pipeline.now();
  }

  run(): Promise<void> {
    const { signal } = this.#parts.operation;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      signal.addEventListener('abort', this.#onLeave, { once: true });
      this.#begin(undefined);
    });
  }

  /** Calls the next engine; `failure` is why the one before it is not the one that answers. */
  #begin(failure: GatewayError | undefined): void {
    const { pipeline, model, request } = this.#parts;
    try {
      this.#use = pipeline.nextEngine(model, request.affinity, this.#tried, failure);
    } catch (error) {
      this.#close();
      this.#reject(error);
      return;
    }
    this.#tried.push(this.#use.name);
    const { caller, signal } = this.#parts.operation;
    const waiting = this.#use.enter(caller.subscriptionId, signal, pipeline.maxQueueWaitMs(model));
    if (waiting === undefined) this.#call(this.#use);
    else waiting.then(() => this.#call(this.#use as EngineUse)).catch(this.#refuse);
  }

  #call({ engine: { chat } }: EngineUse): void {
    if (this.#isOver) return;
    assert(chat !== undefined, 'the catalogue gives chat models only engines that have the chat port');
    this.#run = chat.stream(this.#parts.request, this);
  }

  /** No slot of the engine came free in time. */
  readonly #refuse = (error: unknown): void => {
    if (this.#isOver) return;
    this.#close();
    this.#use?.release('unproven');
    this.#reject(error);
  };

  #start(): void {
    this.#isStarted = true;
    this.#sink.onStart({ pause: () => this.#run?.pause(), resume: () => this.#run?.resume() });
  }

  text(choice: number, piece: JsonBytes, logprobs?: readonly TokenLogprob[]): void {
    if (!this.#isStarted) this.#start();
    this.#textPieces++;
    this.#bytes += piece.length;
    this.#sink.text(choice, piece, logprobs);
  }

  reasoning(choice: number, piece: JsonBytes): void {
    if (!this.#isStarted) this.#start();
    this.#reasoningPieces++;
    this.#bytes += piece.length;
    this.#sink.reasoning(choice, piece);
  }

  tool(
    choice: number,
    index: number,
    id: string | undefined,
    name: string | undefined,
    args: JsonBytes,
  ): void {
    if (!this.#isStarted) this.#start();
    this.#textPieces++;
    this.#bytes += args.length;
    this.#sink.tool(choice, index, id, name, args);
  }

  finish(choice: number, finish: Finish): void {
    if (!this.#isStarted) this.#start();
    if (choice === 0) this.#outcome = finish.reason;
    this.#sink.finish(choice, finish);
  }

  usage(usage: Usage): void {
    this.#usage = usage;
  }

  flush(): void {
    if (this.#isStarted) this.#sink.flush();
  }

  end(): void {
    this.#close();
    this.#use?.release('answered');
    // The answer is not over for the client before its row is safe.
    this.#settle(this.#outcome).then(({ usage, costPicoUsd }) => {
      this.#sink.cost(costPicoUsd);
      this.#sink.usage(usage);
      this.#sink.end();
      this.#resolve();
    }, this.#reject);
  }

  fail(error: GatewayError): void {
    this.#use?.release(error);
    if (!this.#isStarted && isWorthAnotherEngine(error)) {
      const { pipeline, model } = this.#parts;
      logEngineFailure(pipeline.log, model, this.#use?.name, error);
      this.#begin(error);
      return;
    }
    this.#close();
    if (!this.#isStarted) {
      this.#reject(error);
      return;
    }
    this.#settle('error').then(() => {
      this.#sink.fail(error);
      this.#resolve();
    }, this.#reject);
  }

  readonly #onLeave = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#run?.abort();
    this.#use?.release('unproven');
    const { pipeline, operation } = this.#parts;
    // The permit is given back now, not when the bill is made out.
    if (this.#isStarted) pipeline.inBackground(this.#settle('cancelled'));
    this.#reject(operation.signal.reason);
  };

  #close(): void {
    this.#isOver = true;
    this.#parts.operation.signal.removeEventListener('abort', this.#onLeave);
  }

  async #settle(outcome: string): Promise<{ usage: Usage; costPicoUsd: bigint }> {
    const { pipeline, operation, model } = this.#parts;
    const usage = this.#usage ?? (await this.#delivered());
    const settlement = { quantities: usage, outcome };
    const costPicoUsd = await pipeline.bill(operation, model, this.#startedAt, settlement, true);
    return { usage, costPicoUsd };
  }

  /** What an engine that was cut off did not say: most send a piece per token, and the prompt can be counted. */
  async #delivered(): Promise<Usage> {
    const { request } = this.#parts;
    const pieces = this.#textPieces + this.#reasoningPieces;
    const isCoarse = this.#bytes > pieces * longestTokenBytes;
    const completionTokens = isCoarse ? Math.ceil(this.#bytes / bytesPerToken) : pieces;
    const promptTokens = await this.#use?.engine.chat
      ?.countTokens(request, AbortSignal.timeout(countTimeoutMs))
      .catch(() => estimateTokens(request));
    return {
      promptTokens: promptTokens ?? 0,
      completionTokens,
      cachedTokens: 0,
      reasoningTokens: Math.round((completionTokens * this.#reasoningPieces) / Math.max(1, pieces)),
    };
  }
}

function estimateTokens({ messages }: ChatRequest): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(messages)) / bytesPerToken);
}
