/**
 * The limits of one subscription on one model: an exact sliding minute, then a slot.
 *
 * A request counts from its arrival, as a place that it holds in the minute while it waits in line, until 60 s
 * after it began to run. So at no time are more than N counted, which gives all of this at once: no 60 seconds
 * see more than N arrivals let in, none see more than N begin to run, and whoever was let into the line finds
 * room in the minute when its turn comes: it never waits in vain. Who leaves the line gives its place back.
 *
 * The longest `Retry-After` that every SDK obeys is 59, and a place may be 60 s away. A request whose
 * place frees within a second therefore waits for it in the line instead of being refused: whoever comes back
 * after the promised seconds is let in.
 */
import { GatewayError } from '../../lib/errors.ts';
import type { Leaving } from '../../lib/presence.ts';
import { Line } from './line.ts';
import { StartTimes, windowMs } from './start-times.ts';
import type { Limits, Permit, RateState } from './types.ts';

const graceMs = 1_000;
/** How much the newest run weighs in the mean, which only serves to estimate a wait. */
const newestWeight = 0.2;

export class Gate {
  readonly #now: () => number;
  readonly #starts = new StartTimes();
  readonly #line = new Line<Permit>();
  #limits: Limits;
  #running = 0;
  #meanRunMs = 0;
  #minuteTimer: NodeJS.Timeout | undefined;

  constructor(limits: Limits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  enter(limits: Limits, signal: Leaving): Permit | Promise<Permit> {
    this.#take(limits);
    const now = this.#now();
    this.#starts.forget(now);
    const missing = this.#starts.count + this.#line.length + 1 - limits.requestsPerMinute;
    if (missing <= 0 && this.#line.length === 0 && this.#running < limits.concurrent)
      return this.#start(now, 0);
    const opensInMs = missing <= 0 ? 0 : this.#starts.msUntilForgotten(missing, now);
    if (opensInMs > graceMs) throw minuteFull(limits, opensInMs);
    const waiting = this.#line.join({
      signal,
      maxWaitMs: opensInMs + limits.maxQueueWaitMs,
      tooLong: () => this.#tooLong(),
      left: () => this.#serve(),
    });
    this.#serve();
    return waiting;
  }

  rate(limits: Limits): RateState {
    const now = this.#now();
    this.#starts.forget(now);
    const { count } = this.#starts;
    return {
      limit: limits.requestsPerMinute,
      remaining: Math.max(0, limits.requestsPerMinute - count - this.#line.length),
      resetMs: this.#line.length > 0 ? windowMs : count === 0 ? 0 : this.#starts.msUntilForgotten(count, now),
    };
  }

  /** Nobody runs or waits, and the last minute saw nothing: it can be forgotten without anyone noticing. */
  get isIdle(): boolean {
    this.#starts.forget(this.#now());
    return this.#running === 0 && this.#line.length === 0 && this.#starts.count === 0;
  }

  refuseAll(error: Error): void {
    clearTimeout(this.#minuteTimer);
    this.#line.refuseAll(error);
  }

  /** Limits may change between two requests: the history stays, and more slots serve the line at once. */
  #take(limits: Limits): void {
    if (limits === this.#limits) return;
    this.#limits = limits;
    this.#serve();
  }

  /** `waiting`: who stays in line behind it, each holding a place in the minute. */
  #start(now: number, waiting: number): Permit {
    this.#running++;
    this.#starts.push(now);
    const limit = this.#limits.requestsPerMinute;
    const remaining = Math.max(0, limit - this.#starts.count - waiting);
    return new RunPermit({ limit, remaining, resetMs: windowMs }, now, this.#ended);
  }

  readonly #ended = (startedAt: number): void => {
    this.#running--;
    const ranMs = this.#now() - startedAt;
    this.#meanRunMs =
      this.#meanRunMs === 0 ? ranMs : this.#meanRunMs + (ranMs - this.#meanRunMs) * newestWeight;
    if (this.#line.length > 0) this.#serve();
  };

  /** Starts whom the slots and the minute allow, in order; when the minute is what is missing, looks again then. */
  readonly #serve = (): void => {
    clearTimeout(this.#minuteTimer);
    const { concurrent, requestsPerMinute } = this.#limits;
    while (this.#line.length > 0 && this.#running < concurrent) {
      const now = this.#now();
      this.#starts.forget(now);
      const missing = this.#starts.count + 1 - requestsPerMinute;
      if (missing > 0) {
        const opensInMs = Math.ceil(this.#starts.msUntilForgotten(missing, now));
        this.#minuteTimer = setTimeout(this.#serve, Math.max(1, opensInMs));
        return;
      }
      this.#line.serve(this.#start(now, this.#line.length - 1));
    }
  };

  #tooLong(): GatewayError {
    const { concurrent } = this.#limits;
    // The one that is refused still stands in the line.
    const estimateMs = (this.#meanRunMs * this.#line.length) / concurrent;
    const retryAfterSeconds = toRetryAfter(estimateMs);
    return new GatewayError(
      'rate_limited',
      `This model runs ${counted(concurrent, 'request')} of a subscription at once, and this one waited too long ` +
        `for its turn: try again in ${counted(retryAfterSeconds, 'second')}`,
      { retryAfterSeconds },
    );
  }
}

/** A class, because one is made for every request. */
class RunPermit implements Permit {
  readonly rate: RateState;
  readonly #startedAt: number;
  #end: ((startedAt: number) => void) | undefined;

  constructor(rate: RateState, startedAt: number, end: (startedAt: number) => void) {
    this.rate = rate;
    this.#startedAt = startedAt;
    this.#end = end;
  }

  /** A second call must not give away a slot that somebody else holds. */
  release(): void {
    const end = this.#end;
    this.#end = undefined;
    end?.(this.#startedAt);
  }
}

function minuteFull({ requestsPerMinute }: Limits, opensInMs: number): GatewayError {
  const retryAfterSeconds = toRetryAfter(opensInMs);
  return new GatewayError(
    'rate_limited',
    `This model takes ${counted(requestsPerMinute, 'request')} a minute of a subscription: ` +
      `try again in ${counted(retryAfterSeconds, 'second')}`,
    { retryAfterSeconds },
  );
}

/** Whole seconds from 1 to 59: some SDKs ignore 0, others anything from 60 on. */
export function toRetryAfter(ms: number): number {
  return Math.min(59, Math.max(1, Math.ceil(ms / 1000)));
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
