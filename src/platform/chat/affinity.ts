/**
 * A short name for a conversation, the same on every turn: its beginning, which stays while it grows. Engines
 * keep the beginnings they have read, so the same name goes to the same engine. Pure.
 */
import type { ChatMessage, Tool } from '../../engines/contract/chat.ts';

/** Of each text, at either end: telling conversations apart needs no more, and a long prompt costs no more. */
const sampleLength = 512;

export function toAffinity(messages: readonly ChatMessage[], tools: readonly Tool[] | undefined): string {
  let hash = 0x811c9dc5;
  for (const { role, content } of messages) {
    // Instructions, then what the user said first: nothing before that point changes between turns.
    if (role === 'assistant' || role === 'tool') continue;
    if (typeof content === 'string') hash = mix(hash, content);
    else for (const part of content) hash = mix(hash, part.type === 'text' ? part.text : part.base64);
    if (role === 'user') break;
  }
  if (tools !== undefined) for (const tool of tools) hash = mix(hash, tool.name);
  return hash.toString(36);
}

/** FNV-1a over 16-bit units: 1 ns a character, where a digest of the whole text would take 0.7 µs and more. */
function mix(start: number, text: string): number {
  let hash = Math.imul(start ^ text.length, 0x01000193);
  const head = Math.min(text.length, sampleLength);
  for (let at = 0; at < head; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  for (let at = Math.max(head, text.length - sampleLength); at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
