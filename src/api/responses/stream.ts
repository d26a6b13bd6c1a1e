/**
 * The parts of an answer as the events of a response. What is the same in every delta of an item is built once;
 * a part costs one string append, and no JSON is written or read for a token.
 *
 * An item goes `added` → deltas → `done`. Text and thoughts end when something else begins; calls stay open to
 * the end, because an engine may write several at once.
 */
import { type Finish, noUsage, type TokenLogprob, type Usage } from '../../engines/contract/chat.ts';
import { flat, type JsonBytes } from '../../engines/contract/json-bytes.ts';
import type { StreamOut } from '../../http/reply.ts';
import type { GatewayError } from '../../lib/errors.ts';
import type { BilledSink } from '../../platform/inference/types.ts';
import { type OpenItem, openCall, openMessage, openReasoning, textOf } from './open-item.ts';
import {
  type Frame,
  failureCode,
  type IncompleteReason,
  incompleteReason,
  json,
  noArguments,
  type Progress,
  type RenderedItem,
  toFinished,
  toLogprobs,
  toResponse,
  toUsage,
} from './render.ts';

export interface StreamShape {
  readonly frame: Frame;
  /** The response shall be kept; it says so of itself. */
  readonly isStored: boolean;
  /** Thoughts are told as a summary. */
  readonly isSummary: boolean;
  /** A new id that begins with `rs`, `msg` or `fc`. */
  createId(prefix: string): string;
  /** Keeps the response, and answers its final object in bytes. */
  finish(progress: Progress): string | Promise<string>;
}

const deltaField = ',"delta":"';
const stringEnd = '"}\n\n';
/** SDKs require the list on the deltas of text. */
const textEnd = '","logprobs":[]}\n\n';
/** Keeping takes less, unless the database is slow. Nobody waits longer for words that are there. */
const maxHeldMs = 20;

export class ResponseRenderer implements BilledSink {
  readonly #out: StreamOut;
  readonly #shape: StreamShape;
  /** What gathered since the last flush. */
  #buffer = '';
  #sequence = 0;
  #isBegun = false;
  /** By their place in the output. A finished item keeps its text no longer than its rendering. */
  readonly #items: (OpenItem | RenderedItem)[] = [];
  #message: OpenItem | undefined;
  #reasoning: OpenItem | undefined;
  /** By the engine's index. */
  #calls: Map<number, OpenItem> | undefined;
  /** Where the engine wrote last: what is cut short when the answer is. */
  #last: OpenItem | undefined;
  #reason: IncompleteReason | undefined;
  #usage: Usage = noUsage;
  #costPicoUsd = 0n;
  #over: Promise<void> | undefined;

  constructor(out: StreamOut, shape: StreamShape) {
    this.#out = out;
    this.#shape = shape;
  }

  /** Settles when the last bytes are out; undefined when they are already. */
  get over(): Promise<void> | undefined {
    return this.#over;
  }

  onStart(flow: { pause(): void; resume(): void }): void {
    this.#out.onPressure(flow);
  }

