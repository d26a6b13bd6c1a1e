/**
 * The parts of an answer as events of the messages format. What is the same in every event of a block is built
 * once; a part costs one string append, and no JSON is written or read for a token.
 *
 * The first event tells how many tokens the prompt has. Until that is known, events gather here: the engine is
 * at work meanwhile, so only the first bytes wait, and only as long as counting takes longer than the engine.
 *
 * A block is closed before the next one begins (a client addresses blocks by their order). A call whose
 * arguments are not complete yet therefore stays open, and what an engine sends for others waits for the end.
 */
import { type Finish, noUsage, type Usage } from '../../engines/contract/chat.ts';
import { flat, fromJsonBytes, type JsonBytes, toBytes } from '../../engines/contract/json-bytes.ts';
import { toEnvelope } from '../../http/errors.ts';
import type { StreamOut } from '../../http/reply.ts';
import type { GatewayError } from '../../lib/errors.ts';
import type { BilledSink } from '../../platform/inference/types.ts';
import { type MessageShape, toDollars, toStop, toUsage } from './render.ts';
import { toToolUseId } from './tool-ids.ts';

export interface StreamShape extends MessageShape {
  /** Told with a failure in the middle of the stream. */
  readonly requestId: string;
}

/** What is sent in a long silence. */
export const ping = 'event: ping\ndata: {"type":"ping"}\n\n';

const messageStop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
/** Closes the string that a piece stands in, its delta and its event. */
const deltaEnd = '"}}\n\n';

/** What may gather while the prompt is counted, before the engine is made to wait as well. */
const mostHeldBytes = 64 * 1024;

type BlockKind = 'thinking' | 'text' | 'tool_use';
const deltaStarts: Readonly<Record<BlockKind, string>> = {
  thinking: '"thinking_delta","thinking":"',
  text: '"text_delta","text":"',
  tool_use: '"input_json_delta","partial_json":"',
};

export class MessageRenderer implements BilledSink {
  readonly #out: StreamOut;
  readonly #shape: StreamShape;
  /** What gathered since the last flush. */
  #buffer = '';
  #flow: { pause(): void; resume(): void } | undefined;
  #isHeldBack = false;
  #hasParts = false;
  /** The first event is in the buffer, or out. */
  #isBegun = false;
  #isOver = false;
  #promptTokens: number | undefined;
  /** The open block. */
  #kind: BlockKind | undefined;
  #index = -1;
  /** The beginning of the open block's deltas, up to the place where the piece goes in. */
  #delta = '';
  /** What the open block holds so far: of a thought to sign it, of a call to see whether it is complete. */
  #held = '';
  #engineIndex = -1;
  /** Parts that came while a call was open that was not complete. */
  #waiting: (() => void)[] = [];
  #finish: Finish = { reason: 'stop', native: 'stop' };
  #usage: Usage = noUsage;
  #costPicoUsd = 0n;

  constructor(out: StreamOut, shape: StreamShape) {
    this.#out = out;
    this.#shape = shape;
  }

  onStart(flow: { pause(): void; resume(): void }): void {
    this.#flow = flow;
    this.#out.onPressure(flow);
  }

