/**
 * How many tokens a prompt has. Engines that have a tokenizer route are asked; for the others, and when the
 * question fails, the count is estimated: an engine that is really down says so when it is called.
 */
import type { ChatMessage, ChatRequest, MediaKind } from '../contract/chat.ts';
import { toPrompt } from './body.ts';
import type { Fields, Flavor } from './flavor.ts';
import type { Questions } from './questions.ts';

export interface TokenParts {
  flavor: Flavor;
  /** With the patience that counting is worth. */
  questions: Questions;
}

/** A count is asked for beside the work itself, so it may not take as long. */
export const tokenPatienceMs = 10_000;

export async function countTokens(
  parts: TokenParts,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted();
  if (parts.flavor.tokenizer === undefined) return estimateTokens(request);
  try {
    const asked = parts.flavor.tokenizer === 'messages' ? askByMessages : askByTemplate;
    return (await asked(parts, request, signal)) ?? estimateTokens(request);
  } catch {
    signal.throwIfAborted();
    return estimateTokens(request);
  }
}

/** vLLM, and SGLang since 0.5.12: `POST /tokenize` takes what decides a chat's prompt. */
async function askByMessages(parts: TokenParts, request: ChatRequest, signal: AbortSignal) {
  const { model, messages, tools, continue_final_message, add_generation_prompt, chat_template_kwargs } =
    toPrompt(withoutMedia(request), parts.flavor);
  const body = {
    model,
    messages,
    tools,
    continue_final_message,
    add_generation_prompt,
    chat_template_kwargs,
  };
  const { count } = await ask(parts, '/tokenize', body, signal);
  return typeof count === 'number' ? count + mediaTokens(request) : undefined;
}

/** llama.cpp: the prompt's text from `POST /apply-template`, then its tokens from `POST /tokenize`. */
async function askByTemplate(parts: TokenParts, request: ChatRequest, signal: AbortSignal) {
  const body = toPrompt(withoutMedia(request), parts.flavor);
  const { prompt: content } = await ask(parts, '/apply-template', body, signal);
  if (typeof content !== 'string') return undefined;
  const question = { model: request.model, content, add_special: true };
  const { tokens } = await ask(parts, '/tokenize', question, signal);
  return Array.isArray(tokens) ? tokens.length + mediaTokens(request) : undefined;
}

function ask({ questions }: TokenParts, path: string, body: Fields, signal: AbortSignal): Promise<Fields> {
  return questions.post({ at: 'root', path }, body, ({ json }) => json as Fields, signal);
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
