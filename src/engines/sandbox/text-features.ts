/**
 * What the sandbox sees of a text: its words, and the triples of letters in them, as numbers. Texts that share
 * words share features, and forms of one word share some.
 */
import { toTokens } from './chat-tokens.ts';

/** Calls back for every feature, with its weight. Answers how many tokens were read: at most `maxTokens`. */
export function readFeatures(
  input: string | readonly number[],
  maxTokens: number,
  take: (feature: number, weight: number) => void,
): number {
  if (typeof input !== 'string') {
    const count = Math.min(input.length, maxTokens);
    for (let i = 0; i < count; i++) take(mix(input[i]! + tokenSeed), 1);
    return count;
  }
  let count = 0;
  for (const token of toTokens(input)) {
    if (count === maxTokens) break;
    count += 1;
    const word = token.trim().toLowerCase();
    if (word === '') continue;
    take(hashText(word, 0, word.length), wordWeight(word));
    for (let at = 0; at + 3 <= word.length && word.length > 3; at++)
      take(hashText(word, at, at + 3), tripleWeight);
  }
  return count;
}

const tokenSeed = 0x51ed270b;
const tripleWeight = 0.2;

/** Signs say nothing, and short words little. */
export function wordWeight(word: string): number {
  if (!/[\p{L}\p{N}]/u.test(word)) return 0.05;
  return Math.min(word.length, 6) / 6;
}

/** FNV-1a over UTF-16 units, then mixed: neighbouring words must not be neighbours. */
function hashText(text: string, from: number, to: number): number {
  let hash = 0x811c9dc5 ^ (to - from);
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix(hash);
}

/** The end of MurmurHash3. */
export function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
