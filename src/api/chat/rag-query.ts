/** What to search a collection for: the last question of a conversation, in words that stand on their own. Pure. */
import type { ChatMessage } from '../../engines/contract/chat.ts';

/** Embedding models read a few hundred tokens: of a long turn its beginning and its end, where questions stand. */
const maxLength = 2_000;
/** "And in winter?": such a question is about what was asked before. */
const shortWords = 6;
/** How much of the question before is worth its place beside the question itself. */
const maxEarlierLength = 500;

const refersBack =
  /\b(?:it|its|they|them|their|this|that|these|those|he|she|him|his|her|one|ones|there|former|latter|same|above|previous|instead|else)\b/i;

/** Empty when nobody has said anything that could be searched for. */
export function toQuery(messages: readonly ChatMessage[]): string {
  const turns = messages.filter(({ role }) => role === 'user').map(textOf);
  const asked = turns.findLastIndex((text) => text !== '');
  if (asked === -1) return cut(textOf(messages.findLast((message) => textOf(message) !== '')), maxLength);
  // Only what is searched for is looked at: a turn may have megabytes.
  const question = cut(turns[asked] ?? '', maxLength);
  const earlier = turns.slice(0, asked).findLast((text) => text !== '');
  if (earlier === undefined || !needsContext(question)) return question;
  return `${cut(earlier, maxEarlierLength)}\n${question}`;
}

function needsContext(question: string): boolean {
  return question.split(/\s+/).length <= shortWords || refersBack.test(question);
}

/** As a database can take it: without U+0000 and without halves of surrogate pairs. */
function textOf(message: ChatMessage | undefined): string {
  const content = message?.content ?? '';
  const text =
    typeof content === 'string'
      ? content
      : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return text.replaceAll('\0', ' ').toWellFormed().trim();
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = length / 2;
  return `${text.slice(0, half)}\n${text.slice(-half)}`.toWellFormed();
}
