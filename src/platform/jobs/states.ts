/**
 * The states of a job and the moves between them. Pure.
 *
 *   (new) ──create──▶ pending ──start──▶ in_progress ──finish──▶ completed ──expire──▶ expired
 *                        │                │  │  ▲ │
 *                        │                │  │  └─┘ retry: another attempt, the same state
 *                        ├──fail──────────┼──┴─────────▶ failed
 *                        └──cancel────────┴────────────▶ cancelled
 *
 *   completed, failed, cancelled, expired ──delete──▶ deleted (the record is gone)
 *
 * Only a completed job is billed, and only completed ones expire. From an ended state nothing leads back. DELETE
 * cancels what has not ended and deletes what has: see `removalOf`.
 */
export type JobStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'expired';

export type JobEvent = 'start' | 'retry' | 'finish' | 'fail' | 'cancel' | 'expire' | 'delete';

export const jobStatuses = ['pending', 'in_progress', 'completed', 'failed', 'cancelled', 'expired'] as const;

const moves: Readonly<Record<JobStatus, Readonly<Partial<Record<JobEvent, JobStatus | 'deleted'>>>>> = {
  pending: { start: 'in_progress', fail: 'failed', cancel: 'cancelled' },
  in_progress: { retry: 'in_progress', finish: 'completed', fail: 'failed', cancel: 'cancelled' },
  completed: { expire: 'expired', delete: 'deleted' },
  failed: { delete: 'deleted' },
  cancelled: { delete: 'deleted' },
  expired: { delete: 'deleted' },
};

export function nextStatus(from: JobStatus, event: JobEvent): JobStatus | 'deleted' | undefined {
  return moves[from][event];
}

export function canMove(from: JobStatus, event: JobEvent): boolean {
  return nextStatus(from, event) !== undefined;
}

export function hasEnded(status: JobStatus): boolean {
  return !canMove(status, 'cancel');
}

/** What DELETE does to a job in this state. */
export function removalOf(status: JobStatus): 'cancel' | 'delete' {
  return hasEnded(status) ? 'delete' : 'cancel';
}
