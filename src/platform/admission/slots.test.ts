import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSlots } from './slots.ts';
import type { Release, Slots } from './types.ts';

const never = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

function enterNow(slots: Slots, subscriptionId = 'a'): Release {
  const release = slots.enter(subscriptionId, never);
  if (release instanceof Promise) throw new Error('it had to wait');
  return release;
}

const microtasks = () => vi.advanceTimersByTimeAsync(0);

describe("an engine's slots", () => {
  it('are given at once while there are any', () => {
    const slots = createSlots(2);
    enterNow(slots);
    const release = enterNow(slots);
    expect(slots.enter('a', never)).toBeInstanceOf(Promise);
    expect([slots.running, slots.waiting]).toEqual([2, 1]);
    release();
  });

  it('go round between subscriptions, first in first out within one', async () => {
    const slots = createSlots(1);
    let release = enterNow(slots);
    const served: string[] = [];
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) {
      void Promise.resolve(slots.enter(name.charAt(0), never)).then((next) => {
        served.push(name);
        release = next;
      });
    }
    for (let i = 0; i < 7; i++) {
      release();
      await microtasks();
    }
    expect(served).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
    release();
    expect([slots.running, slots.waiting]).toEqual([0, 0]);
  });

  it('a late subscription waits for one request of a busy one, not for all of them', async () => {
    const slots = createSlots(1);
    let release = enterNow(slots, 'busy');
    const served: string[] = [];
    const ask = (name: string) =>
      void Promise.resolve(slots.enter(name, never)).then(
        (next) => {
          served.push(name);
          release = next;
        },
        () => {},
      );
    for (let i = 0; i < 1_000; i++) ask('busy');
    ask('late');
    release();
    await microtasks();
    release();
    await microtasks();
    expect(served).toEqual(['busy', 'late']);
    slots.refuseAll(new Error('over'));
  });

  it('who leaves is passed over, and an empty line is forgotten', async () => {
    const slots = createSlots(1);
    const release = enterNow(slots);
    const client = new AbortController();
    const left = Promise.resolve(slots.enter('b', client.signal)).catch((error: Error) => error.message);
    const next = Promise.resolve(slots.enter('c', never));
    client.abort(new Error('left'));
    expect(await left).toBe('left');
    expect(slots.waiting).toBe(1);
    release();
    (await next)();
    expect([slots.running, slots.waiting]).toEqual([0, 0]);
  });

  it('who waits longer than it may is refused with Retry-After', async () => {
    const slots = createSlots(1);
    const release = enterNow(slots);
    const late = Promise.resolve(slots.enter('b', never, 500)).catch((error) => error);
    await vi.advanceTimersByTimeAsync(500);
    expect(await late).toMatchObject({ kind: 'rate_limited', retryAfterSeconds: 1 });
    release();
    enterNow(slots)();
  });

  it('returning twice frees one', () => {
    const slots = createSlots(1);
    const release = enterNow(slots);
    release();
    enterNow(slots);
    release();
    expect(slots.running).toBe(1);
  });

  it('more of them serve the line, fewer take effect as requests end', async () => {
    const slots = createSlots(1);
    const first = enterNow(slots);
    const second = Promise.resolve(slots.enter('b', never));
    slots.resize(2);
    const release = await second;
    slots.resize(1);
    const third = vi.fn();
    void Promise.resolve(slots.enter('c', never)).then(third);
    first();
    await microtasks();
    expect(third).not.toHaveBeenCalled();
    release();
    await microtasks();
    expect(third).toHaveBeenCalled();
  });
});
