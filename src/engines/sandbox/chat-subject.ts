/** What a conversation is about, as far as the sandbox understands it: the last question, its names and numbers. */
import type { ChatRequest, ContentPart, MediaKind } from '../contract/chat.ts';
import { promptMessages } from './chat-seed.ts';
import { mediaBytes } from './chat-tokens.ts';

export interface Media {
  readonly kind: MediaKind;
  readonly mediaType: string;
  readonly bytes: number;
}

export interface Subject {
  /** The last message of the user, media left out. */
  readonly text: string;
  /** Its first sentence without the words of asking: "the capital of France". Never empty. */
  readonly topic: string;
  readonly wordCount: number;
  /** What is quoted or written with a capital, else what follows "in", "for" or "about", else the topic. */
  readonly names: readonly string[];
  readonly numbers: readonly number[];
  readonly media: readonly Media[];
  /** The results of tools that came after the user's message. */
  readonly toolResults: readonly string[];
}

/** More than this is not read closely: it would take longer than it is worth. */
const readLength = 8_000;
const topicWords = 8;
const topicLength = 120;

const asking = new RegExp(
  `^(?:${[
    'please',
    '(?:can|could|would|will) you',
    "(?:what|who|where)(?:'s| is| are| was| were)?",
    '(?:when|why|how)(?: is| are| was| were| do| does| did| can)?(?: i| you| we)?',
    '(?:tell|show|give|write|explain|describe)(?: to)?(?: me)?',
    '(?:list|summari[sz]e|translate|find|make|do you know|i want to know|about)',
  ].join('|')})(?![\\p{L}\\p{N}])[\\s,:]*`,
  'iu',
);

export function readSubject(request: ChatRequest): Subject {
  const messages = promptMessages(request);
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const content = messages[last]?.content ?? '';
  const parts: readonly ContentPart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const text = textOf(parts);
  const topic = toTopic(text);
  return {
    text,
    topic,
    wordCount: countWords(text),
    names: toNames(text, topic),
    numbers: toNumbers(text),
    media: parts.flatMap((part) =>
      part.type === 'text'
        ? []
        : [{ kind: part.type, mediaType: part.mediaType, bytes: mediaBytes(part.base64) }],
    ),
    toolResults: messages
      .slice(last + 1)
      .flatMap((message) => (message.role === 'tool' ? [textOf(message.content)] : [])),
  };
}

function textOf(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content.trim();
  return content
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .trim();
}

function toTopic(text: string): string {
  let topic = /^[^.!?\n]*/.exec(text.slice(0, readLength))?.[0].trim() ?? '';
  for (let round = 0; round < 4; round++) topic = topic.replace(asking, '');
  topic = topic.replace(/[“”"]/g, '').split(/\s+/).slice(0, topicWords).join(' ').slice(0, topicLength);
  topic = topic.replace(/[\s,;:–-]+$/u, '');
  return topic === '' ? 'your message' : topic;
}

function toNames(text: string, topic: string): readonly string[] {
  const read = text.slice(0, readLength);
  const quoted = [...read.matchAll(/["“`]([^"”`\n]{1,60})["”`]/g)].map(([, name = '']) => name.trim());
  // A capital letter first: the look back is only worth it there.
  const capital =
    /(?=\p{Lu})(?<!^|[.!?]\s+|\n)(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}'’-]*(?:\s\p{Lu}[\p{L}\p{M}'’-]*)*/gu;
  const proper = [...read.matchAll(capital)].map(([name]) => name).filter((name) => !/^I\b/.test(name));
  const names = [...new Set([...quoted, ...proper])].filter((name) => name !== '');
  if (names.length > 0) return names;
  const tail = /\b(?:in|for|at|of|about|to|from)\s+([^.!?\n]{1,60})[.!?]*$/iu.exec(read)?.[1]?.trim();
  return [tail ?? topic];
}

function toNumbers(text: string): readonly number[] {
  const found = text
    .slice(0, readLength)
    .matchAll(/(?<![\p{L}\p{N}.])-?\d{1,15}(?:\.\d{1,6})?(?![\p{L}\d])/gu);
  return [...found].map(([number]) => Number(number));
}

export function countWords(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*/gu)) count += 1;
  return count;
}
