/**
 * Reads what was used from the daily sums. What this process has taken and not written yet is written first, so
 * an operation is in the numbers as soon as it was answered. Store down: 503.
 */
import { GatewayError } from '../../lib/errors.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import { findRow, selectByDayAndModel, selectGroups, selectSpent, selectTotal } from './store.ts';
import type { Usage } from './types.ts';
import { dayMs, toDay } from './usage-totals.ts';

export interface UsageParts {
  database: Database;
  now: () => number;
  settle: () => Promise<void>;
}

export function createUsage({ database, now, settle }: UsageParts): Usage {
  async function read<T>(work: () => Promise<T>): Promise<T> {
    try {
      await settle();
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      throw new GatewayError('overloaded', 'Usage cannot be read at the moment; try again', { cause: error });
    }
  }

  return {
    spent: (subscriptionId) => read(() => selectSpent(database, subscriptionId, periodStarts(now()))),
    byDayAndModel: (subscriptionId, range) =>
      read(() => selectByDayAndModel(database, subscriptionId, range)),
    grouped: (request) =>
      read(async () => {
        const groups = await selectGroups(database, { ...request, limit: request.limit + 1 });
        const total = await selectTotal(database, request);
        return { groups: groups.slice(0, request.limit), total, hasMore: groups.length > request.limit };
      }),
    generation: (subscriptionId, id) => read(() => findRow(database, subscriptionId, id)),
    today: (daysBefore = 0) => toDay(now() - daysBefore * dayMs),
  };
}

/** The first day of the current day, week and month in UTC; a week begins on Monday. */
export function periodStarts(now: number): { day: string; week: string; month: string } {
  const day = toDay(now);
  const daysSinceMonday = (new Date(now).getUTCDay() + 6) % 7;
  return { day, week: toDay(now - daysSinceMonday * dayMs), month: `${day.slice(0, 7)}-01` };
}
