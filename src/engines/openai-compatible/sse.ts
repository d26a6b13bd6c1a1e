/**
 * Reads an engine's chat event stream, cut anywhere, and pushes canonical parts into a sink. Ordinary tokens
 * take the learned path of `template.ts`; every other event (roles, calls, log probabilities, finish, usage,
 * errors, a new shape) is parsed. The sink hears exactly one `end` or `fail`.
 */

import type { GatewayError } from '../../lib/errors.ts';
import { type ChatSink, noUsage, type Usage } from '../contract/chat.ts';
import { fromBytes, type JsonBytes, toJsonBytes } from '../contract/json-bytes.ts';
import { failures, toAnswerFailure } from './failures.ts';
import { type EventLine, findAround, Template, type TemplateKey, type TemplateKind } from './template.ts';
import { type StreamedCall, StreamedToolCalls } from './tool-calls.ts';
import {
  type Asked,
  addUsage,
  brokenFinishes,
  reasoningOf,
  textOf,
  toFinish,
  toLogprobs,
  toUsage,
  type WireAnswer,
  type WireChoice,
} from './wire.ts';

/** What one event may hold: an engine that never ends a line must not fill the memory. */
const longestEvent = 16 * 1024 * 1024;
/** As many shapes as are compared with; more only with several answers, each of which has its own. */
const mostTemplates = 16;
/** A shape that never comes back (a time in every line) is not worth learning for ever. */
const mostMisses = 64;

const byteOrderMark = '\u00ef\u00bb\u00bf';
const lineBreak = /[\r\n]/;

interface ChoiceState {
  isFinished: boolean;
  calls: StreamedToolCalls | undefined;
}

export class ChatEventReader {
  /** How many events were parsed as JSON: ordinary tokens should not be among them. */
  parses = 0;
  /** How many events came, comments not counted: a sign of life. */
  events = 0;
  /** Whether anything of the answer was handed on. */
  hasStarted = false;
  /** Whether the sink has heard its `end` or `fail`, or shall hear nothing more. */
  isOver = false;
  /** Whether it was `end`. */
  isWell = false;

  readonly #sink: ChatSink;
  readonly #asked: Asked;
  readonly #choices: ChoiceState[] = [];
  #finished = 0;
  /** The last one that came: told once, before the end, because engines may count along with every chunk. */
  #usage: Usage | undefined;

  /** The unfinished line of the last reads, in pieces: joining a 10 MB line at every read would be quadratic. */
  #pending: string[] = [];
  #pendingLength = 0;
  /** The data of the event being read. */
  #data: string | undefined;
  #line: EventLine | undefined;
  #isFirstLine = true;
  /** The last read ended with a carriage return, which may be half of a line end. */
  #skipsLineFeed = false;

  #templates: Template[] = [];
  #last: Template | undefined;
  #misses = 0;

  constructor(sink: ChatSink, asked: Asked) {
    this.#sink = sink;
    this.#asked = asked;
  }

  /** Bytes of the stream. The caller flushes the sink when the socket has no more of them. */
  push(buffer: Buffer, from = 0, to = buffer.length): void {
    const bytes = this.#join(buffer.toString('latin1', from, to));
    if (bytes === undefined) return;
    const end = bytes.length;
    let at = 0;
    let lineFeed = -1;
    if (this.#skipsLineFeed && end > 0) {
      this.#skipsLineFeed = false;
      if (bytes.charCodeAt(0) === 10) at = 1;
    }
    while (at < end && !this.isOver) {
      const next = this.#last === undefined || this.#data !== undefined ? -1 : this.#matched(bytes, at, end);
      if (next >= 0) {
        at = next;
        continue;
      }
      // Line ends are LF, CRLF or CR alone.
      if (lineFeed < at) lineFeed = bytes.indexOf('\n', at);
      if (lineFeed < 0) lineFeed = end;
      const inLine = bytes.slice(at, lineFeed).indexOf('\r');
      const stop = inLine < 0 ? lineFeed : at + inLine;
      if (stop === end) break;
      const isPair = stop < lineFeed && stop + 1 === lineFeed && lineFeed < end;
      if (stop < lineFeed && stop + 1 === end) this.#skipsLineFeed = true;
      this.#takeLine(bytes.slice(at, stop), isPair ? '\r\n' : bytes.charAt(stop));
      at = stop + (isPair ? 2 : 1);
    }
    if (at < end && !this.isOver) this.#keep(at === 0 ? bytes : bytes.slice(at));
  }

