/** Puts an engine's pieces of tool calls in order: one id and one name per call, numbered from 0, never without arguments. */
import type { ChatSink } from '../contract/chat.ts';
import { type JsonBytes, toJsonBytes } from '../contract/json-bytes.ts';
import { argumentsOf, textOf, toCallId, type WireToolCall } from './wire.ts';

export interface StreamedCall {
  readonly index: number;
  readonly engineId: string;
  name: string;
  /** Arguments that came before the name. */
  early: string;
  hasArguments: boolean;
}

/** Numbers above 127 break a client (OpenAI's own limit on tools is 128). */
const mostCalls = 128;
const noArguments = '{}' as JsonBytes;
const nothing = '' as JsonBytes;

export class StreamedToolCalls {
  readonly #sink: ChatSink;
  readonly #choice: number;
  readonly #calls: StreamedCall[] = [];
  /** The call that the engine's own number means at the moment. */
  readonly #byNumber = new Map<number, StreamedCall>();
  #last = 0;

  constructor(sink: ChatSink, choice: number) {
    this.#sink = sink;
    this.#choice = choice;
  }

  /** The call that the piece belongs to, or undefined when it cannot be one. */
  add(piece: WireToolCall): StreamedCall | undefined {
    const number = typeof piece.index === 'number' ? piece.index : this.#last;
    this.#last = number;
    const id = textOf(piece.id);
    const name = textOf(piece.function?.name);
    let call = this.#byNumber.get(number);
    // Older Ollama numbers every call 0: another id with a name is another call.
    if (call === undefined || (id !== '' && name !== '' && call.name !== '' && id !== call.engineId)) {
      if (this.#calls.length === mostCalls) return undefined;
      call = { index: this.#calls.length, engineId: id, name: '', early: '', hasArguments: false };
      this.#calls.push(call);
      this.#byNumber.set(number, call);
    }
    const args = argumentsOf(piece);
    if (args !== '') call.hasArguments = true;
    if (call.name === '') this.#begin(call, name, args);
    else if (args !== '') this.#sink.tool(this.#choice, call.index, undefined, undefined, toJsonBytes(args));
    return call;
  }

  #begin(call: StreamedCall, name: string, args: string): void {
    call.early += args;
    if (name === '') return;
    call.name = name;
    const early = call.early === '' ? nothing : toJsonBytes(call.early);
    this.#sink.tool(this.#choice, call.index, toCallId(call.engineId), name, early);
  }

  /** No more pieces will come. False when a call never got its name. */
  finish(): boolean {
    for (const { name, index, hasArguments } of this.#calls) {
      if (name === '') return false;
      if (!hasArguments) this.#sink.tool(this.#choice, index, undefined, undefined, noArguments);
    }
    return true;
  }
}
