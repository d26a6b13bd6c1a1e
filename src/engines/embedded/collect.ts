/** A streamed answer put together again, for requests that want it whole. */
import type { GatewayError } from '../../lib/errors.ts';
import type { ChatResult, Finish, TokenLogprob, ToolCall, Usage } from '../contract/chat.ts';
import type { AnswerPart } from './llama/types.ts';

/** Hears an answer as it comes: its parts, then exactly one `end` or `fail`. */
export interface AnswerListener {
  part(part: AnswerPart): void;
  flush(): void;
  end(usage: Usage): void;
  fail(error: GatewayError): void;
}

interface Draft {
  text: string;
  reasoning: string;
  toolCalls: { -readonly [Key in keyof ToolCall]: ToolCall[Key] }[];
  logprobs: TokenLogprob[] | undefined;
  finish: Finish;
}

export function collectAnswer(
  n: number,
  done: (error: GatewayError | undefined, result?: ChatResult) => void,
): AnswerListener {
  const drafts = Array.from(
    { length: n },
    (): Draft => ({
      text: '',
      reasoning: '',
      toolCalls: [],
      logprobs: undefined,
      finish: { reason: 'stop', native: '' },
    }),
  );
  return {
    part(part) {
      const draft = drafts[part.choice];
      if (draft !== undefined) add(draft, part);
    },
    flush() {},
    end: (usage) => done(undefined, { choices: drafts, usage }),
    fail: (error) => done(error),
  };
}

function add(draft: Draft, part: AnswerPart): void {
  switch (part.type) {
    case 'text':
      draft.text += part.text;
      if (part.logprobs !== undefined) {
        draft.logprobs ??= [];
        draft.logprobs.push(...part.logprobs);
      }
      break;
    case 'reasoning':
      draft.reasoning += part.text;
      break;
    case 'tool': {
      const { id = '', name = '' } = part.call ?? {};
      draft.toolCalls[part.index] ??= { id, name, arguments: '' };
      draft.toolCalls[part.index]!.arguments += part.text;
      break;
    }
    case 'finish':
      draft.finish = part.finish;
  }
}
