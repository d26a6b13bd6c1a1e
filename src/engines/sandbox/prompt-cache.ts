/**
 * What the sandbox pretends to have cached: the beginning of a conversation's last prompt, message by message,
 * in whole blocks of tokens as real engines cache them. Bounded, and in memory only.
 */
import type { ChatRequest } from '../contract/chat.ts';
import { toDigestible } from './chat-seed.ts';
import { countMessageTokens, countPreambleTokens } from './chat-tokens.ts';
import { toSeed } from './seed.ts';

export interface PromptCount {
  readonly promptTokens: number;
  readonly cachedTokens: number;
}

export interface PromptCache {
  /** Counts a prompt, what of it was seen before, and remembers it. */
  count(request: ChatRequest): PromptCount;
}

/** A short prompt is never found: its numbers stay the same however often it is sent. */
const blockTokens = 64;
const defaultCapacity = 256;

interface Prompt {
  readonly preamble: bigint;
  readonly messages: readonly bigint[];
}

export function createPromptCache(capacity = defaultCapacity): PromptCache {
  const prompts = new Map<string, Prompt>();

  function remember(key: string, prompt: Prompt): void {
    // A map keeps the order of insertion: the first entry is the one that was used longest ago.
    prompts.delete(key);
    prompts.set(key, prompt);
    const [oldest] = prompts.keys();
    if (prompts.size > capacity && oldest !== undefined) prompts.delete(oldest);
  }

  return {
    count(request) {
      const { model, affinity, messages, tools, responseFormat } = request;
      const key = `${model}\n${affinity}`;
      const before = prompts.get(key);
      const prompt = {
        preamble: toSeed({ tools, responseFormat }),
        messages: messages.map((message) => toSeed(toDigestible(message))),
      };
      let isSame = before?.preamble === prompt.preamble;
      let promptTokens = countPreambleTokens(request);
      let seenTokens = isSame ? promptTokens : 0;
      for (const [index, message] of messages.entries()) {
        const tokens = countMessageTokens(message);
        promptTokens += tokens;
        isSame &&= before?.messages[index] === prompt.messages[index];
        if (isSame) seenTokens += tokens;
      }
      remember(key, prompt);
      // The last token is always read again: an engine needs it to begin the answer.
      const cached = Math.floor(Math.min(seenTokens, promptTokens - 1) / blockTokens) * blockTokens;
      return { promptTokens, cachedTokens: cached };
    },
  };
}
