/** What admission promises: who may start now, who waits, and who is told to come back later. */
import type { Leaving } from '../../lib/presence.ts';

/** The limits of one subscription on one model. */
export interface Limits {
  readonly requestsPerMinute: number;
  /** Running at once. */
  readonly concurrent: number;
  /** How long a request may wait for a slot before it is refused. */
  readonly maxQueueWaitMs: number;
}

/** The state of the minute after a request was counted, for the rate-limit headers. */
export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  /** Until the minute has its full room again. */
  readonly resetMs: number;
}

/** The right to run one request. Whoever holds it gives it back exactly once, in `finally`. */
export interface Permit {
  readonly rate: RateState;
  release(): void;
}

export interface Admission {
  /**
   * Counts the request and takes a slot. Answers at once when there is room, else a promise: first in, first
   * out within a subscription. Throws or rejects with `rate_limited` (and `retryAfterSeconds`) when the minute
   * is full or the wait too long, and with the signal's reason when the client leaves the line.
   */
  enter(subscriptionId: string, modelId: string, limits: Limits, signal: Leaving): Permit | Promise<Permit>;
  /** The state of the minute without counting anything: for the headers of a refusal. */
  rate(subscriptionId: string, modelId: string, limits: Limits): RateState;
  /** Who still waits is refused with `overloaded`; permits that are out may still be given back. */
  close(): Promise<void>;
}

/** Gives a slot back. Calling it again does nothing. */
export type Release = () => void;

/** The places of one engine, shared by all subscriptions. */
export interface Slots {
  /** How many hold a slot. */
  readonly running: number;
  readonly waiting: number;
  /**
   * Takes a slot. Answers at once when one is free, else a promise: first in, first out within a subscription,
   * and in turn between subscriptions. Rejects with the signal's reason when the client leaves, and with
   * `rate_limited` after `maxWaitMs`, where it is given.
   */
  enter(subscriptionId: string, signal: Leaving, maxWaitMs?: number): Release | Promise<Release>;
  /** From now on there are this many. Who runs keeps its slot. */
  resize(count: number): void;
  /** Refuses everyone who waits. */
  refuseAll(error: Error): void;
}
