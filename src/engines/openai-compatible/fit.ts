/**
 * Longer texts than a model reads are cut, not refused. Most engines cut by themselves; where one refuses a text
 * for its length, it is cut here and sent again. A text is measured in UTF-8 bytes, since a token is at least one
 * of them: the last attempt fits whatever the tokenizer, the ones before it keep as much as they can.
 */
import { GatewayError } from '../../lib/errors.ts';
import { EngineRefusal } from './failures.ts';

/**
 * Bytes for each token that a model reads, from one attempt to the next. No text has 64 to a token: what is beyond
 * is never sent. English has a little more than four, most languages between two and four.
 */
const attempts = [64, 4, 3, 2, 1] as const;

/** What a model puts around a text: special tokens, and one that SGLang keeps free. */
const spareTokens = 8;

/**
 * Asks with what `cut` leaves of the texts, and with less as long as the engine says that it is too long. `cut`
 * gets the bytes that a text may have, and answers undefined when that leaves everything as it was.
 */
export async function askFitting<Q, T>(
  maxTokens: number,
  cut: (maxBytes: number) => Q | undefined,
  ask: (question: Q) => Promise<T>,
): Promise<T> {
  let refusal: unknown;
  for (const bytesPerToken of attempts) {
    const isFirst = refusal === undefined;
    const tokens = isFirst ? maxTokens : Math.max(1, maxTokens - spareTokens);
    const question = cut(tokens * bytesPerToken);
    if (question === undefined) continue;
    try {
      return await ask(question);
    } catch (error) {
      if (!isTooLong(error)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

/** vLLM, SGLang, llama.cpp (both of its messages), TEI and OpenAI, in this order. */
const tooLong =
  /maximum context length|longer than the model|too large to process|context size|less than \d+ tokens|too long|too many tokens|reduce (?:your|the) (?:prompt|input|length)|exceeds? .{0,40}(?:length|tokens)/i;

function isTooLong(error: unknown): boolean {
  if (!(error instanceof GatewayError) || !(error.cause instanceof EngineRefusal)) return false;
  return error.kind !== 'overloaded' && tooLong.test(error.cause.message);
}

/** The beginning of a text, up to so many UTF-8 bytes, without a broken character at its end. */
export function cutText(text: string, maxBytes: number): string {
  // A UTF-16 unit is at most three bytes.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
