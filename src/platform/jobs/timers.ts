/** What happens at intervals, and the one place where jobs wait for real time. Tests bring their own. */
import { setTimeout as wait } from 'node:timers/promises';

export interface Timers {
  /** Until the answer is called. A round that is under way is not begun again. */
  every(name: 'claim' | 'heartbeat' | 'sweep', ms: number, work: () => Promise<void>): () => void;
  /** Rejects when the signal says so. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
}

export const realTimers: Timers = {
  every(_name, ms, work) {
    let isBusy = false;
    const timer = setInterval(() => {
      if (isBusy) return;
      isBusy = true;
      void work().finally(() => {
        isBusy = false;
      });
    }, ms).unref();
    return () => clearInterval(timer);
  },
  async pause(ms, signal) {
    await wait(ms, undefined, signal === undefined ? {} : { signal });
  },
};