  /** The engine closed the stream, or the connection broke for this reason. */
  end(reason?: GatewayError): void {
    if (this.isOver) return;
    // The last event of a stream that was closed in order may lack its blank line.
    if (reason === undefined && this.#pendingLength > 0) this.push(Buffer.from('\n\n'));
    else if (reason === undefined && this.#data !== undefined) this.push(Buffer.from('\n'));
    if (this.isOver) return;
    if (this.#finished === this.#asked.n) this.#complete();
    else this.fail(reason ?? failures.unfinished());
  }

  fail(error: GatewayError): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#sink.fail(error);
  }

  /** Nothing more is pushed, not even an end. */
  close(): void {
    this.isOver = true;
  }

  #complete(): void {
    this.isOver = true;
    this.isWell = true;
    if (this.#usage !== undefined && this.#usage !== noUsage) this.#sink.usage(this.#usage);
    this.#sink.end();
  }

  /** This read together with what was left of the ones before; undefined while no line has ended. */
  #join(bytes: string): string | undefined {
    if (this.isOver) return undefined;
    if (this.#pendingLength === 0) return bytes;
    if (!lineBreak.test(bytes)) {
      this.#keep(bytes);
      return undefined;
    }
    this.#pending.push(bytes);
    // `join` makes a flat string, `+` a rope that is slow to search.
    const joined = this.#pending.join('');
    this.#pending = [];
    this.#pendingLength = 0;
    return joined;
  }

  #keep(bytes: string): void {
    this.#pending.push(bytes);
    this.#pendingLength += bytes.length;
    if (this.#pendingLength + (this.#data?.length ?? 0) > longestEvent) this.fail(failures.tooLong());
  }

  /** Takes one event by a learned shape. The place after it, or -1. */
  #matched(bytes: string, at: number, end: number): number {
    let template = this.#last!;
    let to = template.match(bytes, at, end);
    for (let i = 0; to < 0 && i < this.#templates.length; i++) {
      const other = this.#templates[i]!;
      if (other === this.#last) continue;
      to = other.match(bytes, at, end);
      if (to >= 0) template = other;
    }
    if (to < 0) return -1;
    this.#last = template;
    this.#misses = 0;
    this.events += 1;
    const from = at + template.prefix.length;
    if (to > from) this.#deliver(template, bytes.slice(from, to) as JsonBytes);
    return to + template.suffix.length;
  }

  #deliver({ kind, choice, call }: Template, piece: JsonBytes): void {
    this.hasStarted = true;
    if (kind === 'text') this.#sink.text(choice, piece);
    else if (kind === 'reasoning') this.#sink.reasoning(choice, piece);
    else this.#sink.tool(choice, call!.index, undefined, undefined, piece);
  }

  #takeLine(raw: string, lineEnd: string): void {
    const line = this.#isFirstLine && raw.startsWith(byteOrderMark) ? raw.slice(3) : raw;
    this.#isFirstLine = false;
    if (line === '') {
      const data = this.#data;
      this.#data = undefined;
      if (data !== undefined) this.#takeEvent(data);
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field !== 'data' && field !== 'error') return;
    const from = colon < 0 ? line.length : line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1;
    const value = line.slice(from);
    // llama.cpp told errors in a field of that name in 2025 (b6500).
    if (field === 'error') this.#takeEvent(`{"error":${value}}`);
    else if (this.#data === undefined) {
      this.#data = value;
      // A carriage return alone may be half of a line end: such streams are always parsed.
      this.#line = lineEnd === '\r' ? undefined : { lead: line.slice(0, from), data: value, lineEnd };
    } else {
      this.#data += `\n${value}`;
      this.#line = undefined;
      if (this.#data.length > longestEvent) this.fail(failures.tooLong());
    }
  }

  #takeEvent(data: string): void {
    this.events += 1;
    if (data.trim() === '[DONE]') {
      this.end();
      return;
    }
    let answer: WireAnswer;
    try {
      this.parses += 1;
      answer = JSON.parse(fromBytes(data)) as WireAnswer;
      if (typeof answer !== 'object' || answer === null) throw new TypeError('not an object');
    } catch (error) {
      this.fail(failures.unreadable(error));
      return;
    }
    if (answer.error || answer.object === 'error') {
      this.fail(toAnswerFailure(answer.error || answer));
      return;
    }
    const choices = Array.isArray(answer.choices) ? answer.choices : [];
    for (const choice of choices) {
      this.#takeChoice(choice, choices.length === 1 && !answer.usage);
      if (this.isOver) return;
    }
    if (answer.usage) this.#takeUsage(toUsage(answer.usage), choices.length === 0);
  }