  text(choice: number, piece: JsonBytes, logprobs?: readonly TokenLogprob[]): void {
    if (!this.#isBegun) this.#begin();
    if (choice > 0) return;
    // Engines tell the probabilities of thoughts and calls beside no text: these begin no message. Of a character
    // that is not whole yet they belong to the message that is open.
    if (
      piece === '' &&
      (logprobs === undefined || this.#message === undefined || this.#last !== this.#message)
    )
      return;
    const item = this.#message ?? this.#openMessage();
    this.#last = item;
    item.pieces.push(piece);
    if (logprobs === undefined)
      this.#buffer += item.deltaHead + this.#sequence++ + deltaField + piece + textEnd;
    else {
      const told = toLogprobs(logprobs);
      if (told !== '') item.logprobs += item.logprobs === '' ? told : `,${told}`;
      this.#buffer += `${item.deltaHead}${this.#sequence++}${deltaField}${piece}","logprobs":[${told}]}\n\n`;
    }
  }

  reasoning(choice: number, piece: JsonBytes): void {
    if (!this.#isBegun) this.#begin();
    if (choice > 0 || piece === '') return;
    const item = this.#reasoning ?? this.#openReasoning();
    this.#last = item;
    item.pieces.push(piece);
    this.#buffer += item.deltaHead + this.#sequence++ + deltaField + piece + stringEnd;
  }

  tool(
    choice: number,
    engineIndex: number,
    id: string | undefined,
    name: string | undefined,
    args: JsonBytes,
  ): void {
    if (!this.#isBegun) this.#begin();
    if (choice > 0) return;
    const item = this.#calls?.get(engineIndex) ?? this.#openCall(engineIndex, id, name);
    this.#last = item;
    if (args !== '') this.#addArguments(item, args);
  }

  finish(choice: number, { reason }: Finish): void {
    if (!this.#isBegun) this.#begin();
    if (choice > 0) return;
    this.#reason = incompleteReason(reason);
    this.#closeAll();
  }

  cost(picoUsd: bigint): void {
    this.#costPicoUsd = picoUsd;
  }

  usage(usage: Usage): void {
    this.#usage = usage;
  }

  flush(): void {
    if (this.#buffer === '') return;
    const bytes = this.#buffer;
    this.#buffer = '';
    this.#out.write(bytes);
  }

  /**
   * The last event waits until the response is kept, so that whoever asks for it then finds it. What came with the
   * end waits for it a moment: a write of its own would cost 15 µs, a quarter of what keeping does.
   */
  end(): void {
    if (!this.#isBegun) this.#begin();
    this.#closeAll();
    const usage = toUsage(this.#usage, this.#costPicoUsd);
    const progress = toFinished(this.#output(), this.#reason, usage);
    const finished = this.#shape.finish(progress);
    const send = (response: string) => {
      this.#add(`response.${progress.status}`, `"response":${response}`);
      this.#end();
    };
    if (typeof finished === 'string') send(finished);
    else {
      const late = setTimeout(() => this.flush(), maxHeldMs);
      this.#over = finished.then((response) => {
        clearTimeout(late);
        send(response);
      });
    }
  }

  /**
   * First the error, which clients raise, then the response as far as it came. What was still open gets no `done`:
   * a client would run a call whose arguments are cut off.
   */
  fail(error: GatewayError): void {
    if (!this.#isBegun) return;
    this.#add('error', `"code":"${failureCode(error)}","message":${json(error.message)},"param":null`);
    const progress: Progress = { status: 'failed', output: this.#output(), error };
    // A failed response is not kept, whatever was asked.
    this.#add('response.failed', `"response":${toResponse(this.#shape.frame, progress, false)}`);
    this.#end(error);
  }

  #end(failure?: GatewayError): void {
    const bytes = this.#buffer;
    this.#buffer = '';
    this.#out.end(bytes, failure);
  }

  #add(type: string, fields: string): void {
    this.#buffer += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${fields}}\n\n`;
  }

  /** With the first part, not before: what fails earlier is answered with its status. */
  #begin(): void {
    this.#isBegun = true;
    const { frame, isStored } = this.#shape;
    const response = `"response":${toResponse(frame, { status: 'in_progress', output: [] }, isStored)}`;
    this.#add('response.created', response);
    this.#add('response.in_progress', response);
  }

  #openMessage(): OpenItem {
    this.#closeText();
    this.#message = this.#open(openMessage(this.#shape.createId('msg'), this.#items.length));
    return this.#message;
  }

  #openReasoning(): OpenItem {
    this.#closeText();
    const { isSummary } = this.#shape;
    this.#reasoning = this.#open(openReasoning(this.#shape.createId('rs'), this.#items.length, isSummary));
    return this.#reasoning;
  }

  #openCall(engineIndex: number, callId = '', name = ''): OpenItem {
    this.#closeText();
    const item = this.#open(openCall(this.#shape.createId('fc'), this.#items.length, callId, name));
    this.#calls ??= new Map();
    this.#calls.set(engineIndex, item);
    return item;
  }

  #open(item: OpenItem): OpenItem {
    this.#items.push(item);
    this.#add('response.output_item.added', `"output_index":${item.index},"item":${item.empty}`);
    for (const [type, fields] of item.opening) this.#add(type, fields);
    return item;
  }

  #addArguments(item: OpenItem, args: JsonBytes): void {
    item.pieces.push(args);
    this.#buffer += item.deltaHead + this.#sequence++ + deltaField + args + stringEnd;
  }

  /** What is being written in words. */
  #closeText(): void {
    const item = this.#message ?? this.#reasoning;
    if (item === undefined) return;
    this.#message = undefined;
    this.#reasoning = undefined;
    this.#close(item);
  }

  #closeAll(): void {
    for (const call of this.#calls?.values() ?? []) {
      if (call.pieces.length === 0) this.#addArguments(call, noArguments);
      this.#close(call);
    }
    this.#calls = undefined;
    this.#closeText();
  }

  #close(item: OpenItem): void {
    const isCut = this.#reason !== undefined && item === this.#last;
    const text = textOf(item);
    for (const [type, fields] of item.closing(text)) this.#add(type, fields);
    const bytes = flat(item.render(isCut ? 'incomplete' : 'completed', text));
    this.#add('response.output_item.done', `"output_index":${item.index},"item":${bytes}`);
    this.#items[item.index] = { id: item.id, bytes };
  }

  #output(): RenderedItem[] {
    return this.#items.map((item) =>
      'bytes' in item ? item : { id: item.id, bytes: item.render('incomplete', textOf(item)) },
    );
  }
}
