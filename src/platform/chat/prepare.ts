/**
 * What is left to do between a draft of a request and the request that an engine gets: load what is attached,
 * count the prompt where it may not fit, cut the completion limit to the window.
 */
import type { ChatRequest, ContentPart, Thinking } from '../../engines/contract/chat.ts';
import type { Attachment, Attachments } from '../attachments/index.ts';
import type { ChatModel } from '../catalog/index.ts';
import type { Inference, Prepared } from '../inference/types.ts';
import { cutToWindow, surelyFits } from './window.ts';

/** A part that is not there yet: `parts[index]` is put in when its attachment was loaded. */
export interface Slot {
  readonly attachment: Attachment;
  readonly parts: ContentPart[];
  readonly index: number;
}

export const noSlots: readonly Slot[] = [];
/** Stands in a slot until then. */
export const placeholder: ContentPart = { type: 'text', text: '' };

/** A canonical request, and the parts of it that are still to be loaded. */
export interface ChatDraft {
  readonly request: ChatRequest;
  readonly slots: readonly Slot[];
  /** The field that failures of the prompt as a whole name. Default `messages`. */
  readonly promptParam?: string;
  /** How the model shall think when its limit is cut to as many tokens: a budget may no longer fit. */
  thinkingWithin(maxTokens: number): Thinking | undefined;
}

export interface Needed {
  readonly attachments: Pick<Attachments, 'load'>;
  readonly inference: Pick<Inference, 'countTokens'>;
}

/** What a route may want to know of it. */
export interface PreparationFacts {
  /** How many tokens the prompt has, when they were counted. */
  promptTokens?: number;
  /** The completion limit was cut to the window. */
  isCut?: boolean;
}

/**
 * The request itself when there is nothing to load and nothing to count, which is the usual case; else what does
 * so, for when the request has been admitted: a caller over its limits causes no fetch.
 */
export function prepareChat(
  model: ChatModel,
  draft: ChatDraft,
  platform: Needed,
  signal: () => AbortSignal,
  facts: PreparationFacts = {},
): Prepared {
  if (draft.slots.length === 0 && surelyFits(model, draft.request)) return draft.request;
  return () => complete(model, draft, platform, signal(), facts);
}

async function complete(
  model: ChatModel,
  draft: ChatDraft,
  platform: Needed,
  signal: AbortSignal,
  facts: PreparationFacts,
): Promise<ChatRequest> {
  const request = await loadAttached(draft, platform, signal);
  if (surelyFits(model, request)) return request;
  const promptTokens = await platform.inference.countTokens(model, request, signal);
  facts.promptTokens = promptTokens;
  const maxTokens = cutToWindow(model, request.maxTokens, promptTokens, draft.promptParam);
  if (maxTokens === request.maxTokens) return request;
  facts.isCut = true;
  const { thinking: _, ...rest } = request;
  const thinking = draft.thinkingWithin(maxTokens);
  return { ...rest, maxTokens, ...(thinking === undefined ? {} : { thinking }) };
}

/** Puts what is attached into its places. */
export async function loadAttached(
  { request, slots }: ChatDraft,
  { attachments }: Pick<Needed, 'attachments'>,
  signal: AbortSignal,
): Promise<ChatRequest> {
  if (slots.length === 0) return request;
  const loaded = await attachments.load(
    slots.map((slot) => slot.attachment),
    signal,
  );
  for (const [at, { parts, index }] of slots.entries()) parts[index] = loaded[at]!;
  return request;
}
