/**
 * Counts the tokens of a prompt beside the engine that answers it, for streams: their first event tells the
 * count, while engines tell it at the end. It is no reason to fail: who cannot count in time says zero, and the
 * stream's last event says what it was.
 */
import type { ChatRequest } from '../../engines/contract/chat.ts';
import type { PreparationFacts } from '../../platform/chat/prepare.ts';
import type { Prepared } from '../../platform/inference/types.ts';

/** An answer does not wait longer than this for its first event. */
export const patienceMs = 5_000;

export interface PromptCount {
  /** The request, whose prompt is being counted from then on. */
  readonly prepared: Prepared;
  /** Nobody waits for the count any more. */
  stop(): void;
}

export interface PromptCountParts {
  readonly prepared: Prepared;
  /** What the preparation found out, which may be the count. */
  readonly facts: PreparationFacts;
  count(request: ChatRequest, signal: AbortSignal): Promise<number>;
  tell(promptTokens: number): void;
}

export function createPromptCount({ prepared, facts, count, tell }: PromptCountParts): PromptCount {
  const stopped = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isCounting = false;
  const stop = (): void => {
    clearTimeout(timer);
    // An abort that nobody hears costs a tenth of a stream: it makes an error with its stack.
    if (isCounting) stopped.abort();
    isCounting = false;
  };
  const giveUp = (): void => {
    stop();
    tell(0);
  };
  return {
    async prepared() {
      const request = typeof prepared === 'function' ? await prepared() : prepared;
      if (facts.promptTokens !== undefined) tell(facts.promptTokens);
      else {
        timer = setTimeout(giveUp, patienceMs).unref();
        isCounting = true;
        count(request, stopped.signal).then((promptTokens) => {
          isCounting = false;
          clearTimeout(timer);
          tell(promptTokens);
        }, giveUp);
      }
      return request;
    },
    stop,
  };
}
