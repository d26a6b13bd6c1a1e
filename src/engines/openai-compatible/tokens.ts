/**
 * How many tokens a prompt has. Engines that have a tokenizer route are asked; for the others, and when the
 * question fails, the count is estimated: an engine that is really down says so when it is called.
 */
import type { ChatMessage, ChatRequest, MediaKind } from '../contract/chat.ts';
import type { Address } from './address.ts';
import type { Question, Reply } from './ask.ts';
import { toPrompt } from './body.ts';
import type { Flavor } from './flavors.ts';

export interface TokenParts {
  address: Address;
  flavor: Flavor;
  ask: (question: Question, signal: AbortSignal) => Promise<Reply>;
}

const patienceMs = 10_000;

export async function countTokens(
  parts: TokenParts,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted();
  if (parts.flavor.tokenizer === undefined) return estimateTokens(request);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  try {
    const asked = parts.flavor.tokenizer === 'messages' ? askByMessages : askByTemplate;
    return (await asked(parts, request, patience)) ?? estimateTokens(request);
  } catch {
    signal.throwIfAborted();
    return estimateTokens(request);
  }
}

/** vLLM, and SGLang since 0.5.12: `POST /tokenize` takes what decides a chat's prompt. */
async function askByMessages(
  { address, flavor, ask }: TokenParts,
  request: ChatRequest,
  signal: AbortSignal,
) {
  const { model, messages, tools, continue_final_message, add_generation_prompt, chat_template_kwargs } =
    toPrompt(withoutMedia(request), flavor);
  const body = {
    model,
    messages,
    tools,
    continue_final_message,
    add_generation_prompt,
    chat_template_kwargs,
  };
  const answer = await readJson(ask, { path: `${address.root}/tokenize`, body }, signal);
  return typeof answer?.['count'] === 'number' ? answer['count'] + mediaTokens(request) : undefined;
}

/** llama.cpp: the prompt's text from `POST /apply-template`, then its tokens from `POST /tokenize`. */
async function askByTemplate(
  { address, flavor, ask }: TokenParts,
  request: ChatRequest,
  signal: AbortSignal,
) {
  const body = toPrompt(withoutMedia(request), flavor);
  const applied = await readJson(ask, { path: `${address.root}/apply-template`, body }, signal);
  const content = applied?.['prompt'];
  if (typeof content !== 'string') return undefined;
  const question = { model: request.model, content, add_special: true };
  const answer = await readJson(ask, { path: `${address.root}/tokenize`, body: question }, signal);
  const tokens = answer?.['tokens'];
  return Array.isArray(tokens) ? tokens.length + mediaTokens(request) : undefined;
}

async function readJson(
  ask: TokenParts['ask'],
  question: Question,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const { status, text } = await ask(question, signal);
  if (status !== 200) return undefined;
  const answer: unknown = JSON.parse(text);
  return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : undefined;
}

/** Tokenizer routes count a placeholder or refuse: media are not sent twice, but estimated. */
function withoutMedia(request: ChatRequest): ChatRequest {
  return { ...request, messages: request.messages.map(withoutMediaParts) };
}

function withoutMediaParts(message: ChatMessage): ChatMessage {
  if ((message.role !== 'user' && message.role !== 'tool') || typeof message.content === 'string') {
    return message;
  }
  const texts = message.content.filter(({ type }) => type === 'text');
  return { ...message, content: texts.length === 0 ? '' : texts };
}

/** Rough, on the high side: a picture of a megapixel, a minute of sound, ten seconds of film. */
const tokensPerPart: Readonly<Record<MediaKind, number>> = { image: 1_500, audio: 1_500, video: 8_000 };

function mediaTokens({ messages }: ChatRequest): number {
  let tokens = 0;
  for (const { content } of messages) {
    if (typeof content !== 'object' || content === null) continue;
    for (const part of content) if (part.type !== 'text') tokens += tokensPerPart[part.type];
  }
  return tokens;
}

const bytesPerToken = 3;
/** Role names and separators that a template puts around each message. */
const tokensPerMessage = 8;

export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** One token for every three UTF-8 bytes, rounded up: English has four to a token, Chinese about three. */
export function estimateTokens(request: ChatRequest): number {
  let bytes = (request.tools ?? []).length === 0 ? 0 : Buffer.byteLength(JSON.stringify(request.tools));
  for (const message of request.messages) {
    const { content } = message;
    if (typeof content === 'string') bytes += Buffer.byteLength(content);
    else for (const part of content ?? []) if (part.type === 'text') bytes += Buffer.byteLength(part.text);
    if (message.role === 'assistant' && message.toolCalls !== undefined) {
      bytes += Buffer.byteLength(JSON.stringify(message.toolCalls));
    }
  }
  const around = request.messages.length * tokensPerMessage;
  return Math.ceil(bytes / bytesPerToken) + around + mediaTokens(request);
}
