/** A line of waiters: first in, first out; whoever leaves or waits too long is out of it at once. */
import type { Leaving } from '../../lib/presence.ts';

interface Waiter<T> {
  previous: Waiter<T> | undefined;
  next: Waiter<T> | undefined;
  resolve(value: T): void;
  reject(error: unknown): void;
  /** Takes back the timer and the listener. */
  settle(): void;
}

export interface Patience {
  /** Aborted when the client leaves. */
  signal: Leaving;
  /** Infinity: for ever. */
  maxWaitMs: number;
  tooLong: () => Error;
  /** Told after a waiter left by itself, by signal or by time. */
  left?: () => void;
}

/** setTimeout takes no more, and reads what is more as 1 ms. */
const longestTimerMs = 2 ** 31 - 1;

export class Line<T> {
  #first: Waiter<T> | undefined;
  #last: Waiter<T> | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  join({ signal, maxWaitMs, tooLong, left }: Patience): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const leave = (error: unknown) => {
        this.#remove(waiter);
        waiter.reject(error);
        left?.();
      };
      const onAbort = () => leave(signal.reason);
      const timer = maxWaitMs <= longestTimerMs ? setTimeout(() => leave(tooLong()), maxWaitMs) : undefined;
      const waiter: Waiter<T> = {
        previous: this.#last,
        next: undefined,
        resolve,
        reject,
        settle: () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
        },
      };
      signal.addEventListener('abort', onAbort);
      if (this.#last === undefined) this.#first = waiter;
      else this.#last.next = waiter;
      this.#last = waiter;
      this.#length++;
    });
  }

  /** The first in line gets the value. The line must not be empty. */
  serve(value: T): void {
    const waiter = this.#first;
    if (waiter === undefined) return;
    this.#remove(waiter);
    waiter.resolve(value);
  }

  refuseAll(error: unknown): void {
    for (let waiter = this.#first; waiter !== undefined; waiter = this.#first) {
      this.#remove(waiter);
      waiter.reject(error);
    }
  }

  #remove(waiter: Waiter<T>): void {
    waiter.settle();
    if (waiter.previous === undefined) this.#first = waiter.next;
    else waiter.previous.next = waiter.next;
    if (waiter.next === undefined) this.#last = waiter.previous;
    else waiter.next.previous = waiter.previous;
    this.#length--;
  }
}
