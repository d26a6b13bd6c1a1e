import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Deadline, Wheel } from './wheel.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function deadline(): Deadline & { expired: number } {
  return {
    dueAt: 0,
    slot: -1,
    expired: 0,
    expire() {
      this.expired += 1;
    },
  };
}

describe('a wheel', () => {
  it('expires a deadline once, never early and at most two ticks late', () => {
    const wheel = new Wheel({ tickMs: 100 });
    const one = deadline();
    wheel.add(one, 1_000);
    vi.advanceTimersByTime(999);
    expect(one.expired).toBe(0);
    vi.advanceTimersByTime(201);
    expect(one.expired).toBe(1);
    vi.advanceTimersByTime(5_000);
    expect(one.expired).toBe(1);
  });

  it('follows a deadline that is moved, and forgets one that is removed', () => {
    const wheel = new Wheel({ tickMs: 100 });
    const [moved, removed] = [deadline(), deadline()];
    wheel.add(moved, 1_000);
    wheel.add(removed, 1_000);
    vi.advanceTimersByTime(900);
    moved.dueAt = wheel.after(1_000);
    wheel.remove(removed);
    wheel.remove(removed);
    vi.advanceTimersByTime(900);
    expect([moved.expired, removed.expired]).toEqual([0, 0]);
    vi.advanceTimersByTime(400);
    expect([moved.expired, removed.expired]).toEqual([1, 0]);
  });

  it('turns only while something waits', () => {
    const wheel = new Wheel({ tickMs: 100 });
    expect(vi.getTimerCount()).toBe(0);
    const one = deadline();
    wheel.add(one, 10_000);
    expect(vi.getTimerCount()).toBe(1);
    wheel.remove(one);
    vi.advanceTimersByTime(100);
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(60_000);
    wheel.add(one, 1_000);
    vi.advanceTimersByTime(900);
    expect(one.expired, 'the time that passed while it stood still is not counted').toBe(0);
    wheel.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('uses its places again', () => {
    const wheel = new Wheel();
    const [a, b, c] = [deadline(), deadline(), deadline()];
    wheel.add(a, 1);
    wheel.add(b, 1);
    wheel.remove(a);
    wheel.add(c, 1);
    expect([c.slot, b.slot, wheel.size]).toEqual([0, 1, 2]);
    wheel.close();
  });
});
