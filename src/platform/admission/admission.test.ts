import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../lib/errors.ts';
import { createAdmission } from './admission.ts';
import type { Admission, Limits, Permit } from './types.ts';

const never = new AbortController().signal;
const usual: Limits = { requestsPerMinute: 60, concurrent: 8, maxQueueWaitMs: 20_000 };
let admission: Admission;

beforeEach(() => {
  vi.useFakeTimers();
  admission = createAdmission({ now: Date.now });
});
afterEach(async () => {
  await admission.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

function enter(limits: Limits, { subscription = 'sub_1', model = 'm', signal = never } = {}) {
  const entered = admission.enter(subscription, model, limits, signal);
  // Closing refuses whoever a test left in the line.
  if (entered instanceof Promise) entered.catch(() => {});
  return entered;
}

/** A permit that is given at once, or a failed test. */
function enterNow(limits: Limits, who?: Parameters<typeof enter>[1]): Permit {
  const permit = enter(limits, who);
  if (permit instanceof Promise) throw new Error('it had to wait');
  return permit;
}

function refusal(limits: Limits, who?: Parameters<typeof enter>[1]): GatewayError {
  try {
    enter(limits, who);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('it was let in');
}

/** Comes and goes at once. */
function pass(limits: Limits, who?: Parameters<typeof enter>[1]): void {
  enterNow(limits, who).release();
}

/** What came of a promise, once the microtasks ran. */
function watch(promise: Permit | Promise<Permit>) {
  const seen: { permit?: Permit; error?: unknown } = {};
  Promise.resolve(promise).then(
    (permit) => {
      seen.permit = permit;
    },
    (error) => {
      seen.error = error;
    },
  );
  return seen;
}

describe('the minute', () => {
  it("[LIMIT-1] requests over the last minute's limit for one subscription and model are refused", () => {
    for (let i = 0; i < 60; i++) pass(usual);
    expect(refusal(usual)).toMatchObject({ kind: 'rate_limited' });
  });

  it('[LIMIT-2] the minute slides: a start counts while it is less than 60 s old, whatever the clock shows', () => {
    vi.setSystemTime(Date.UTC(2026, 0, 1, 12, 0, 50));
    const limits = { ...usual, requestsPerMinute: 2 };
    pass(limits);
    vi.advanceTimersByTime(30_000);
    pass(limits);
    vi.advanceTimersByTime(28_000);
    expect(refusal(limits).retryAfterSeconds).toBe(2);
    vi.advanceTimersByTime(2_000);
    pass(limits);
    expect(refusal(limits).retryAfterSeconds).toBe(30);
    vi.advanceTimersByTime(30_000);
    pass(limits);
  });

  it.each([0, 1, 400, 999, 1_000, 1_001, 30_000, 58_500])(
    '[LIMIT-3] [LIMIT-4] %i ms after a full minute began, Retry-After is 1 to 59 and a request after it is let in',
    async (laterMs) => {
      for (let i = 0; i < 60; i++) pass(usual);
      vi.advanceTimersByTime(laterMs);
      const { retryAfterSeconds = 0 } = refusal(usual);
      expect(Number.isInteger(retryAfterSeconds)).toBe(true);
      expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(retryAfterSeconds).toBeLessThanOrEqual(59);
      vi.advanceTimersByTime(retryAfterSeconds * 1000);
      const seen = watch(enter(usual));
      await vi.advanceTimersByTimeAsync(1_000);
      expect(seen.permit).toBeDefined();
    },
  );

  it('of many that come back a moment too early, as many wait as there will be room for', async () => {
    const limits = { ...usual, requestsPerMinute: 3 };
    for (let i = 0; i < 3; i++) pass(limits);
    vi.advanceTimersByTime(59_500);
    const early = [enter(limits), enter(limits), enter(limits)].map(watch);
    expect(refusal(limits).retryAfterSeconds).toBe(59);
    await vi.advanceTimersByTimeAsync(499);
    expect(early.filter(({ permit }) => permit !== undefined)).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(early.filter(({ permit }) => permit !== undefined)).toHaveLength(3);
  });

  it('[LIMIT-5] no refusal speaks of billing, a quota, a balance or a reset', async () => {
    const limits = { ...usual, requestsPerMinute: 2, concurrent: 1 };
    const held = enterNow(limits);
    const waiting = watch(enter(limits));
    const full = refusal(limits);
    await vi.advanceTimersByTimeAsync(limits.maxQueueWaitMs);
    held.release();
    for (const { message } of [full, waiting.error as GatewayError]) {
      expect(message).not.toMatch(/billing|quota|exhausted|credit|balance|reset/i);
      expect(message).toMatch(/try again in \d+ seconds?$/);
    }
  });

  it("[LIMIT-6] one model's limit does not touch another model of the same subscription", () => {
    for (let i = 0; i < 60; i++) pass(usual);
    refusal(usual);
    pass(usual, { model: 'other' });
  });

  it("[LIMIT-7] one subscription's limit does not touch another subscription", () => {
    for (let i = 0; i < 60; i++) pass(usual);
    refusal(usual);
    pass(usual, { subscription: 'sub_2' });
  });

  it('a refused request is not counted', () => {
    for (let i = 0; i < 60; i++) pass(usual);
    for (let i = 0; i < 1_000; i++) refusal(usual);
    vi.advanceTimersByTime(60_000);
    for (let i = 0; i < 60; i++) pass(usual);
  });

  it('a smaller or larger limit keeps the history', () => {
    for (let i = 0; i < 10; i++) pass({ ...usual, requestsPerMinute: 10 });
    vi.advanceTimersByTime(10_000);
    expect(refusal({ ...usual, requestsPerMinute: 5 }).retryAfterSeconds).toBe(50);
    pass({ ...usual, requestsPerMinute: 11 });
    expect(refusal({ ...usual, requestsPerMinute: 11 }).retryAfterSeconds).toBe(50);
    vi.advanceTimersByTime(50_000);
    for (let i = 0; i < 4; i++) pass({ ...usual, requestsPerMinute: 5 });
    expect(refusal({ ...usual, requestsPerMinute: 5 }).retryAfterSeconds).toBe(10);
  });

  it('1,000 requests against 60 a minute: exactly 60 begin in any 60 seconds, and none is lost', async () => {
    const starts: number[] = [];
    const limits = { ...usual, concurrent: 8 };
    let refused = 0;
    // One every 250 ms over more than four minutes; each runs for 300 to 5,000 ms.
    for (let i = 0; i < 1_000; i++) {
      try {
        const entered = Promise.resolve(enter(limits));
        const run = async () => {
          const permit = await entered;
          starts.push(Date.now());
          setTimeout(() => permit.release(), 300 + ((i * 977) % 4_700));
        };
        run().catch(() => {});
      } catch {
        refused++;
      }
      await vi.advanceTimersByTimeAsync(250);
    }
    await vi.advanceTimersByTimeAsync(30_000);
    expect(starts.length + refused).toBe(1_000);
    const inWindow = (from: number) => starts.filter((at) => at >= from && at < from + 60_000).length;
    const most = Math.max(...starts.map(inWindow));
    expect(most).toBe(60);
    // As long as there are requests enough, every minute is used in full.
    expect(inWindow(starts[0]!)).toBe(60);
    expect(starts.length).toBeGreaterThanOrEqual(4 * 60);
  });

  it('1,000 at once against 60 a minute: 60 run, the others are refused at once', async () => {
    let passed = 0;
    let refused = 0;
    for (let i = 0; i < 1_000; i++) {
      try {
        void Promise.resolve(enter(usual)).then(
          (permit) => {
            passed++;
            permit.release();
          },
          () => {},
        );
      } catch {
        refused++;
      }
    }
    await vi.advanceTimersByTimeAsync(59_000);
    expect([passed, refused]).toEqual([60, 940]);
  });
});

describe('the slots', () => {
  it('[LIMIT-8] a request over the concurrency cap waits its turn and then succeeds', async () => {
    const held = Array.from({ length: 8 }, () => enterNow(usual));
    const ninth = watch(enter(usual));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(ninth.permit).toBeUndefined();
    held[3]?.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(ninth.permit).toBeDefined();
  });

  it('[LIMIT-9] a request that waited too long is refused with Retry-After, and waits no longer', async () => {
    const limits = { ...usual, concurrent: 1 };
    const held = enterNow(limits);
    const late = watch(enter(limits));
    await vi.advanceTimersByTimeAsync(19_999);
    expect(late.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(late.error).toMatchObject({ kind: 'rate_limited', retryAfterSeconds: expect.any(Number) });
    held.release();
    // The slot was not spent on the one that had left.
    pass(limits);
  });

  it('after a wait in vain, Retry-After grows with the line and with how long requests run', async () => {
    const limits = { ...usual, concurrent: 1, maxQueueWaitMs: 100 };
    const first = enterNow(limits);
    vi.advanceTimersByTime(4_000);
    first.release();
    const held = enterNow(limits);
    const line = [enter(limits), enter(limits), enter(limits)].map(watch);
    await vi.advanceTimersByTimeAsync(100);
    held.release();
    expect(line.map(({ error }) => (error as GatewayError).retryAfterSeconds)).toEqual([12, 8, 4]);
  });

  it('[LIMIT-10] a slot is given back once, however often it is returned', async () => {
    const limits = { ...usual, concurrent: 1 };
    const permit = enterNow(limits);
    permit.release();
    permit.release();
    const held = enterNow(limits);
    permit.release();
    const waiting = watch(enter(limits));
    await vi.advanceTimersByTimeAsync(0);
    expect(waiting.permit).toBeUndefined();
    held.release();
  });

  it('[LIMIT-10] a client that leaves the line leaves it at once, and its place in the minute with it', async () => {
    const limits = { ...usual, requestsPerMinute: 2, concurrent: 1 };
    const held = enterNow(limits);
    const client = new AbortController();
    const left = watch(enter(limits, { signal: client.signal }));
    expect(refusal(limits)).toMatchObject({ kind: 'rate_limited' });
    client.abort(new Error('the client left'));
    await vi.advanceTimersByTimeAsync(0);
    expect(left.error).toMatchObject({ message: 'the client left' });
    const next = watch(enter(limits));
    held.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(next.permit).toBeDefined();
  });

  it('a client that has left already does not join the line', async () => {
    const limits = { ...usual, concurrent: 1 };
    const held = enterNow(limits);
    const gone = watch(enter(limits, { signal: AbortSignal.abort(new Error('gone')) }));
    await vi.advanceTimersByTimeAsync(0);
    expect(gone.error).toMatchObject({ message: 'gone' });
    held.release();
  });

  it('[LIMIT-11] 60 a minute and 8 running: the ninth of nine at once waits, the 61st of a minute is refused', () => {
    const held = Array.from({ length: 8 }, () => enterNow(usual));
    expect(enter(usual)).toBeInstanceOf(Promise);
    for (const permit of held) permit.release();
    for (let i = 9; i < 60; i++) enter(usual);
    refusal(usual);
  });

  it('200 at once against 8 running: never more than 8, every one answered, first in first out', async () => {
    const limits = { ...usual, requestsPerMinute: 1_000 };
    const order: number[] = [];
    let running = 0;
    let most = 0;
    let ended = 0;
    for (let i = 0; i < 200; i++) {
      void Promise.resolve(enter(limits)).then((permit) => {
        order.push(i);
        most = Math.max(most, ++running);
        setTimeout(
          () => {
            running--;
            ended++;
            permit.release();
          },
          50 + ((i * 37) % 400),
        );
      });
    }
    await vi.advanceTimersByTimeAsync(20_000);
    expect(most).toBe(8);
    expect(ended).toBe(200);
    expect(order).toEqual(Array.from({ length: 200 }, (_, i) => i));
  });

  it('nobody overtakes the line', async () => {
    const limits = { ...usual, concurrent: 1 };
    const held = enterNow(limits);
    const first = watch(enter(limits));
    held.release();
    const second = watch(enter(limits));
    await vi.advanceTimersByTimeAsync(0);
    expect([first.permit !== undefined, second.permit !== undefined]).toEqual([true, false]);
    first.permit?.release();
  });

  it('more slots after a reload serve the line', async () => {
    const held = enterNow({ ...usual, concurrent: 1 });
    const waiting = watch(enter({ ...usual, concurrent: 1 }));
    const late = watch(enter({ ...usual, concurrent: 3 }));
    await vi.advanceTimersByTimeAsync(0);
    expect([waiting.permit !== undefined, late.permit !== undefined]).toEqual([true, true]);
    held.release();
  });

  it('[AUTH-20] two keys of one subscription share one limit: it is asked for by subscription alone', () => {
    const limits = { ...usual, requestsPerMinute: 2 };
    pass(limits, { subscription: 'sub_1' });
    pass(limits, { subscription: 'sub_1' });
    refusal(limits, { subscription: 'sub_1' });
  });

  it('closing refuses who waits, with 503', async () => {
    const limits = { ...usual, concurrent: 1 };
    const held = enterNow(limits);
    const waiting = watch(enter(limits));
    await admission.close();
    expect(waiting.error).toMatchObject({ kind: 'overloaded' });
    held.release();
  });
});

describe('what is told', () => {
  it('the limit, what remains of it, and when the whole of it is free again', async () => {
    const limits = { ...usual, requestsPerMinute: 3, concurrent: 1 };
    expect(admission.rate('sub_1', 'm', limits)).toEqual({ limit: 3, remaining: 3, resetMs: 0 });
    const first = enterNow(limits);
    expect(first.rate).toEqual({ limit: 3, remaining: 2, resetMs: 60_000 });
    const second = watch(enter(limits));
    // Whoever waits has its place already.
    expect(admission.rate('sub_1', 'm', limits)).toMatchObject({ remaining: 1 });
    first.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(second.permit?.rate).toEqual({ limit: 3, remaining: 1, resetMs: 60_000 });
    second.permit?.release();
    vi.advanceTimersByTime(20_000);
    expect(admission.rate('sub_1', 'm', limits)).toEqual({ limit: 3, remaining: 1, resetMs: 40_000 });
  });
});

describe('memory', () => {
  it('what was silent for a minute is forgotten, and with the last of it the timer', async () => {
    for (let i = 0; i < 1_000; i++) pass(usual, { subscription: `sub_${i}`, model: `m${i % 7}` });
    const held = enterNow(usual, { subscription: 'busy' });
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(180_000);
    expect(vi.getTimerCount()).toBe(1);
    held.release();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a waiting request that ended leaves neither a timer nor a listener', async () => {
    const limits = { ...usual, concurrent: 1 };
    const client = new AbortController();
    const added = vi.spyOn(client.signal, 'addEventListener');
    const removed = vi.spyOn(client.signal, 'removeEventListener');
    const held = enterNow(limits);
    const waiting = watch(enter(limits, { signal: client.signal }));
    expect(vi.getTimerCount()).toBe(2);
    held.release();
    await vi.advanceTimersByTimeAsync(0);
    waiting.permit?.release();
    expect(vi.getTimerCount()).toBe(1);
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  });
});
