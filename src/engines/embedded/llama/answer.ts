/**
 * One answer on its way out: thoughts, text and calls are told apart by the marks that models put around them,
 * and the text ends at a stop sequence.
 *
 *   start ──<think>──▶ thinking ──</think>──▶ between ──▶ text ──mark of a call──▶ calling ──its end──▶ between
 */
import { randomBytes } from 'node:crypto';
import type { TokenLogprob } from '../../contract/chat.ts';
import { createStopFinder, heldBackLength, type Piece } from './stops.ts';
import { parseCalls, type ToolFormat } from './tool-format.ts';
import type { AnswerPart } from './types.ts';

export interface AnswerParts {
  readonly choice: number;
  emit(part: AnswerPart): void;
  readonly stops: readonly string[] | undefined;
  readonly toolFormat: ToolFormat | undefined;
  /** The prompt ends in the middle of a thought. */
  readonly isThinking: boolean;
  /** It goes on where the prompt ends, white space included. */
  readonly isContinued: boolean;
}

export interface Answer {
  /** A token's text, which may be empty. */
  add(piece: Piece): void;
  /** No more tokens: at most `limit` were allowed. */
  end(rest: Piece, limit: number): void;
  readonly tokens: number;
  readonly reasoningTokens: number;
  readonly isStopped: boolean;
}

const thinkOpen = '<think>';
const thinkClose = '</think>';

export function createAnswer(parts: AnswerParts): Answer {
  const { choice, emit, stops, toolFormat, isThinking, isContinued } = parts;
  const finder = createStopFinder(stops);
  let state: 'start' | 'thinking' | 'between' | 'text' | 'calling' = isThinking ? 'thinking' : 'start';
  let pending = '';
  /** Of the tokens in `pending`. */
  let described: TokenLogprob[] = [];
  let calls = 0;
  let tokens = 0;
  let reasoningTokens = 0;

  function say(pieces: readonly Piece[]): void {
    for (const { text, logprobs } of pieces) {
      const hasLogprobs = logprobs !== undefined && logprobs.length > 0;
      if (text === '' && !hasLogprobs) continue;
      emit({ type: 'text', choice, text, ...(hasLogprobs ? { logprobs } : {}) });
    }
  }

  function write(text: string): void {
    const logprobs = described;
    described = [];
    say(finder.push({ text, logprobs }));
  }

  function think(text: string): void {
    described = [];
    if (text !== '') emit({ type: 'reasoning', choice, text });
  }

  function call(text: string): void {
    const called = parseCalls(text);
    if (called === undefined) {
      // Not what the template taught: the client sees what the model wrote.
      write(
        toolFormat?.onlyFirst === true ? text : `${toolFormat?.open ?? ''}${text}${toolFormat?.close ?? ''}`,
      );
      return;
    }
    described = [];
    for (const { name, arguments: args } of called) {
      const id = `call_${randomBytes(12).toString('hex')}`;
      emit({ type: 'tool', choice, index: calls, call: { id, name }, text: args });
      calls += 1;
    }
  }

  /** Some templates leave the line break after their last mark to the model. */
  function withoutEmptyLines(text: string): string {
    return isContinued ? text : text.replace(/^\s*\n/, '');
  }

  /** Takes what is sure out of `pending`; true when there may be more to take. */
  function advance(): boolean {
    switch (state) {
      case 'start': {
        const begun = pending.trimStart();
        if (begun === '' || (begun.length < thinkOpen.length && thinkOpen.startsWith(begun))) return false;
        const isThought = begun.startsWith(thinkOpen);
        const isCall = toolFormat?.onlyFirst === true && begun.startsWith(toolFormat.open);
        pending = isThought ? begun.slice(thinkOpen.length) : isCall ? begun : withoutEmptyLines(pending);
        state = isThought ? 'thinking' : isCall ? 'calling' : 'text';
        return true;
      }
      case 'thinking':
        return takeUntil(thinkClose, think, () => {
          state = 'between';
        });
      case 'between':
        // White space around marks is no part of the answer.
        pending = pending.trimStart();
        if (pending === '') return false;
        state = 'text';
        return true;
      case 'text': {
        if (toolFormat === undefined || toolFormat.onlyFirst) {
          write(pending);
          pending = '';
          return false;
        }
        return takeUntil(toolFormat.open, write, () => {
          state = 'calling';
        });
      }
      case 'calling': {
        const end = toolFormat?.close === undefined ? -1 : pending.indexOf(toolFormat.close);
        if (end < 0 || toolFormat?.close === undefined) return false;
        const text = pending.slice(0, end);
        pending = pending.slice(end + toolFormat.close.length);
        state = 'between';
        call(text);
        return true;
      }
    }
  }

  function takeUntil(mark: string, take: (text: string) => void, found: () => void): boolean {
    const index = pending.indexOf(mark);
    if (index >= 0) {
      const text = pending.slice(0, index);
      pending = pending.slice(index + mark.length);
      take(text);
      found();
      return true;
    }
    const length = pending.length - heldBackLength(pending, [mark]);
    const text = pending.slice(0, length);
    pending = pending.slice(length);
    if (text !== '') take(text);
    return false;
  }

  function add(piece: Piece): void {
    // The usual case needs no look at marks, and keeps each token's log probability beside its text.
    if (state === 'text' && pending === '' && toolFormat === undefined) say(finder.push(piece));
    else {
      pending += piece.text;
      described.push(...(piece.logprobs ?? []));
      while (finder.stopped === undefined && advance());
    }
  }

  return {
    add(piece) {
      tokens += 1;
      if (state === 'thinking') reasoningTokens += 1;
      add(piece);
    },
    end(rest, limit) {
      const isCut = tokens >= limit && finder.stopped === undefined;
      if (finder.stopped === undefined) {
        add(rest);
        if (state === 'thinking') think(pending);
        else if (state === 'calling') call(pending);
        else write(state === 'start' ? withoutEmptyLines(pending) : pending);
        if (finder.stopped === undefined) say(finder.rest());
      }
      const reason = calls > 0 ? 'tool_calls' : isCut ? 'length' : 'stop';
      const { stopped } = finder;
      emit({
        type: 'finish',
        choice,
        finish: {
          reason,
          native: isCut ? 'length' : stopped === undefined ? 'eog' : 'stop',
          ...(stopped === undefined ? {} : { stopSequence: stopped }),
        },
      });
    },
    get tokens() {
      return tokens;
    },
    get reasoningTokens() {
      return reasoningTokens;
    },
    get isStopped() {
      return finder.stopped !== undefined;
    },
  };
}
