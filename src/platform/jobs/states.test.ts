import { describe, expect, it } from 'vitest';
import { canMove, hasEnded, type JobEvent, jobStatuses, nextStatus, removalOf } from './states.ts';

const events: readonly JobEvent[] = ['start', 'retry', 'finish', 'fail', 'cancel', 'expire', 'delete'];

describe('the states of a job', () => {
  it('[JOB-1] are these six', () => {
    expect(jobStatuses).toEqual(['pending', 'in_progress', 'completed', 'failed', 'cancelled', 'expired']);
  });

  it('[JOB-4] [JOB-5] [JOB-6] [JOB-7] [JOB-20] [JOB-23] [JOB-24] [JOB-25] change as the table says and in no other way', () => {
    const table = jobStatuses.map((from) => [
      from,
      Object.fromEntries(
        events.flatMap((event) => (canMove(from, event) ? [[event, nextStatus(from, event)]] : [])),
      ),
    ]);
    expect(Object.fromEntries(table)).toEqual({
      pending: { start: 'in_progress', fail: 'failed', cancel: 'cancelled' },
      in_progress: { retry: 'in_progress', finish: 'completed', fail: 'failed', cancel: 'cancelled' },
      completed: { expire: 'expired', delete: 'deleted' },
      failed: { delete: 'deleted' },
      cancelled: { delete: 'deleted' },
      expired: { delete: 'deleted' },
    });
  });

  it('[JOB-14] [JOB-15] [JOB-19] [JOB-20] DELETE cancels what has not ended and deletes what has', () => {
    expect(jobStatuses.map((status) => [status, removalOf(status)])).toEqual([
      ['pending', 'cancel'],
      ['in_progress', 'cancel'],
      ['completed', 'delete'],
      ['failed', 'delete'],
      ['cancelled', 'delete'],
      ['expired', 'delete'],
    ]);
    expect(jobStatuses.filter(hasEnded)).toEqual(['completed', 'failed', 'cancelled', 'expired']);
  });
});
