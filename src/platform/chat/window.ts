/**
 * Fits a completion limit into the model's context window. Pure: who asks counts the prompt's tokens. Counting
 * costs a call to the engine, so it is left out when an upper bound already fits.
 */
import type { ChatMessage, ChatRequest, MediaKind } from '../../engines/contract/chat.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { ChatModel } from '../catalog/index.ts';

/** What a completion limit is when a request gives none. */
export const defaultMaxTokens = 32_768;
/** "cut to the window minus the prompt minus a 32-token margin" */
export const marginTokens = 32;

/** A chat template's own words: a default system prompt, the way to call tools, the start of the answer. */
const templateTokens = 256;
/** The markers around a message, its role and name. */
const messageTokens = 16;
/** Some templates write tool declarations with indentation. */
const toolExpansion = 2;
const toolsTokens = 512;
/** The most that engines make of one part at their usual settings. */
const mediaTokens: Readonly<Record<MediaKind, number>> = { image: 16_384, audio: 16_384, video: 65_536 };

/** What the request asks for, as far as the model can answer at all. */
export function wantedMaxTokens(model: ChatModel, asked: number | undefined): number {
  const wanted = asked ?? defaultMaxTokens;
  const most = model.maxCompletionTokens;
  return most !== undefined && most < wanted ? most : wanted;
}

/** Whether the limit fits for certain, without counting. */
export function surelyFits(model: ChatModel, request: ChatRequest): boolean {
  const room = model.contextLength - marginTokens - request.maxTokens;
  return room > 0 && promptBound(request) <= room;
}

/** The limit that is left in the window. Throws when the prompt alone fills it; `param` is where it came from. */
export function cutToWindow(
  model: ChatModel,
  wanted: number,
  promptTokens: number,
  param = 'messages',
): number {
  const room = model.contextLength - promptTokens - marginTokens;
  if (room >= 1) return Math.min(wanted, room);
  const verb = param === 'messages' ? 'fill' : 'fills';
  const message = `${param} ${verb} the context window: ${promptTokens} tokens of ${model.contextLength}`;
  throw new GatewayError('invalid_request', message, { param });
}

/** At least as many tokens as the prompt has: no token is shorter than a byte. */
export function promptBound({ messages, tools, responseFormat }: ChatRequest): number {
  let bound = templateTokens;
  for (const message of messages) bound += messageTokens + messageBound(message);
  if (tools !== undefined) bound += toolsTokens + toolExpansion * Buffer.byteLength(JSON.stringify(tools));
  if (responseFormat !== undefined)
    bound += toolExpansion * Buffer.byteLength(JSON.stringify(responseFormat));
  return bound;
}

function messageBound(message: ChatMessage): number {
  const { content } = message;
  let bound = 0;
  if (typeof content === 'string') bound = Buffer.byteLength(content);
  else if (content !== null) {
    for (const part of content)
      bound += part.type === 'text' ? Buffer.byteLength(part.text) : mediaTokens[part.type];
  }
  if ('name' in message && message.name !== undefined) bound += Buffer.byteLength(message.name);
  if (message.role !== 'assistant') return bound;
  const { reasoning = '', toolCalls = [] } = message;
  bound += Buffer.byteLength(reasoning);
  for (const call of toolCalls)
    bound += messageTokens + Buffer.byteLength(call.name) + Buffer.byteLength(call.arguments);
  return bound;
}
