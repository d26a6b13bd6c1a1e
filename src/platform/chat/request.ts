/**
 * The canonical request from what a route was asked for: the defaults of the contract and of the model, and the
 * checks that chat, messages and responses share. Pure.
 */
import type { ChatRequest, Tool, ToolChoice } from '../../engines/contract/chat.ts';
import { GatewayError } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import type { ChatModel } from '../catalog/index.ts';
import { toAffinity } from './affinity.ts';

type Always = 'messages' | 'continueFinal' | 'maxTokens';
type Optional = Omit<ChatRequest, Always | 'model' | 'affinity' | 'script'>;
/** What a request asks, in the words of the port; undefined means that it does not say. */
export type ChatWish = Pick<ChatRequest, Always> & {
  readonly [K in keyof Optional]?: Optional[K] | undefined;
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The defaults of temperature, top_p and the two penalties are sent and not left to the engine: the contract
 * promises 1, 1, 0 and 0, while engines take theirs from a model's own files (vLLM's generation config, Ollama's
 * Modelfile) or choose others (llama.cpp: 0.8 and 0.95). A model that publishes `default_parameters` has those
 * instead.
 */
export function toChatRequest(model: ChatModel, wish: ChatWish): ChatRequest {
  const defaults = model.defaultParameters;
  const topK = wish.topK ?? defaults?.topK;
  const repetitionPenalty = wish.repetitionPenalty ?? defaults?.repetitionPenalty;
  const stop = toStop(wish.stop);
  const request: Mutable<ChatRequest> = {
    model: model.engineModel,
    messages: wish.messages,
    continueFinal: wish.continueFinal,
    n: wish.n ?? 1,
    maxTokens: wish.maxTokens,
    temperature: wish.temperature ?? defaults?.temperature ?? 1,
    topP: wish.topP ?? defaults?.topP ?? 1,
    frequencyPenalty: wish.frequencyPenalty ?? defaults?.frequencyPenalty ?? 0,
    presencePenalty: wish.presencePenalty ?? defaults?.presencePenalty ?? 0,
    // Only a model that has several engines needs to know which of them has the conversation.
    affinity: model.engines.length > 1 ? toAffinity(wish.messages, wish.tools) : '',
  };
  if (topK !== undefined) request.topK = topK;
  if (repetitionPenalty !== undefined) request.repetitionPenalty = repetitionPenalty;
  if (wish.seed !== undefined) request.seed = wish.seed;
  if (stop !== undefined) request.stop = stop;
  if (wish.topLogprobs !== undefined) request.topLogprobs = wish.topLogprobs;
  if (wish.responseFormat !== undefined) request.responseFormat = wish.responseFormat;
  if (wish.toolChoice !== undefined) request.toolChoice = wish.toolChoice;
  if (wish.thinking !== undefined) request.thinking = wish.thinking;
  if (wish.tools !== undefined) {
    request.tools = wish.tools;
    if (wish.parallelToolCalls !== undefined) request.parallelToolCalls = wish.parallelToolCalls;
  }
  return request;
}

/** An empty string would stop before the first token; engines refuse it, so it is left out. */
function toStop(sequences: readonly string[] | undefined): readonly string[] | undefined {
  if (sequences === undefined) return undefined;
  const stop = sequences.filter((sequence) => sequence !== '');
  return stop.length === 0 ? undefined : stop;
}

/** Undefined for none: the model must be able to call tools when there are some. */
export function checkTools(model: ChatModel, tools: readonly Tool[]): readonly Tool[] | undefined {
  if (tools.length === 0) return undefined;
  if (model.tools === false) throw unsupported(model, 'tools');
  return tools;
}

/** "Anything other than `none` requires `tools`", and a tool that is named must be among them. */
export function checkToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[] | undefined,
): ToolChoice | undefined {
  if (choice === undefined) return undefined;
  if (tools === undefined) {
    if (choice === 'none') return undefined;
    throw invalid('tool_choice', 'requires tools');
  }
  if (typeof choice === 'object' && !tools.some(({ name }) => name === choice.name))
    throw invalid('tool_choice', `names ${quoted(choice.name)}, which is not among tools`);
  return choice;
}

export function unsupported({ id }: ChatModel, param: string): GatewayError {
  return invalid(param, `is not supported by the model ${id}`);
}

export function invalid(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${param} ${problem}`, { param });
}
