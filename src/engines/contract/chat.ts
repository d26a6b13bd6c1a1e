/**
 * The chat port: one canonical request that chat, messages and responses all translate to, and the canonical
 * parts that every engine answers with. Engines push parts into a sink; no object and no promise per part.
 */
import type { GatewayError } from '../../lib/errors.ts';
import type { JsonBytes } from './json-bytes.ts';

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | 'ultra';
export type MediaKind = 'image' | 'audio' | 'video';

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: MediaKind;
      /** Told from the bytes: `image/png`, `audio/wav`, `video/mp4`. */
      readonly mediaType: string;
      /** Engines get bytes, never a client's address. */
      readonly base64: string;
      readonly detail?: string;
    };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** A JSON text, as the model wrote it. */
  readonly arguments: string;
}

export type ChatMessage =
  | { readonly role: 'system' | 'developer'; readonly content: string; readonly name?: string }
  | { readonly role: 'user'; readonly content: string | readonly ContentPart[]; readonly name?: string }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      /** What it thought before, for models that go on thinking between tool calls. Engines may leave it out. */
      readonly reasoning?: string;
      readonly toolCalls?: readonly ToolCall[];
      readonly name?: string;
    }
  | { readonly role: 'tool'; readonly content: string | readonly ContentPart[]; readonly toolCallId: string };

export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly strict?: boolean;
}

export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string };

export type ResponseFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly description?: string;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict?: boolean;
    };

/** How a model shall think. Absent: as the model does by itself. */
export interface Thinking {
  readonly enabled: boolean;
  readonly effort?: Effort;
  /** At most this many tokens of thinking; only set for models that can hold to it. */
  readonly budgetTokens?: number;
}

export interface ChatRequest {
  /** What the engine calls the model. */
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** The last message is the assistant's, and the answer goes on where it ends. */
  readonly continueFinal: boolean;
  /** How many answers. */
  readonly n: number;
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly repetitionPenalty?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  /** How many alternatives each token's log probability comes with; absent: no log probabilities. */
  readonly topLogprobs?: number;
  readonly responseFormat?: ResponseFormat;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  readonly thinking?: Thinking;
  /** The same for every turn of one conversation, so that engines can reuse what they have cached. */
  readonly affinity: string;
  /** The model's `script` as it stands in the catalogue, for kinds whose behaviour can be scripted. */
  readonly script?: Readonly<Record<string, unknown>>;
}

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Of the prompt, read from the engine's cache. */
  readonly cachedTokens: number;
  /** Of the completion, spent on thinking. */
  readonly reasoningTokens: number;
}

export const noUsage: Usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface Finish {
  readonly reason: FinishReason;
  /** The engine's own word for it. */
  readonly native: string;
  /** The stop sequence that ended it, where the engine says so. */
  readonly stopSequence?: string;
}

export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[] | null;
  readonly topLogprobs: readonly Omit<TokenLogprob, 'topLogprobs'>[];
}

/**
 * Takes the parts of a streamed answer, in the order of the wire. `choice` counts from 0. Ends with exactly one
 * `end` or `fail`; after either, and after the run was aborted, nothing more is called.
 */
export interface ChatSink {
  /** `logprobs` come with the text whose tokens they describe. */
  text(choice: number, piece: JsonBytes, logprobs?: readonly TokenLogprob[]): void;
  reasoning(choice: number, piece: JsonBytes): void;
  /** The first piece of a call carries its id (`call_…`) and name; later ones only more of its arguments. */
  tool(
    choice: number,
    index: number,
    id: string | undefined,
    name: string | undefined,
    args: JsonBytes,
  ): void;
  finish(choice: number, finish: Finish): void;
  usage(usage: Usage): void;
  /** No more parts of this socket read: what has gathered should go out now. Once per read, never per part. */
  flush(): void;
  end(): void;
  fail(error: GatewayError): void;
}

export interface ChatChoice {
  readonly text: string;
  /** The same as it stands between the quotes of a JSON text, where the engine's own can be handed on. */
  readonly textInJson?: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly logprobs: readonly TokenLogprob[] | undefined;
  readonly finish: Finish;
}

/** A whole answer. */
export interface ChatResult {
  readonly choices: readonly ChatChoice[];
  readonly usage: Usage;
}

/** A call under way. Handed out synchronously, so that it can be stopped before anything was answered. */
export interface ChatRun {
  /** Stops the engine at once. The sink or callback hears nothing more. Safe to call twice, and after the end. */
  abort(): void;
  /** The reader is slow: take nothing more from the engine until `resume`. */
  pause(): void;
  resume(): void;
}

export interface ChatPort {
  stream(request: ChatRequest, sink: ChatSink): ChatRun;
  /** Not streamed: answers once, with a result or with a failure. */
  complete(
    request: ChatRequest,
    done: (error: GatewayError | undefined, result?: ChatResult) => void,
  ): ChatRun;
  /** How many tokens the prompt has for this engine. */
  countTokens(request: ChatRequest, signal: AbortSignal): Promise<number>;
}