  /** The prompt was counted. Only the first word counts. */
  tellPromptTokens(count: number): void {
    if (this.#isBegun || this.#isOver || this.#promptTokens !== undefined) return;
    this.#promptTokens = count;
    if (!this.#hasParts) return;
    this.#begin();
    this.flush();
  }

  text(choice: number, piece: JsonBytes): void {
    if (choice !== 0) return;
    if (this.#kind !== 'text') {
      if (!this.#hasParts) this.#start();
      if (piece === '') return;
      if (this.#mustWait()) {
        this.#waiting.push(() => this.text(choice, piece));
        return;
      }
      this.#open('text', '{"type":"text","text":""}');
    }
    if (piece !== '') this.#buffer += this.#delta + piece + deltaEnd;
  }

  reasoning(choice: number, piece: JsonBytes): void {
    if (choice !== 0) return;
    if (this.#kind !== 'thinking') {
      if (!this.#hasParts) this.#start();
      if (piece === '') return;
      if (this.#mustWait()) {
        this.#waiting.push(() => this.reasoning(choice, piece));
        return;
      }
      this.#open('thinking', '{"type":"thinking","thinking":"","signature":""}');
    }
    this.#held += piece;
    if (piece !== '' && !this.#shape.hidesThinking) this.#buffer += this.#delta + piece + deltaEnd;
  }

  tool(
    choice: number,
    engineIndex: number,
    id: string | undefined,
    name: string | undefined,
    args: JsonBytes,
  ): void {
    if (choice !== 0) return;
    if (this.#kind !== 'tool_use' || this.#engineIndex !== engineIndex) {
      if (!this.#hasParts) this.#start();
      if (this.#mustWait()) {
        this.#waiting.push(() => this.tool(choice, engineIndex, id, name, args));
        return;
      }
      // More of a call that was complete already.
      if (id === undefined) return;
      this.#engineIndex = engineIndex;
      this.#open(
        'tool_use',
        `{"type":"tool_use","id":${json(toToolUseId(id))},"name":${json(name ?? '')},"input":{},` +
          '"caller":{"type":"direct"}}',
      );
      this.#buffer += this.#delta + deltaEnd;
    }
    if (args === '') return;
    this.#held += args;
    this.#buffer += this.#delta + args + deltaEnd;
  }

  finish(choice: number, finish: Finish): void {
    if (choice !== 0) return;
    if (!this.#hasParts) this.#start();
    this.#finish = finish;
    this.#closeAll();
  }

  cost(picoUsd: bigint): void {
    this.#costPicoUsd = picoUsd;
  }

  usage(usage: Usage): void {
    this.#usage = usage;
  }

  flush(): void {
    if (!this.#isBegun) {
      if (this.#buffer.length > mostHeldBytes && !this.#isHeldBack) {
        this.#isHeldBack = true;
        this.#flow?.pause();
      }
      return;
    }
    if (this.#buffer === '') return;
    const bytes = this.#buffer;
    this.#buffer = '';
    this.#out.write(bytes);
  }

  end(): void {
    const usage = { ...toUsage(this.#usage), cost: toDollars(this.#costPicoUsd) };
    const delta = json(toStop(this.#shape, this.#finish));
    const event = `event: message_delta\ndata: {"type":"message_delta","delta":${delta},"usage":${json(usage)}}\n\n`;
    this.#over(event);
  }

  /** Whatever it was, for a client in the middle of an answer it is a failure of the service. */
  fail(error: GatewayError): void {
    const { body } = toEnvelope(error, 'messages', this.#shape.requestId);
    const told = { ...body, error: { type: 'api_error', message: error.message } };
    // A call that was cut off stays open, and what waits behind it with it: nobody may take it for complete.
    this.#over(`event: error\ndata: ${json(told)}\n\n`, error);
  }

  #over(event: string, failure?: GatewayError): void {
    // An answer shorter than the counting: its own usage tells the same.
    if (!this.#isBegun) this.#begin();
    this.#isOver = true;
    const bytes = this.#buffer + event + messageStop;
    this.#buffer = '';
    this.#out.end(bytes, failure);
  }

  #start(): void {
    this.#hasParts = true;
    if (this.#promptTokens !== undefined) this.#begin();
  }

  /** Puts the first event before what has gathered. */
  #begin(): void {
    this.#isBegun = true;
    if (this.#isHeldBack) this.#flow?.resume();
    const { id, model } = this.#shape;
    const { promptTokens, cachedTokens } = this.#usage;
    const known =
      promptTokens > 0 ? { promptTokens, cachedTokens } : { promptTokens: this.#promptTokens ?? 0 };
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: toUsage({ ...noUsage, ...known }),
    };
    const event = `event: message_start\ndata: {"type":"message_start","message":${json(message)}}\n\n`;
    this.#buffer = event + this.#buffer;
  }

  #open(kind: BlockKind, block: string): void {
    this.#close();
    this.#kind = kind;
    this.#index += 1;
    const index = this.#index;
    this.#delta = flat(
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},` +
        `"delta":{"type":${deltaStarts[kind]}`,
    );
    this.#buffer +=
      `event: content_block_start\ndata: {"type":"content_block_start","index":${index},` +
      `"content_block":${block}}\n\n`;
  }

  #close(): void {
    if (this.#kind === undefined) return;
    const index = this.#index;
    if (this.#kind === 'thinking') {
      const signature = json(this.#shape.sign(fromJsonBytes(this.#held as JsonBytes)));
      this.#buffer +=
        `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},` +
        `"delta":{"type":"signature_delta","signature":${signature}}}\n\n`;
    }
    // A call without arguments has the arguments `{}`: nothing at all is no JSON.
    if (this.#kind === 'tool_use' && this.#held === '') this.#buffer += `${this.#delta}{}${deltaEnd}`;
    this.#buffer += `event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`;
    this.#kind = undefined;
    this.#held = '';
  }

  /** Closes the open block, and brings out what waited for it. */
  #closeAll(): void {
    this.#close();
    while (this.#waiting.length > 0) {
      const parts = this.#waiting;
      this.#waiting = [];
      for (const part of parts) part();
      this.#close();
    }
  }

  #mustWait(): boolean {
    if (this.#kind !== 'tool_use') return false;
    return this.#waiting.length > 0 || !isComplete(this.#held as JsonBytes);
  }
}

function isComplete(args: JsonBytes): boolean {
  try {
    JSON.parse(fromJsonBytes(args));
    return true;
  } catch {
    return false;
  }
}

/** A value as JSON, in bytes that can be spliced. */
function json(value: unknown): string {
  return toBytes(JSON.stringify(value));
}
