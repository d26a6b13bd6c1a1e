/**
 * The sandbox's tokens. One definition serves the window, `maxTokens`, the pace and the bill, so that they
 * always agree: the pieces of a text are its tokens, and a part of a stream is exactly one of them.
 */
import { setImmediate } from 'node:timers/promises';
import type { ChatMessage, ChatRequest, ContentPart } from '../contract/chat.ts';

/**
 * A word or a number with the space before it, a sign, or a whitespace: up to twelve letters or three digits.
 * Every token has at least one character, so the UTF-8 bytes of a text are an upper bound of its tokens.
 */
const token = / ?[\p{L}\p{M}_]{1,12}| ?\p{N}{1,3}| ?[^\s\p{L}\p{M}\p{N}_]|\s/gu;

/** What a chat template puts around a message (its role and its end), and before the answer. */
const perMessage = 4;
const perAnswer = 3;
const bytesPerMediaToken = 1024;
/** About 2 ms. */
const tokensPerBreath = 10_000;

/** Lazily: a long text is cut into tokens as they are delivered. */
export function* toTokens(text: string): Generator<string, void> {
  for (const match of text.matchAll(token)) yield match[0];
}

export function countTextTokens(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(token)) count += 1;
  return count;
}

/** What comes before the messages: the declared tools and the schema of the answer. */
export function countPreambleTokens(request: ChatRequest): number {
  return countPieces(preamblePieces(request));
}

export function countMessageTokens(message: ChatMessage): number {
  return countPieces(messagePieces(message));
}

/** A prompt of many megabytes takes a second: others get their turn in between. */
export async function countPromptTokens(request: ChatRequest, signal: AbortSignal): Promise<number> {
  let count = 0;
  let nextBreath = tokensPerBreath;
  for (const piece of promptPieces(request)) {
    if (typeof piece === 'number') {
      count += piece;
      continue;
    }
    for (const _ of piece.matchAll(token)) {
      count += 1;
      if (count < nextBreath) continue;
      nextBreath = count + tokensPerBreath;
      await setImmediate();
      signal.throwIfAborted();
    }
  }
  return count;
}

function countPieces(pieces: Iterable<string | number>): number {
  let count = 0;
  for (const piece of pieces) count += typeof piece === 'number' ? piece : countTextTokens(piece);
  return count;
}

/** A prompt as its texts, and as the numbers of tokens of what is no text. */
function* promptPieces(request: ChatRequest): Generator<string | number, void> {
  yield* preamblePieces(request);
  for (const message of request.messages) yield* messagePieces(message);
}

function* preamblePieces({ tools = [], responseFormat }: ChatRequest): Generator<string | number, void> {
  yield perAnswer;
  if (tools.length > 0) yield JSON.stringify(tools);
  if (responseFormat !== undefined) yield JSON.stringify(responseFormat);
}

function* messagePieces(message: ChatMessage): Generator<string | number, void> {
  const { content } = message;
  yield perMessage;
  if (typeof content === 'string') yield content;
  else for (const part of content ?? []) yield partPiece(part);
  if (message.role !== 'assistant') return;
  for (const call of message.toolCalls ?? []) {
    yield 1;
    yield call.arguments;
  }
}

/** Media costs a token per started kilobyte. */
function partPiece(part: ContentPart): string | number {
  return part.type === 'text' ? part.text : Math.ceil(mediaBytes(part.base64) / bytesPerMediaToken);
}

export function mediaBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}
