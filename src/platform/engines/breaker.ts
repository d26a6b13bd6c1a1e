/**
 * Keeps requests away from an engine that fails, and lets one through now and then to see whether it is back.
 *
 *   closed ──(5 failures in a row, or a failed health check)──▶ open ──(wait over: one trial)──▶ closed
 *                                                                ▲            │ the trial fails: wait doubles
 *                                                                └────────────┘
 */
export interface Breaker {
  /** Whether a request may go there now. While it is open the first caller after the wait gets the one trial. */
  allows(): boolean;
  /** When the next trial is due, in the clock's milliseconds; 0 while it is closed. */
  readonly retryAt: number;
  succeeded(): void;
  failed(): void;
  /** Opens at once: a health check says so. */
  open(): void;
}

const failuresToOpen = 5;
const firstWaitMs = 1_000;
const longestWaitMs = 15_000;

export function createBreaker({
  now,
  random = Math.random,
}: {
  now: () => number;
  random?: () => number;
}): Breaker {
  let failures = 0;
  let waits = 0;
  let retryAt = 0;

  function open(): void {
    const longest = Math.min(longestWaitMs, firstWaitMs * 2 ** waits);
    waits += 1;
    // Half of it random, so that the replicas of the gateway do not return to a weak engine in step.
    retryAt = now() + longest / 2 + (random() * longest) / 2;
  }

  return {
    get retryAt() {
      return retryAt;
    },
    allows() {
      if (retryAt === 0) return true;
      if (now() < retryAt) return false;
      // The next trial waits its turn, unless this one succeeds.
      open();
      return true;
    },
    succeeded() {
      failures = 0;
      waits = 0;
      retryAt = 0;
    },
    failed() {
      failures += 1;
      if (retryAt === 0 && failures >= failuresToOpen) open();
    },
    open() {
      if (retryAt === 0) open();
    },
  };
}
