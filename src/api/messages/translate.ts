/**
 * A messages request as the canonical one, for the model that was resolved, and the rules that need more than
 * one field to be told. Whatever is not named here never reaches an engine.
 */
import type { ResponseFormat, ToolChoice } from '../../engines/contract/chat.ts';
import type { ChatModel, ResolvedModel } from '../../platform/catalog/index.ts';
import { toContinued } from '../../platform/chat/content.ts';
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
import type { MessagesBody, PromptFields } from './schema.ts';
import { type KnowsThought, toMessages } from './turns.ts';

/** A body that is only counted has neither a limit nor sampling. */
type Body = PromptFields & Partial<Omit<MessagesBody, keyof PromptFields>>;

/** Pure. */
export function toDraft(
  body: Body,
  { model, variant }: ResolvedModel<'chat'>,
  knows: KnowsThought,
): ChatDraft {
  const { messages, slots, lastPath } = toMessages(model, body, knows);
  if (messages.length === 0) throw invalid('messages', 'must have at least one message with content');
  const continued = toContinued(messages, lastPath, 'content');
  const isContinued = continued !== undefined;
  const maxTokens = wantedMaxTokens(model, body.max_tokens);
  checkThinking(model, body);
  const wish = toWish(body);
  const thinkingWithin = (limit: number) =>
    toThinking(model, wish, { maxTokens: limit, isContinued, variant });
  const tools = checkTools(
    model,
    (body.tools ?? []).map(({ name, description, input_schema: schema, strict }) => ({
      name,
      ...(description == null ? {} : { description }),
      parameters: schema as Record<string, unknown>,
      ...(strict == null ? {} : { strict }),
    })),
  );
  const choice = toToolChoice(body);
  const request = toChatRequest(model, {
    messages: continued ?? messages,
    continueFinal: isContinued,
    maxTokens,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: body.top_k ?? undefined,
    stop: body.stop_sequences ?? undefined,
    responseFormat: toResponseFormat(model, body),
    tools,
    // `auto` asks for nothing, so it needs no tools.
    toolChoice: tools === undefined && choice === 'auto' ? undefined : checkToolChoice(choice, tools),
    parallelToolCalls: body.tool_choice?.disable_parallel_tool_use === true ? false : undefined,
    thinking: thinkingWithin(maxTokens),
  });
  return { request, slots, thinkingWithin };
}

const params = {
  effort: 'output_config.effort',
  enabled: 'thinking.type',
  budget: 'thinking.budget_tokens',
};

/**
 * `adaptive` lets the model think as much as it likes. Coding agents send it to every model, so one that does
 * not think just answers.
 */
function toWish({ thinking, output_config: output, max_tokens: limit }: Body): ThinkingWish {
  const type = thinking?.type ?? undefined;
  return {
    effort: output?.effort ?? undefined,
    enabled: type === undefined ? undefined : type !== 'disabled',
    // Without a limit there is nothing that a budget could be held against, and it is no part of the prompt.
    budgetTokens:
      type === 'enabled' && limit !== undefined ? (thinking?.budget_tokens ?? undefined) : undefined,
    params,
  };
}

function checkThinking(model: ChatModel, { thinking, max_tokens: limit }: Body): void {
  if (thinking?.type === 'disabled' && thinking.display != null)
    throw invalid('thinking.display', 'has no meaning when thinking is disabled');
  if (thinking?.type !== 'enabled') return;
  const { budget_tokens: budget } = thinking;
  if (budget == null) throw invalid(params.budget, 'is required when thinking.type is "enabled"');
  if (model.reasoning?.supportsMaxTokens !== true)
    throw invalid(
      params.enabled,
      `"enabled" needs a model that holds to a budget, which ${model.id} does not`,
    );
  if (limit !== undefined && budget >= limit)
    throw invalid(params.budget, `must be below max_tokens, which is ${limit}`);
}

function toToolChoice({ tool_choice: choice }: Body): ToolChoice | undefined {
  switch (choice?.type) {
    case 'any':
      return 'required';
    case 'tool':
      if (choice.name == null)
        throw invalid('tool_choice.name', 'is required when tool_choice.type is "tool"');
      return { name: choice.name };
    default:
      return choice?.type;
  }
}

/** The format promises that the text fits, which is what `strict` says. It has no name; engines want one. */
function toResponseFormat(model: ChatModel, { output_config: output }: Body): ResponseFormat | undefined {
  const format = output?.format;
  if (format == null) return undefined;
  if (model.structuredOutput === false) throw unsupported(model, 'output_config.format');
  const schema = format.schema as Record<string, unknown>;
  return { type: 'json_schema', name: 'output', schema, strict: true };
}
