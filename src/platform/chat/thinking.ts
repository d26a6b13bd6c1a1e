/**
 * How a model shall think, from what a request asks and what the model can do. Pure; chat, messages and
 * responses name their own fields in the refusals.
 */
import type { Effort, Thinking } from '../../engines/contract/chat.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { ChatModel } from '../catalog/index.ts';

/** What a request asks; absent means nothing was asked. */
export interface ThinkingWish {
  readonly effort?: Effort | undefined;
  readonly enabled?: boolean | undefined;
  readonly budgetTokens?: number | undefined;
  /** The fields' paths, as the route calls them. */
  readonly params: { readonly effort: string; readonly enabled: string; readonly budget: string };
}

export interface ThinkingFrame {
  /** The completion limit after it was cut to the window. */
  readonly maxTokens: number;
  /** A final assistant message is continued: it goes on in the answer, so there is no place to think. */
  readonly isContinued: boolean;
  /** The `:variant` of the model's name. */
  readonly variant: string | undefined;
}

/**
 * `:express` on a model with enforced budgets: a quarter of the completion limit may be spent on thinking, so
 * that an answer begins soon and most of the limit is left for it.
 */
const expressShare = 1 / 4;

/** Undefined: the model thinks as it does by itself, or cannot think at all. */
export function toThinking(
  model: ChatModel,
  wish: ThinkingWish,
  { maxTokens, isContinued, variant }: ThinkingFrame,
): Thinking | undefined {
  const { reasoning } = model;
  const effort = wish.enabled === false ? 'none' : wish.effort;
  if (effort !== undefined) checkEffort(model, effort, wish);
  const isOff = isContinued || effort === 'none';
  // "must be below the effective completion limit; ignored when thinking is disabled or […] continued"
  if (!isOff && wish.budgetTokens !== undefined && wish.budgetTokens >= maxTokens) {
    const { budget } = wish.params;
    const message = `${budget} must be below the completion limit, which is ${maxTokens} here`;
    throw new GatewayError('invalid_request', message, { param: budget });
  }
  if (reasoning === undefined) return undefined;
  if (isOff) return { enabled: false };

  const isAsked = effort !== undefined || wish.enabled === true || wish.budgetTokens !== undefined;
  const level = effort ?? reasoning.defaultEffort;
  if (!isAsked && (reasoning.defaultEnabled === false || level === 'none')) return { enabled: false };
  const budgetTokens =
    reasoning.supportsMaxTokens === true
      ? (wish.budgetTokens ?? (variant === 'express' ? expressBudget(maxTokens) : undefined))
      : undefined;
  const isSilent = !isAsked && level === undefined && budgetTokens === undefined;
  if (isSilent && reasoning.defaultEnabled === undefined) return undefined;
  return {
    enabled: true,
    ...(level === undefined || level === 'none' ? {} : { effort: level }),
    ...(budgetTokens === undefined ? {} : { budgetTokens }),
  };
}

/** A limit of one token leaves nothing to think with. */
function expressBudget(maxTokens: number): number | undefined {
  return maxTokens > 1 ? Math.max(1, Math.floor(maxTokens * expressShare)) : undefined;
}

/** A model that says nothing about levels takes all; one that cannot think takes none but `none`. */
function checkEffort({ id, reasoning }: ChatModel, effort: Effort, wish: ThinkingWish): void {
  const param = wish.enabled === false ? wish.params.enabled : wish.params.effort;
  if (effort === 'none') {
    if (reasoning?.mandatory !== true) return;
    throw new GatewayError('invalid_request', `${param}: thinking cannot be turned off on ${id}`, { param });
  }
  if (reasoning === undefined)
    throw new GatewayError('invalid_request', `${param} is not supported by ${id}, which does not think`, {
      param,
    });
  const { supportedEfforts } = reasoning;
  if (supportedEfforts === undefined || supportedEfforts.includes(effort)) return;
  const message = `${param} ${JSON.stringify(effort)} is not supported by ${id}, which takes ${supportedEfforts.join(', ')}`;
  throw new GatewayError('invalid_request', message, { param });
}