  #takeUsage(usage: Usage, isApart: boolean): void {
    const adds = isApart && this.#asked.hasUsagePerAnswer === true && this.#usage !== undefined;
    this.#usage = adds ? addUsage(this.#usage!, usage) : usage;
  }

  #takeChoice(choice: WireChoice, isPlain: boolean): void {
    const index = choice?.index ?? 0;
    if (!Number.isInteger(index) || index < 0 || index >= this.#asked.n) {
      this.fail(failures.unreadable(new Error(`choice ${String(index)} of ${this.#asked.n}`)));
      return;
    }
    this.#choices[index] ??= { isFinished: false, calls: undefined };
    const state = this.#choices[index];
    if (state.isFinished) return;
    const delta = choice.delta ?? {};
    const text = textOf(delta.content);
    const reasoning = reasoningOf(delta);
    const logprobs = toLogprobs(choice, this.#asked);
    const pieces = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];

    if (reasoning !== '') this.#sink.reasoning(index, toJsonBytes(reasoning));
    // A token can have a probability and no text of its own: half a character, a call, a thought.
    if (logprobs !== undefined && logprobs.length > 0) this.#sink.text(index, toJsonBytes(text), logprobs);
    else if (text !== '') this.#sink.text(index, toJsonBytes(text));
    const call = this.#takeCalls(index, state, choice);
    if (this.isOver) return;
    if (text !== '' || reasoning !== '' || pieces.length > 0 || logprobs?.length) this.hasStarted = true;

    if (choice.finish_reason) this.#finish(index, state, choice);
    else if (isPlain && logprobs === undefined && this.#line !== undefined) {
      if (pieces.length === 0) this.#learnText(index, choice, text, reasoning);
      else if (call !== undefined && text === '' && reasoning === '')
        this.#learnArguments(index, choice, call);
    }
  }

  /** Hands the pieces of calls on; answers the call of a lone piece. */
  #takeCalls(index: number, state: ChoiceState, { delta }: WireChoice): StreamedCall | undefined {
    const pieces = delta?.tool_calls;
    if (!Array.isArray(pieces) || pieces.length === 0) return undefined;
    state.calls ??= new StreamedToolCalls(this.#sink, index);
    let call: StreamedCall | undefined;
    for (const piece of pieces) {
      call = state.calls.add(piece ?? {});
      if (call !== undefined) continue;
      this.fail(failures.unreadable(new Error('too many tool calls')));
      return undefined;
    }
    const isMore = pieces.length === 1 && !pieces[0]?.id && !pieces[0]?.function?.name;
    // A call that begins may take over the engine's number of another one.
    if (!isMore) this.#forget((template) => template.kind === 'arguments');
    return isMore && call?.name !== '' ? call : undefined;
  }

  #finish(index: number, state: ChoiceState, choice: WireChoice): void {
    const { finish_reason: native } = choice;
    if (typeof native === 'string' && brokenFinishes.has(native)) {
      this.fail(failures.unfinished());
      return;
    }
    if (state.calls?.finish() === false) {
      this.fail(failures.unreadable(new Error('a tool call without a name')));
      return;
    }
    state.isFinished = true;
    this.#finished += 1;
    this.hasStarted = true;
    // Later lines of this answer would match, although nothing may follow its end.
    this.#forget((template) => template.choice === index);
    this.#sink.finish(index, toFinish(choice, state.calls !== undefined, this.#asked));
  }

  #learnText(index: number, { delta }: WireChoice, text: string, reasoning: string): void {
    if (text !== '' && reasoning === '') this.#learn('text', index, undefined, 'content', text);
    else if (reasoning !== '' && text === '') {
      const key = delta?.reasoning ? 'reasoning' : 'reasoning_content';
      this.#learn('reasoning', index, undefined, key, reasoning);
    }
  }

  #learnArguments(index: number, { delta }: WireChoice, call: StreamedCall): void {
    const args = textOf(delta?.tool_calls?.[0]?.function?.arguments);
    if (args !== '') this.#learn('arguments', index, call, 'arguments', args);
  }

  #learn(
    kind: TemplateKind,
    choice: number,
    call: StreamedCall | undefined,
    key: TemplateKey,
    value: string,
  ) {
    if (this.#misses >= mostMisses) return;
    this.#misses += 1;
    const around = findAround(this.#line!, key, value);
    if (around === undefined) return;
    // The same kind of line in a new form: a new second, another role.
    this.#forget((old) => old.kind === kind && old.choice === choice);
    if (this.#templates.length === mostTemplates) this.#templates.shift();
    this.#last = new Template(kind, choice, call, around);
    this.#templates.push(this.#last);
  }

  #forget(isOld: (template: Template) => boolean): void {
    if (this.#templates.length === 0) return;
    this.#templates = this.#templates.filter((template) => !isOld(template));
    if (this.#last !== undefined && isOld(this.#last)) this.#last = this.#templates.at(-1);
  }
}
