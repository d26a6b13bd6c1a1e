/**
 * The fast path of the event reader. Engines write the same line for every token, and only the text changes:
 * a line that was parsed once is remembered as what stands before and after its text, and the lines that
 * follow are compared with it. A match costs 0.5 µs, parsing 2.3 µs and more.
 */
import { flat, fromBytes } from '../contract/json-bytes.ts';
import { stringEnd } from './json-text.ts';
import type { StreamedCall } from './tool-calls.ts';

export type TemplateKind = 'text' | 'reasoning' | 'arguments';

export class Template {
  readonly kind: TemplateKind;
  readonly choice: number;
  /** The call whose arguments the line holds. */
  readonly call: StreamedCall | undefined;
  /** From the line's first byte to the quote that opens the text. */
  readonly prefix: string;
  /** From the quote that closes the text to the end of the blank line. */
  readonly suffix: string;

  constructor(kind: TemplateKind, choice: number, call: StreamedCall | undefined, around: Around) {
    this.kind = kind;
    this.choice = choice;
    this.call = call;
    this.prefix = around.prefix;
    this.suffix = around.suffix;
  }

  /**
   * Where the text of the event that starts at `at` ends; -1 when the event is another one, or not all here.
   * A slice is compared by memcmp, `startsWith` by a loop: 264 ns against 440.
   */
  match(bytes: string, at: number, end: number): number {
    const from = at + this.prefix.length;
    if (bytes.slice(at, from) !== this.prefix) return -1;
    const to = stringEnd(bytes, from, end);
    if (to < 0 || bytes.slice(to, to + this.suffix.length) !== this.suffix) return -1;
    return to;
  }
}

interface Around {
  prefix: string;
  suffix: string;
}

/** How an event of one data line was written. */
export interface EventLine {
  /** `data: `, or `data:` from engines that leave out the space. */
  lead: string;
  data: string;
  lineEnd: string;
}

const keyPatterns = {
  content: /(?<!\\)"content"\s*:\s*"/g,
  reasoning: /(?<!\\)"reasoning"\s*:\s*"/g,
  reasoning_content: /(?<!\\)"reasoning_content"\s*:\s*"/g,
  arguments: /(?<!\\)"arguments"\s*:\s*"/g,
} as const;

export type TemplateKey = keyof typeof keyPatterns;

/**
 * What stands around the only value of this key, or undefined when its place is not certain. A key cannot be
 * imitated by a text: quotes inside of a JSON string are escaped.
 */
export function findAround(line: EventLine, key: TemplateKey, value: string): Around | undefined {
  const { lead, data, lineEnd } = line;
  const [first, second] = data.matchAll(keyPatterns[key]);
  if (first === undefined || second !== undefined) return undefined;
  const from = first.index + first[0].length;
  const to = stringEnd(data, from, data.length);
  if (to < 0 || JSON.parse(`"${fromBytes(data.slice(from, to))}"`) !== value) return undefined;
  return {
    prefix: flat(lead + data.slice(0, from)),
    suffix: flat(data.slice(to) + lineEnd + lineEnd),
  };
}
