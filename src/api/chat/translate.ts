/**
 * A chat request as the canonical one, for the model that was resolved: aliases, defaults, and the rules that
 * need more than one field to be told. Whatever is not named here never reaches an engine.
 */
import type { ChatRequest, ResponseFormat, Tool, ToolChoice } from '../../engines/contract/chat.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Attachments } from '../../platform/attachments/index.ts';
import type { ChatModel, ResolvedModel } from '../../platform/catalog/index.ts';
import { toAffinity } from '../../platform/chat/affinity.ts';
import { type ThinkingWish, toThinking } from '../../platform/chat/thinking.ts';
import { cutToWindow, surelyFits, wantedMaxTokens } from '../../platform/chat/window.ts';
import type { Inference, Prepared } from '../../platform/inference/types.ts';
import { type Slot, toContinued, toMessages } from './messages.ts';
import type { ChatBody } from './schema.ts';

/** A canonical request, and the parts of it that are still to be loaded. */
export interface Draft {
  readonly request: ChatRequest;
  readonly slots: readonly Slot[];
}

export interface Needed {
  readonly attachments: Pick<Attachments, 'load'>;
  readonly inference: Pick<Inference, 'countTokens'>;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The request itself when there is nothing to load and nothing to count, which is the usual case; else what does
 * so, for when the request has been admitted: a caller over its limits causes no fetch.
 */
export function prepare(
  body: ChatBody,
  resolved: ResolvedModel<'chat'>,
  platform: Needed,
  signal: () => AbortSignal,
): Prepared {
  const draft = toDraft(body, resolved);
  const { request, slots } = draft;
  if (slots.length === 0 && surelyFits(resolved.model, request)) return request;
  return () => complete(draft, body, resolved, platform, signal());
}

/** Loads what is attached, then counts the prompt and cuts the limit, where it does not surely fit. */
async function complete(
  { request, slots }: Draft,
  body: ChatBody,
  { model, variant }: ResolvedModel<'chat'>,
  { attachments, inference }: Needed,
  signal: AbortSignal,
): Promise<ChatRequest> {
  if (slots.length > 0) {
    const loaded = await attachments.load(
      slots.map((slot) => slot.attachment),
      signal,
    );
    for (const [at, { parts, index }] of slots.entries()) parts[index] = loaded[at]!;
    if (surelyFits(model, request)) return request;
  }
  const promptTokens = await inference.countTokens(model, request, signal);
  const maxTokens = cutToWindow(model, request.maxTokens, promptTokens);
  if (maxTokens === request.maxTokens) return request;
  const { thinking: _, ...rest } = request;
  const thinking = toThinking(model, toWish(body), {
    maxTokens,
    isContinued: request.continueFinal,
    variant,
  });
  return { ...rest, maxTokens, ...(thinking === undefined ? {} : { thinking }) };
}

/**
 * Pure. The defaults of temperature, top_p and the two penalties are sent and not left to the engine: the
 * contract promises 1, 1, 0 and 0, while engines take theirs from a model's own files (vLLM's generation
 * config, Ollama's Modelfile) or choose others (llama.cpp: 0.8 and 0.95). A model that publishes
 * `default_parameters` has those instead.
 */
export function toDraft(body: ChatBody, { model, variant }: ResolvedModel<'chat'>): Draft {
  const { messages, slots } = toMessages(model, body.messages);
  const continued = toContinued(messages, body);
  const maxTokens = wantedMaxTokens(model, body.max_completion_tokens ?? body.max_tokens ?? undefined);
  const isContinued = continued !== undefined;
  const thinking = toThinking(model, toWish(body), { maxTokens, isContinued, variant });
  const tools = toTools(model, body);
  const toolChoice = toToolChoice(body, tools);
  const responseFormat = toResponseFormat(model, body);
  const topLogprobs = toTopLogprobs(model, body);
  const stop = toStop(body.stop);
  const defaults = model.defaultParameters;
  const topK = body.top_k ?? defaults?.topK;
  const repetitionPenalty = body.repetition_penalty ?? defaults?.repetitionPenalty;
  const request: Mutable<ChatRequest> = {
    model: model.engineModel,
    messages: continued ?? messages,
    continueFinal: isContinued,
    n: body.n ?? 1,
    maxTokens,
    temperature: body.temperature ?? defaults?.temperature ?? 1,
    topP: body.top_p ?? defaults?.topP ?? 1,
    frequencyPenalty: body.frequency_penalty ?? defaults?.frequencyPenalty ?? 0,
    presencePenalty: body.presence_penalty ?? defaults?.presencePenalty ?? 0,
    affinity: toAffinity(messages, tools),
  };
  if (topK !== undefined) request.topK = topK;
  if (repetitionPenalty !== undefined) request.repetitionPenalty = repetitionPenalty;
  if (body.seed != null) request.seed = body.seed;
  if (stop !== undefined) request.stop = stop;
  if (topLogprobs !== undefined) request.topLogprobs = topLogprobs;
  if (responseFormat !== undefined) request.responseFormat = responseFormat;
  if (toolChoice !== undefined) request.toolChoice = toolChoice;
  if (thinking !== undefined) request.thinking = thinking;
  if (tools !== undefined) {
    request.tools = tools;
    if (body.parallel_tool_calls != null) request.parallelToolCalls = body.parallel_tool_calls;
  }
  return { request, slots };
}

const topEffort = {
  effort: 'reasoning_effort',
  enabled: 'reasoning.enabled',
  budget: 'reasoning.max_tokens',
};
const innerEffort = { ...topEffort, effort: 'reasoning.effort' };

/** `reasoning.effort` wins over its shorthand `reasoning_effort`. `summary` changes nothing. */
function toWish({ reasoning, reasoning_effort: shorthand }: ChatBody): ThinkingWish {
  return {
    effort: reasoning?.effort ?? shorthand ?? undefined,
    enabled: reasoning?.enabled ?? undefined,
    budgetTokens: reasoning?.max_tokens ?? undefined,
    params: reasoning?.effort == null ? topEffort : innerEffort,
  };
}

function toTools(model: ChatModel, { tools }: ChatBody): Tool[] | undefined {
  if (tools == null || tools.length === 0) return undefined;
  if (model.tools === false) throw unsupported(model, 'tools');
  return tools.map(({ function: { name, description, parameters, strict } }) => ({
    name,
    ...(description == null ? {} : { description }),
    ...(parameters == null ? {} : { parameters: parameters as Record<string, unknown> }),
    ...(strict == null ? {} : { strict }),
  }));
}

/** "Anything other than `none` requires `tools`" */
function toToolChoice(
  { tool_choice: choice }: ChatBody,
  tools: readonly Tool[] | undefined,
): ToolChoice | undefined {
  if (choice == null) return undefined;
  if (tools === undefined) {
    if (choice === 'none') return undefined;
    throw invalid('tool_choice', 'requires tools');
  }
  if (typeof choice === 'string') return choice;
  const { name } = choice.function;
  if (!tools.some((tool) => tool.name === name))
    throw invalid('tool_choice', `names ${JSON.stringify(name)}, which is not among tools`);
  return { name };
}

function toResponseFormat(
  model: ChatModel,
  { response_format: format }: ChatBody,
): ResponseFormat | undefined {
  if (format == null || format.type === 'text') return undefined;
  if (model.structuredOutput === false) throw unsupported(model, 'response_format');
  if (format.type === 'json_object') return { type: 'json_object' };
  const declared = format.json_schema;
  if (declared == null) throw invalid('response_format.json_schema', 'is required');
  const { name, description, schema, strict } = declared;
  // Without a schema, any object is asked for.
  if (schema == null) return { type: 'json_object' };
  return {
    type: 'json_schema',
    name,
    schema: schema as Record<string, unknown>,
    ...(description == null ? {} : { description }),
    ...(strict == null ? {} : { strict }),
  };
}

function toTopLogprobs(model: ChatModel, { logprobs, top_logprobs: top }: ChatBody): number | undefined {
  if (logprobs !== true) {
    if (top == null) return undefined;
    throw invalid('top_logprobs', 'requires logprobs to be true');
  }
  if (model.logprobs === false) throw unsupported(model, 'logprobs');
  return top ?? 0;
}

/** An empty string would stop before the first token; engines refuse it, so it is left out. */
function toStop(stop: ChatBody['stop']): readonly string[] | undefined {
  if (stop == null) return undefined;
  const sequences = (typeof stop === 'string' ? [stop] : stop).filter((sequence) => sequence !== '');
  return sequences.length === 0 ? undefined : sequences;
}

function unsupported({ id }: ChatModel, param: string): GatewayError {
  return invalid(param, `is not supported by the model ${id}`);
}

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${param} ${problem}`, { param });
}
