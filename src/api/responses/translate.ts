/**
 * A responses request as the canonical one, for the model that was resolved. Whatever is not named here never
 * reaches an engine.
 */
import type { ChatMessage, ResponseFormat, Tool, ToolChoice } from '../../engines/contract/chat.ts';
import type { ChatModel, ResolvedModel } from '../../platform/catalog/index.ts';
import type { ChatDraft } from '../../platform/chat/prepare.ts';
import {
  checkToolChoice,
  checkTools,
  invalid,
  toChatRequest,
  unsupported,
} from '../../platform/chat/request.ts';
import { toThinking } from '../../platform/chat/thinking.ts';
import { wantedMaxTokens } from '../../platform/chat/window.ts';
import { type Said, toMessages } from './items.ts';
import type { ResponsesBody } from './schema.ts';

/**
 * Pure. A final message of the assistant is not continued, other than on the chat route: OpenAI answers it with a
 * message of its own here, and every item of an answer is a whole one.
 */
export function toDraft(
  body: ResponsesBody,
  { model, variant }: ResolvedModel<'chat'>,
  conversation: readonly Said[],
): ChatDraft {
  refuseUnserved(body);
  const { messages, slots } = toMessages(model, conversation);
  const maxTokens = wantedMaxTokens(model, body.max_output_tokens ?? undefined);
  const thinkingWithin = (limit: number) =>
    toThinking(model, toWish(body), { maxTokens: limit, isContinued: false, variant });
  const { tools, toolChoice } = toToolUse(model, body);
  const request = toChatRequest(model, {
    messages: instructed(body, messages),
    continueFinal: false,
    maxTokens,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topLogprobs: toTopLogprobs(model, body),
    responseFormat: toResponseFormat(model, body),
    tools,
    toolChoice,
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    thinking: thinkingWithin(maxTokens),
  });
  return { request, slots, thinkingWithin, promptParam: 'input' };
}

/** Something must have been said: instructions alone are no question. */
export function checkConversation(conversation: readonly Said[], { input }: ResponsesBody): void {
  if (conversation.length === 0) throw invalid('input', input == null ? 'is required' : 'must not be empty');
}

/** Whether thoughts are told as a summary, which is what some clients read alone, or as what they are. */
export function summaryOf({ reasoning }: ResponsesBody) {
  return reasoning?.summary ?? reasoning?.generate_summary ?? null;
}

function refuseUnserved({ background, conversation, prompt }: ResponsesBody): void {
  if (background === true)
    throw invalid('background', 'must be false: an answer is made while its caller waits');
  if (conversation != null) throw invalid('conversation', 'is not supported: use previous_response_id');
  if (prompt != null) throw invalid('prompt', 'is not supported: there are no stored prompts');
}

/** Those of the turns before are not among what was said: each request brings its own. */
function instructed(
  { instructions }: ResponsesBody,
  messages: readonly ChatMessage[],
): readonly ChatMessage[] {
  return instructions == null ? messages : [{ role: 'system', content: instructions }, ...messages];
}

const thinkingParams = {
  effort: 'reasoning.effort',
  enabled: 'reasoning.enabled',
  budget: 'reasoning.max_tokens',
};

function toWish({ reasoning }: ResponsesBody) {
  return {
    effort: reasoning?.effort ?? undefined,
    enabled: reasoning?.enabled ?? undefined,
    budgetTokens: reasoning?.max_tokens ?? undefined,
    params: thinkingParams,
  };
}

/** `allowed_tools` leaves the model those that it names, and says whether it has to call one. */
function toToolUse(
  model: ChatModel,
  body: ResponsesBody,
): { tools: readonly Tool[] | undefined; toolChoice: ToolChoice | undefined } {
  const tools = checkTools(model, toTools(body));
  const { tool_choice: choice } = body;
  if (choice == null || typeof choice === 'string')
    return { tools, toolChoice: checkToolChoice(choice ?? undefined, tools) };
  if (choice.type === 'function') return { tools, toolChoice: checkToolChoice({ name: choice.name }, tools) };
  checkToolChoice(choice.mode, tools);
  // Sets: of both there may be tens of thousands.
  const known = new Set(tools?.map(({ name }) => name));
  for (const [index, { name }] of choice.tools.entries()) {
    if (!known.has(name))
      throw invalid(
        `tool_choice.tools[${index}].name`,
        `is ${JSON.stringify(name)}, which is not among tools`,
      );
  }
  const allowed = new Set(choice.tools.map(({ name }) => name));
  return { tools: tools?.filter(({ name }) => allowed.has(name)), toolChoice: choice.mode };
}

function toTools({ tools }: ResponsesBody): Tool[] {
  return (tools ?? []).map(({ name, description, parameters, strict }, index) => {
    if (name === undefined) throw invalid(`tools[${index}].name`, 'is required');
    return {
      name,
      ...(description == null ? {} : { description }),
      ...(parameters == null ? {} : { parameters: parameters as Record<string, unknown> }),
      ...(strict == null ? {} : { strict }),
    };
  });
}

function toResponseFormat(model: ChatModel, { text }: ResponsesBody): ResponseFormat | undefined {
  const format = text?.format;
  if (format == null || format.type === 'text') return undefined;
  if (model.structuredOutput === false) throw unsupported(model, 'text.format');
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return {
    type: 'json_schema',
    name,
    schema: schema as Record<string, unknown>,
    ...(description == null ? {} : { description }),
    ...(strict == null ? {} : { strict }),
  };
}

const logprobsAsked = 'message.output_text.logprobs';

/** Asked for by name, or by asking for alternatives. */
function toTopLogprobs(model: ChatModel, { include, top_logprobs: top }: ResponsesBody): number | undefined {
  const isNamed = include?.includes(logprobsAsked) === true;
  if (!isNamed && (top ?? 0) === 0) return undefined;
  if (model.logprobs === false) throw unsupported(model, isNamed ? 'include' : 'top_logprobs');
  return top ?? 0;
}
