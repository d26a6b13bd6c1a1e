/** The sandbox's rerank port: a document answers a query by the share of the query's words that it has. */
import type { RerankPort } from '../contract/rerank.ts';
import { createBreath } from './breath.ts';
import { toTokens } from './chat-tokens.ts';
import { systemTimers, type Timers } from './script.ts';
import { createScripts } from './scripts.ts';
import { toSeed } from './seed.ts';
import { wordWeight } from './text-features.ts';

export function createSandboxRerank(timers: Timers = systemTimers): RerankPort {
  const scriptOf = createScripts(timers);
  return {
    async rerank(request, signal) {
      const { model, query, documents, maxTokens } = request;
      const pace = await scriptOf(request).begin(toSeed([model, query, documents.length]), signal);
      const breathe = createBreath(signal);
      const asked = readWords(query, Math.ceil(maxTokens / 2));
      const scores: number[] = [];
      let promptTokens = 0;
      for (const [index, document] of documents.entries()) {
        await pace.token(index);
        const read = readWords(document, maxTokens - asked.tokens);
        scores.push(toScore(asked.words, read.words));
        promptTokens += asked.tokens + read.tokens;
        await breathe();
      }
      return { scores, promptTokens };
    },
  };
}

function readWords(text: string, maxTokens: number): { words: Set<string>; tokens: number } {
  const words = new Set<string>();
  let tokens = 0;
  for (const token of toTokens(text)) {
    if (tokens >= maxTokens) break;
    tokens += 1;
    const word = token.trim().toLowerCase();
    if (word !== '') words.add(word);
  }
  return { words, tokens };
}

/** Of two documents with the same words of the query, the one that says less besides is the better answer. */
function toScore(asked: ReadonlySet<string>, read: ReadonlySet<string>): number {
  let all = 0;
  let found = 0;
  for (const word of asked) {
    const weight = wordWeight(word);
    all += weight;
    if (read.has(word)) found += weight;
  }
  if (found === 0) return 0;
  const brevity = asked.size / Math.max(asked.size, read.size);
  return (found / all) * (0.9 + 0.1 * brevity);
}
