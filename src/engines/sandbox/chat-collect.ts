/** A streamed answer of the sandbox put together again, for requests that want it whole. */
import type { GatewayError } from '../../lib/errors.ts';
import type { ChatResult, Finish, TokenLogprob, ToolCall, Usage } from '../contract/chat.ts';
import type { AnswerPart } from './chat-answer.ts';

/** Hears an answer as it is made: parts, a finish per choice, then exactly one `end` or `fail`. */
export interface AnswerListener {
  part(choice: number, part: AnswerPart): void;
  finish(choice: number, finish: Finish): void;
  flush(): void;
  end(usage: Usage): void;
  fail(error: GatewayError): void;
}

interface Draft {
  text: string;
  reasoning: string;
  toolCalls: { -readonly [K in keyof ToolCall]: ToolCall[K] }[];
  logprobs: TokenLogprob[] | undefined;
  finish: Finish;
}

export function collectAnswer(
  n: number,
  done: (error: GatewayError | undefined, result?: ChatResult) => void,
): AnswerListener {
  const drafts = Array.from({ length: n }, (): Draft => {
    const finish: Finish = { reason: 'stop', native: '' };
    return { text: '', reasoning: '', toolCalls: [], logprobs: undefined, finish };
  });
  return {
    part(choice, part) {
      const draft = drafts[choice];
      if (draft !== undefined) add(draft, part);
    },
    finish(choice, finish) {
      const draft = drafts[choice];
      if (draft !== undefined) draft.finish = finish;
    },
    flush() {},
    end: (usage) => done(undefined, { choices: drafts, usage }),
    fail: (error) => done(error),
  };
}

function add(draft: Draft, part: AnswerPart): void {
  switch (part.type) {
    case 'reasoning':
      draft.reasoning += part.piece;
      break;
    case 'text':
      draft.text += part.piece;
      if (part.logprobs === undefined) break;
      draft.logprobs ??= [];
      draft.logprobs.push(...part.logprobs);
      break;
    case 'tool': {
      const { index, id = '', name = '', piece } = part;
      draft.toolCalls[index] ??= { id, name, arguments: '' };
      draft.toolCalls[index].arguments += piece;
    }
  }
}
