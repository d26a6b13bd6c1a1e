/** A whole answer as a message. Every field is named here, so nothing of an engine's own gets through. */
import type { ChatResult, Finish, ToolCall, Usage } from '../../engines/contract/chat.ts';
import type { Message, StopShape, UsageShape } from './schema.ts';
import { toToolUseId } from './tool-ids.ts';

/** What a rendering needs to know of its request. */
export interface MessageShape {
  /** `msg_…` */
  readonly id: string;
  readonly model: string;
  /** `thinking.display: "omitted"`: the text of thoughts stays here, their signature does not. */
  readonly hidesThinking: boolean;
  readonly stopSequences: readonly string[];
  /** `isCut`: the limit was cut to the window. Known once the request was prepared. */
  readonly facts: { readonly isCut?: boolean };
  /** Marks a thought as ours. */
  readonly sign: (thinking: string) => string;
}

type AnswerBlock = Message['content'][number];

export function toMessage(shape: MessageShape, { choices, usage }: ChatResult, costPicoUsd: bigint): Message {
  const content: AnswerBlock[] = [];
  const choice = choices[0]!;
  const { reasoning, text, toolCalls } = choice;
  if (reasoning !== '') {
    const thinking = shape.hidesThinking ? '' : reasoning;
    content.push({ type: 'thinking', thinking, signature: shape.sign(reasoning) });
  }
  if (text !== '') content.push({ type: 'text', text });
  for (const call of toolCalls) content.push(toToolUse(call));
  return {
    id: shape.id,
    type: 'message',
    role: 'assistant',
    model: shape.model,
    content,
    ...toStop(shape, choice.finish),
    usage: { ...toUsage(usage), cost: toDollars(costPicoUsd) },
  };
}

function toToolUse({ id, name, arguments: text }: ToolCall): AnswerBlock {
  return { type: 'tool_use', id: toToolUseId(id), name, input: toInput(text), caller: { type: 'direct' } };
}

/**
 * Clients require an object. Arguments that are none, because the limit cut them or the model slipped, are
 * handed on as they were written under one name: the client's own check of its tool's schema then fails and
 * tells the model, where an empty object could pass for a call without arguments.
 */
function toInput(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Told below, like any other text that is no object.
  }
  return { _raw: text };
}

const refusal = { type: 'refusal', category: null, explanation: null } as const;

/** Engines' adapters see to it that an answer with calls finishes as `tool_calls`. */
export function toStop({ facts, stopSequences }: MessageShape, finish: Finish): StopShape {
  const stop = (reason: StopShape['stop_reason']): StopShape => ({
    stop_reason: reason,
    stop_sequence: null,
    stop_details: null,
    container: null,
  });
  switch (finish.reason) {
    case 'length':
      return stop(facts.isCut === true ? 'model_context_window_exceeded' : 'max_tokens');
    case 'tool_calls':
      return stop('tool_use');
    case 'content_filter':
      return { ...stop('refusal'), stop_details: refusal };
    case 'stop': {
      const { stopSequence } = finish;
      if (stopSequence === undefined || !stopSequences.includes(stopSequence)) return stop('end_turn');
      return { ...stop('stop_sequence'), stop_sequence: stopSequence };
    }
  }
}

/** What was read from the cache is counted apart: clients add the two up. */
export function toUsage(usage: Usage): UsageShape {
  return {
    input_tokens: Math.max(0, usage.promptTokens - usage.cachedTokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cachedTokens,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use: null,
    service_tier: 'standard',
  };
}

export function toDollars(picoUsd: bigint): number {
  return Number(picoUsd) / 1e12;
}
