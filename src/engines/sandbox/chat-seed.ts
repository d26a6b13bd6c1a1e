/** What a chat answer depends on: the prompt and how it is sampled, not how much of it is asked for. */
import type { ChatMessage, ChatRequest } from '../contract/chat.ts';
import { toSeed } from './seed.ts';

/**
 * The seed of one answer. A shorter limit, a stop sequence or a stream cut the same answer, and a continuation
 * goes on with the answer that the conversation before it has. Temperature 0 decodes greedily: neither the
 * sampling fields nor the request's seed matter, and all of `n` answers are one. Without a seed the answer is
 * still the same for the same request: the sandbox is for trying things and for tests.
 */
export function toChatSeed(request: ChatRequest, choice: number): bigint {
  const { model, temperature, topP, topK, frequencyPenalty, presencePenalty, repetitionPenalty } = request;
  const prompt = { model, messages: toDigestible(promptMessages(request)) };
  if (temperature === 0) return toSeed(prompt);
  const sampling = { temperature, topP, topK, frequencyPenalty, presencePenalty, repetitionPenalty };
  return toSeed({ ...prompt, ...sampling, seed: request.seed, choice });
}

/** The conversation up to the answer: a final assistant message that is continued is part of the answer. */
export function promptMessages({ messages, continueFinal }: ChatRequest): readonly ChatMessage[] {
  return continueFinal ? messages.slice(0, -1) : messages;
}

const sampleLength = 1024;

/** Media by its size and three samples: hashing 20 MB of base64 would hold up the event loop. */
export function toDigestible(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toDigestible);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      if (key !== 'base64' || typeof field !== 'string') return [key, toDigestible(field)];
      const middle = Math.floor(field.length / 2);
      const samples = [
        field.slice(0, sampleLength),
        field.slice(middle, middle + sampleLength),
        field.slice(-sampleLength),
      ];
      return [key, { length: field.length, samples }];
    }),
  );
}
