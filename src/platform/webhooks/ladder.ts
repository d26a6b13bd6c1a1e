/** When a delivery that failed is tried again. Pure. */
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** "up to five more times, after 30 seconds, 2 minutes, 10 minutes, 1 hour and 6 hours" */
const waitsMs = [30 * secondMs, 2 * minuteMs, 10 * minuteMs, hourMs, 6 * hourMs];

/** Undefined: it is given up. `attempts` counts the one that has just failed. */
export function nextAttemptAt(attempts: number, failedAt: number): number | undefined {
  const waitMs = waitsMs[attempts - 1];
  return waitMs === undefined ? undefined : failedAt + waitMs;
}
