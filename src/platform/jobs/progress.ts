/** How far a job is, as a client reads it. Pure: of times that never change back, so it cannot fall. */
import type { JobStatus } from './states.ts';

export interface ProgressFacts {
  readonly status: JobStatus;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly expectedMs: number;
  /** The highest that an engine has told, 0 to 99. */
  readonly told: number;
}

/** Who reads while an ending is written has a later clock than the one who writes it. */
const slackMs = 5_000;
const highest = 99;

/** Counted from the first start, over all attempts: a retry starts over, what is shown does not. */
export function toProgress(
  { status, startedAt, endedAt, expectedMs, told }: ProgressFacts,
  now: number,
): number {
  if (status === 'completed' || status === 'expired') return 100;
  if (startedAt === undefined) return 0;
  const until = status === 'in_progress' ? now : (endedAt ?? now) + slackMs;
  return Math.max(told, estimate(until - startedAt, expectedMs));
}

/** 79 when the expected time is over, 95 after twice that, and never the end: nobody can know that it is near. */
export function estimate(elapsedMs: number, expectedMs: number): number {
  if (elapsedMs <= 0) return 0;
  return Math.floor(highest * (1 - Math.exp((-1.6 * elapsedMs) / Math.max(1, expectedMs))));
}

/** What an engine tells, as it is kept. */
export function toTold(fraction: number): number {
  if (!(fraction > 0)) return 0;
  return Math.min(highest, Math.floor(fraction * 100));
}
