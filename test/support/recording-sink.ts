/** A chat sink that remembers what it heard, joined per choice, and complains about calls after the end. */
import type { ChatSink, Finish, TokenLogprob, Usage } from '../../src/engines/contract/chat.ts';
import { fromJsonBytes, type JsonBytes } from '../../src/engines/contract/json-bytes.ts';
import type { GatewayError } from '../../src/lib/errors.ts';

export interface RecordedCall {
  id: string;
  name: string;
  arguments: string;
}

export interface RecordedChoice {
  text: string;
  reasoning: string;
  calls: RecordedCall[];
  logprobs: TokenLogprob[];
  finish: Finish | undefined;
}

export interface RecordingSink extends ChatSink {
  readonly choices: RecordedChoice[];
  readonly usages: Usage[];
  /** Names of the calls, in order. */
  readonly heard: string[];
  flushes: number;
  isEnded: boolean;
  error: GatewayError | undefined;
  /** Resolves at `end` or `fail`. */
  readonly over: Promise<void>;
  /** Resolves at the next `flush`. */
  flushed(): Promise<void>;
}

export function createRecordingSink(): RecordingSink {
  let finishOver = () => {};
  let flushWaiters: (() => void)[] = [];
  const over = new Promise<void>((resolve) => {
    finishOver = resolve;
  });
  const choices: RecordedChoice[] = [];
  const at = (index: number): RecordedChoice => {
    choices[index] ??= { text: '', reasoning: '', calls: [], logprobs: [], finish: undefined };
    return choices[index];
  };
  const sink: RecordingSink = {
    choices,
    usages: [],
    heard: [],
    flushes: 0,
    isEnded: false,
    error: undefined,
    over,
    flushed: () => new Promise((resolve) => flushWaiters.push(resolve)),
    text(choice, piece, logprobs = []) {
      hear('text', choice);
      at(choice).text += fromJsonBytes(piece);
      at(choice).logprobs.push(...logprobs);
    },
    reasoning(choice, piece) {
      hear('reasoning', choice);
      at(choice).reasoning += fromJsonBytes(piece);
    },
    tool(choice, index, id, name, args) {
      hear('tool', choice);
      const { calls } = at(choice);
      const isNew = calls[index] === undefined;
      if (isNew !== (id !== undefined) || isNew !== (name !== undefined))
        throw new Error('id and name belong to the first piece of a call, and only there');
      calls[index] ??= { id: id ?? '', name: name ?? '', arguments: '' };
      calls[index].arguments += fromJsonBytes(args);
    },
    finish(choice, finish) {
      hear('finish', choice);
      at(choice).finish = finish;
    },
    usage(usage) {
      hear('usage');
      sink.usages.push(usage);
    },
    flush() {
      if (sink.isEnded) throw new Error('flush after the end');
      sink.flushes += 1;
      const waiters = flushWaiters;
      flushWaiters = [];
      for (const resolve of waiters) resolve();
    },
    end() {
      hear('end');
      sink.isEnded = true;
      finishOver();
    },
    fail(error) {
      hear('fail');
      sink.isEnded = true;
      sink.error = error;
      finishOver();
    },
  };
  function hear(name: string, choice?: number): void {
    if (sink.isEnded) throw new Error(`${name} after the end`);
    if (choice !== undefined && at(choice).finish !== undefined)
      throw new Error(`${name} after choice ${choice} was finished`);
    sink.heard.push(name);
  }
  return sink;
}

/** A sink that only counts, for measurements. */
export function createCountingSink(): ChatSink & { characters: number } {
  const sink = {
    characters: 0,
    text(_: number, piece: JsonBytes) {
      sink.characters += piece.length;
    },
    reasoning(_: number, piece: JsonBytes) {
      sink.characters += piece.length;
    },
    tool() {},
    finish() {},
    usage() {},
    flush() {},
    end() {},
    fail() {},
  };
  return sink;
}
