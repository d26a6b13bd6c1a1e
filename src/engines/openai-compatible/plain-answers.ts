/**
 * The fast path of whole answers. An engine writes the same JSON around every answer, and only its text and a few
 * numbers change: an answer that was parsed once is remembered as a pattern, and those that follow are held against
 * it. Their text is handed on as it stands in the engine's JSON, neither unescaped nor escaped again.
 */
import type { ChatChoice, ChatResult, Finish } from '../contract/chat.ts';
import { type Asked, toUsage } from './wire.ts';

/** As many shapes as an engine's answers are held against: each model has its own, and each way to end an answer. */
const mostPatterns = 8;
/** So often may learning come to nothing in the life of an engine, as with one that writes a word of its own into each. */
const mostUnproven = 64;
/** A longer answer is parsed: what it costs to hold it against several shapes grows with its length. */
const longestLength = 64 * 1024;

const wholeNumber = '(?:0|[1-9]\\d{0,14})';
const anyNumber = '-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?';
/** What JSON takes between quotes, without and with escapes. */
const unescaped = '[^"\\\\\\u0000-\\u001f]*';
const escaped = `${unescaped}(?:\\\\(?:["\\\\/bfnrt]|u[\\da-fA-F]{4})${unescaped})*`;

/** A field that is a text or a number. No text can imitate one: quotes inside of a JSON string are escaped. */
const field = new RegExp(`(?<!\\\\)"(?<name>\\w+)"\\s*:\\s*(?<value>"${escaped}"|${anyNumber})`, 'g');

/** A place where answers differ. */
interface Hole {
  readonly pattern: string;
  /** Another value for it, like no other. */
  readonly probe: string;
}

/** These are read, each once; another of the same name is a part of the shape. */
const read: Readonly<Record<string, Hole>> = {
  content: { pattern: `"(?<text>${escaped})"`, probe: '"\\u0061 \\"probe\\"\\n"' },
  prompt_tokens: { pattern: `(?<prompt>${wholeNumber})`, probe: '211' },
  completion_tokens: { pattern: `(?<completion>${wholeNumber})`, probe: '307' },
  cached_tokens: { pattern: `(?<cached>${wholeNumber})`, probe: '101' },
  reasoning_tokens: { pattern: `(?<reasoning>${wholeNumber})`, probe: '103' },
};
const name: Hole = { pattern: `"${unescaped}"`, probe: '"probe"' };
const number: Hole = { pattern: anyNumber, probe: '-17.5e3' };

interface Pattern {
  readonly expression: RegExp;
  readonly finish: Finish;
  /** Whether another answer has matched it. */
  isProven: boolean;
}

export class PlainAnswers {
  /** The one that matched last stands first. */
  #patterns: Pattern[] = [];
  #unproven = 0;

  /** Undefined when the answer has to be parsed. */
  read(body: string): ChatResult | undefined {
    if (body.length > longestLength) return undefined;
    for (const pattern of this.#patterns) {
      const found = pattern.expression.exec(body)?.groups;
      if (found === undefined) continue;
      if (pattern !== this.#patterns[0]) this.#putFirst(pattern);
      if (!pattern.isProven) this.#unproven -= 1;
      pattern.isProven = true;
      return toResult(found, pattern.finish);
    }
    return undefined;
  }

  /**
   * Remembers the shape of an answer of text alone that had to be parsed, if it can be relied on: a made-up answer of
   * that shape, with other values wherever answers differ, must read the same by its pattern and by the parser.
   */
  learn(body: string, result: ChatResult, parse: (body: string) => ChatResult): void {
    if (this.#unproven === mostUnproven || body.length > longestLength || !isText(result)) return;
    this.#unproven += 1;
    const { source, probe } = toShape(body);
    const expression = new RegExp(source);
    const found = expression.exec(probe)?.groups;
    const { finish } = result.choices[0]!;
    if (found?.['text'] !== undefined && isReadAlike(toResult(found, finish), () => parse(probe)))
      this.#putLast({ expression, finish, isProven: false });
    // What never came back is not looked at any more.
    if (this.#unproven === mostUnproven) this.#patterns = this.#patterns.filter(({ isProven }) => isProven);
  }

  #putFirst(pattern: Pattern): void {
    this.#patterns = [pattern, ...this.#patterns.filter((other) => other !== pattern)];
  }

  /** Where there is no room, the one goes that has not matched for longest. */
  #putLast(pattern: Pattern): void {
    this.#patterns = [...this.#patterns.slice(0, mostPatterns - 1), pattern];
  }
}

/** One answer, of which nothing but its text, its end and its usage is asked for. */
export function isPlain({ n, stop, topLogprobs, repeats }: Asked): boolean {
  return n === 1 && stop === undefined && topLogprobs === undefined && repeats === undefined;
}

function isText({ choices: [choice] }: ChatResult): boolean {
  return choice !== undefined && choice.reasoning === '' && choice.toolCalls.length === 0;
}

/** The body as a pattern, and with another value in every hole. */
function toShape(body: string): { source: string; probe: string } {
  const seen = new Set<string>();
  let source = '^';
  let probe = '';
  let end = 0;
  for (const { index, 0: found, groups } of body.matchAll(field)) {
    const { name: key, value } = groups as { name: string; value: string };
    const hole = seen.has(key) ? undefined : toHole(key, value);
    if (hole === undefined) continue;
    if (hole === read[key]) seen.add(key);
    const literal = body.slice(end, index + found.length - value.length);
    source += escapeLiteral(literal) + hole.pattern;
    probe += literal + hole.probe;
    end = index + found.length;
  }
  const rest = body.slice(end);
  return { source: `${source}${escapeLiteral(rest)}$`, probe: probe + rest };
}

/** Undefined for a part of the shape: texts other than these say what kind of answer it is, as its model does. */
function toHole(key: string, value: string): Hole | undefined {
  if (Object.hasOwn(read, key)) return read[key];
  if (value.startsWith('"')) return key === 'id' ? name : undefined;
  return key === 'index' ? undefined : number;
}

function escapeLiteral(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** A made-up answer may mean something that no parser takes: a code of 0 that became another is an error. */
function isReadAlike(one: ChatResult, parse: () => ChatResult): boolean {
  try {
    return JSON.stringify(toComparable(one)) === JSON.stringify(toComparable(parse()));
  } catch {
    return false;
  }
}

function toComparable({ choices, usage }: ChatResult): unknown {
  return [
    usage,
    choices.map(({ text, reasoning, toolCalls, logprobs, finish }) => [
      text,
      reasoning,
      toolCalls,
      logprobs,
      finish,
    ]),
  ];
}

function toResult(found: Readonly<Record<string, string>>, finish: Finish): ChatResult {
  const { text = '', prompt, completion, cached, reasoning } = found;
  return {
    choices: [new PlainChoice(text, finish)],
    usage: toUsage({
      prompt_tokens: toNumber(prompt),
      completion_tokens: toNumber(completion),
      prompt_tokens_details: { cached_tokens: toNumber(cached) },
      reasoning_tokens: toNumber(reasoning),
    }),
  };
}

function toNumber(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

const noCalls: readonly never[] = [];

/** Its text is read only by who asks for it. */
class PlainChoice implements ChatChoice {
  readonly textInJson: string;
  readonly reasoning = '';
  readonly toolCalls = noCalls;
  readonly logprobs = undefined;
  readonly finish: Finish;

  constructor(textInJson: string, finish: Finish) {
    this.textInJson = textInJson;
    this.finish = finish;
  }

  get text(): string {
    return JSON.parse(`"${this.textInJson}"`) as string;
  }
}
