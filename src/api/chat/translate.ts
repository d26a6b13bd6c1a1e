/**
 * A chat request as the canonical one, for the model that was resolved: aliases, defaults, and the rules that
 * need more than one field to be told. Whatever is not named here never reaches an engine.
 */
import type { ResponseFormat, Tool } from '../../engines/contract/chat.ts';
import type { ChatModel, ResolvedModel } from '../../platform/catalog/index.ts';
import type { ChatDraft } from '../../platform/chat/prepare.ts';
import {
  checkToolChoice,
  checkTools,
  invalid,
  toChatRequest,
  unsupported,
} from '../../platform/chat/request.ts';
import { type ThinkingWish, toThinking } from '../../platform/chat/thinking.ts';
import { wantedMaxTokens } from '../../platform/chat/window.ts';
import { continued, toMessages } from './messages.ts';
import type { ChatBody } from './schema.ts';

/** Pure. */
export function toDraft(body: ChatBody, { model, variant }: ResolvedModel<'chat'>): ChatDraft {
  const { messages, slots } = toMessages(model, body.messages);
  const ready = continued(messages, body);
  const isContinued = ready !== undefined;
  const maxTokens = wantedMaxTokens(model, body.max_completion_tokens ?? body.max_tokens ?? undefined);
  const wish = toWish(body);
  const thinkingWithin = (limit: number) =>
    toThinking(model, wish, { maxTokens: limit, isContinued, variant });
  const tools = checkTools(model, toTools(body));
  const { tool_choice: choice } = body;
  const request = toChatRequest(model, {
    messages: ready ?? messages,
    continueFinal: isContinued,
    n: body.n ?? undefined,
    maxTokens,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: body.top_k ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    repetitionPenalty: body.repetition_penalty ?? undefined,
    seed: body.seed ?? undefined,
    stop: typeof body.stop === 'string' ? [body.stop] : (body.stop ?? undefined),
    topLogprobs: toTopLogprobs(model, body),
    responseFormat: toResponseFormat(model, body),
    tools,
    toolChoice: checkToolChoice(
      choice == null || typeof choice === 'string' ? (choice ?? undefined) : choice.function,
      tools,
    ),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    thinking: thinkingWithin(maxTokens),
  });
  return { request, slots, thinkingWithin };
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

function toTools({ tools }: ChatBody): Tool[] {
  return (tools ?? []).map(({ function: { name, description, parameters, strict } }) => ({
    name,
    ...(description == null ? {} : { description }),
    ...(parameters == null ? {} : { parameters: parameters as Record<string, unknown> }),
    ...(strict == null ? {} : { strict }),
  }));
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
