/** What the chat port asks the llama program for, and what it hears. */
import type { ChatRequest, Finish, TokenLogprob, Usage } from '../../contract/chat.ts';

/** What the program is told when it starts. */
export interface LlamaOptions {
  /** Threads that calculate. More than there are free cores make it slower by far: they wait for each other. */
  readonly threads: number;
  /** The most tokens of prompt and answer, where a model could read more: they take memory. */
  readonly contextTokens: number;
}

/** The input of the kinds `chat` and `count`. */
export type ChatInput = Omit<ChatRequest, 'model' | 'script'>;

/** What `chat` emits: parts of the answers one after the other, each answer ended by its finish. */
export type AnswerPart =
  | {
      readonly type: 'text';
      readonly choice: number;
      readonly text: string;
      readonly logprobs?: readonly TokenLogprob[];
    }
  | { readonly type: 'reasoning'; readonly choice: number; readonly text: string }
  | {
      readonly type: 'tool';
      readonly choice: number;
      readonly index: number;
      /** With the first piece of a call only. */
      readonly call?: { readonly id: string; readonly name: string };
      readonly text: string;
    }
  | { readonly type: 'finish'; readonly choice: number; readonly finish: Finish };

/** The result of `chat`. `count` answers a number. */
export type ChatOutcome = Usage;
