/**
 * What engines answer, as far as it is read: every field may be missing, null or of another type, and what is
 * not named here is dropped. The pieces that streamed and whole answers share are read here.
 */

import { createId } from '../../lib/ids.ts';
import { type Finish, type FinishReason, noUsage, type TokenLogprob, type Usage } from '../contract/chat.ts';

export interface WireUsage {
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  prompt_tokens_details?: { cached_tokens?: number | null } | null;
  completion_tokens_details?: { reasoning_tokens?: number | null } | null;
  /** SGLang 0.5 has it here. */
  reasoning_tokens?: number | null;
}

interface WireLogprob {
  token?: string;
  logprob?: number | null;
  bytes?: number[] | null;
  top_logprobs?: WireLogprob[] | null;
}

export interface WireToolCall {
  index?: number | null;
  id?: string | null;
  function?: { name?: string | null; arguments?: unknown } | null;
}

/** A streamed `delta` or a whole `message`. */
export interface WireMessage {
  content?: string | null;
  /** vLLM since 0.16 and Ollama. */
  reasoning?: string | null;
  /** SGLang, llama.cpp and vLLM before. */
  reasoning_content?: string | null;
  tool_calls?: WireToolCall[] | null;
}

export interface WireChoice {
  index?: number;
  delta?: WireMessage | null;
  message?: WireMessage | null;
  logprobs?: { content?: WireLogprob[] | null } | null;
  finish_reason?: string | null;
  /** vLLM: the stop string, or the number of a stop token. */
  stop_reason?: string | number | null;
  /** SGLang's name for the same. */
  matched_stop?: string | number | null;
}

export interface WireAnswer {
  object?: string;
  choices?: WireChoice[] | null;
  usage?: WireUsage | null;
  error?: unknown;
}

/** What an answer is read for. */
export interface Asked {
  readonly n: number;
  readonly stop?: readonly string[];
  readonly topLogprobs?: number;
  /** The text that the answer goes on from, where the engine repeats it in a whole answer. */
  readonly repeats?: string;
  /** Each of several streamed answers has a usage of its own. */
  readonly hasUsagePerAnswer?: boolean;
}

/** What no answer can have used. Beyond it a number is a fault of the engine, and would be billed. */
const mostTokens = 100_000_000;

/** All zero, which means that it has to be counted, when the engine's own numbers cannot be true. */
export function toUsage(usage: WireUsage): Usage {
  if (![usage.prompt_tokens, usage.completion_tokens].every(isBelievable)) return noUsage;
  return {
    promptTokens: count(usage.prompt_tokens),
    completionTokens: count(usage.completion_tokens),
    cachedTokens: count(usage.prompt_tokens_details?.cached_tokens),
    reasoningTokens: count(usage.completion_tokens_details?.reasoning_tokens ?? usage.reasoning_tokens),
  };
}

/** The prompt is the same for all answers; what was generated adds up. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    promptTokens: Math.max(one.promptTokens, other.promptTokens),
    completionTokens: one.completionTokens + other.completionTokens,
    cachedTokens: Math.max(one.cachedTokens, other.cachedTokens),
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && value > 0 && value <= mostTokens ? Math.floor(value) : 0;
}

function isBelievable(tokens: unknown): boolean {
  return tokens == null || (Number.isInteger(tokens) && Number(tokens) >= 0 && Number(tokens) <= mostTokens);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Under either name; engines that send both send the same text twice. */
export function reasoningOf(message: WireMessage): string {
  return textOf(message.reasoning) || textOf(message.reasoning_content);
}

/** `arguments` as the JSON text that it should be: some engines send the object itself. */
export function argumentsOf(call: WireToolCall): string {
  const value = call.function?.arguments;
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  safety: 'content_filter',
  refusal: 'content_filter',
};

/** vLLM 0.26 and SGLang 0.5 end an answer that they gave up with one of these. */
export const brokenFinishes: ReadonlySet<string> = new Set(['abort', 'error']);

export function toFinish(choice: WireChoice, hasToolCalls: boolean, { stop }: Asked): Finish {
  const native = textOf(choice.finish_reason);
  const mapped = Object.hasOwn(finishReasons, native) ? finishReasons[native]! : 'stop';
  // vLLM says `stop` after a call that `tool_choice` forced.
  const reason = mapped === 'stop' && hasToolCalls ? 'tool_calls' : mapped;
  const matched = choice.stop_reason ?? choice.matched_stop;
  // Engines also name their own stop tokens there.
  const isAsked = typeof matched === 'string' && stop?.includes(matched) === true;
  return isAsked ? { reason, native, stopSequence: matched } : { reason, native };
}

export function toLogprobs(choice: WireChoice, { topLogprobs }: Asked): TokenLogprob[] | undefined {
  const content = choice.logprobs?.content;
  if (topLogprobs === undefined || !Array.isArray(content)) return undefined;
  return content.map((entry) => ({
    ...toLogprob(entry),
    topLogprobs: (entry.top_logprobs ?? []).slice(0, topLogprobs).map(toLogprob),
  }));
}

/** What engines write for "never": JSON has no infinity. */
const leastLogprob = -9999;

function toLogprob({ token, logprob, bytes }: WireLogprob): Omit<TokenLogprob, 'topLogprobs'> {
  return {
    token: textOf(token),
    logprob: typeof logprob === 'number' ? logprob : leastLogprob,
    bytes: Array.isArray(bytes) ? bytes : null,
  };
}

/**
 * The specification: tool call ids start with `call_`. vLLM writes `chatcmpl-tool-…`, llama.cpp random
 * letters: both stay recognisable. `functions.f:0` (Kimi) comes back in every turn, so it is replaced.
 */
export function toCallId(id: unknown): string {
  const own = textOf(id).replace(/^chatcmpl-tool-/, '');
  if (own.startsWith('call_')) return own;
  return /^[A-Za-z0-9_-]{8,}$/.test(own) ? `call_${own}` : createId('call');
}
