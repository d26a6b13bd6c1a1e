/**
 * The slots of one engine, shared fairly: while some wait, subscriptions take turns, so that one with a
 * thousand requests in line delays another by one request and not by a thousand.
 */
import { GatewayError } from '../../lib/errors.ts';
import { toRetryAfter } from './gate.ts';
import { Line } from './line.ts';
import type { Release, Slots } from './types.ts';

export function createSlots(count: number): Slots {
  // In the order of their turns: a map keeps the order of insertion. Only who waits is in it.
  const lines = new Map<string, Line<Release>>();
  let running = 0;
  let waiting = 0;

  function take(): Release {
    running++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running--;
      if (waiting > 0) serve();
    };
  }

  function serve(): void {
    while (running < count && waiting > 0) {
      const [turn] = lines;
      if (turn === undefined) return;
      const [subscriptionId, line] = turn;
      // Taken out, and put behind the others while it still has somebody waiting.
      lines.delete(subscriptionId);
      if (line.length > 1) lines.set(subscriptionId, line);
      waiting--;
      line.serve(take());
    }
  }

  function forget(subscriptionId: string, line: Line<Release>): void {
    waiting--;
    if (line.length === 0 && lines.get(subscriptionId) === line) lines.delete(subscriptionId);
  }

  return {
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },

    enter(subscriptionId, signal, maxWaitMs = Number.POSITIVE_INFINITY) {
      if (running < count) return take();
      if (signal.aborted) return Promise.reject(signal.reason);
      let line = lines.get(subscriptionId);
      if (line === undefined) {
        line = new Line();
        lines.set(subscriptionId, line);
      }
      const joined = line;
      waiting++;
      return joined.join({ signal, maxWaitMs, tooLong, left: () => forget(subscriptionId, joined) });
    },

    resize(next) {
      count = next;
      serve();
    },

    refuseAll(error) {
      const refused = [...lines.values()];
      lines.clear();
      waiting = 0;
      for (const line of refused) line.refuseAll(error);
    },
  };
}

function tooLong(): GatewayError {
  const retryAfterSeconds = toRetryAfter(0);
  return new GatewayError(
    'rate_limited',
    `Every place at the model's engine is taken, and this request waited too long for one: ` +
      `try again in ${retryAfterSeconds} second`,
    { retryAfterSeconds },
  );
}
