/**
 * Counts the tokens of a prompt beside the engine that answers it, for streams: their first event tells the
 * count, while engines tell it at the end. It is no reason to fail: who cannot count in time says zero, and the
 * stream's last event says what it was.
 */
import type { ChatRequest } from '../../engines/contract/chat.ts';
import type { PreparationFacts } from '../../platform/chat/prepare.ts';
import type { Prepared } from '../../platform/inference/types.ts';

/** An answer does not wait longer than this for its first event, and no count takes longer. */
export const patienceMs = 5_000;

export interface PromptCount {
  /** The request, whose prompt is being counted from then on. */
  readonly prepared: Prepared;
  /**
   * The answer has ended: nobody waits for the count any more. One that is under way is let go on, because breaking it
   * off would cost its connection, and counting is quickly done.
   */
  stop(): void;
  /** There is no answer, or its client is gone: a count that is under way is broken off. */
  abort(): void;
}

export interface PromptCountParts {
  readonly prepared: Prepared;
  /** What the preparation found out, which may be the count. */
  readonly facts: PreparationFacts;
  count(request: ChatRequest, signal: AbortSignal): Promise<number>;
  tell(promptTokens: number): void;
}

export function createPromptCount({ prepared, facts, count, tell }: PromptCountParts): PromptCount {
  const aborted = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isCounting = false;
  let isWaitedFor = true;
  const stop = (): void => {
    isWaitedFor = false;
  };
  const end = (promptTokens: number): void => {
    clearTimeout(timer);
    isCounting = false;
    if (isWaitedFor) tell(promptTokens);
  };
  const giveUp = (): void => {
    // An abort that nobody hears costs a tenth of a stream: it makes an error with its stack.
    if (!isCounting) return;
    aborted.abort();
    end(0);
  };
  const abort = (): void => {
    stop();
    giveUp();
  };
  return {
    async prepared() {
      const request = typeof prepared === 'function' ? await prepared() : prepared;
      if (facts.promptTokens !== undefined) tell(facts.promptTokens);
      else {
        timer = setTimeout(giveUp, patienceMs).unref();
        isCounting = true;
        count(request, aborted.signal).then(
          (promptTokens) => isCounting && end(promptTokens),
          () => isCounting && end(0),
        );
      }
      return request;
    },
    stop,
    abort,
  };
}
