/**
 * The loop that empties the outbox: takes what is due, a few at once, and records how each attempt went.
 *
 *   waiting ── 2xx within 10 s ──────────────▶ delivered
 *      │  ▲
 *      │  └── anything else, up to five times: due again after 30 s, 2 min, 10 min, 1 h, 6 h
 *      └───── anything else, the sixth time ──▶ given_up         (sending again by hand leads back to waiting)
 *
 * A row is leased before it is sent, so that several processes can share the work. Who dies between sending and
 * recording leaves a lease that runs out: the delivery is sent again, with the same body and key.
 */
import { createId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import type { Attempt, Outcome } from './attempt.ts';
import { nextAttemptAt } from './ladder.ts';
import { type Leased, leaseDue, nextDueAt, recordAttempt, returnLease, type Told } from './outbox.ts';

/** Calls once, later; the answer takes it back. */
export type Schedule = (work: () => void, delayMs: number) => () => void;

export interface LoopParts {
  database: Database;
  attempt: Attempt;
  now: () => number;
  log: Log;
  schedule: Schedule;
  /** How long what is under way may go on after `close`. */
  closeGraceMs: number;
}

export interface DeliveryLoop {
  /** Something may be due. */
  wake(): void;
  /** Resolves when nothing is under way and nothing that is due can be begun. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const maxAtOnce = 8;
/** One receiver that hangs holds up its own deliveries, and no more than these of the places. */
const maxPerHost = 2;
/** The same for one subscription, however many hosts it names. */
const maxPerSubscription = 4;
/** Three times what an attempt may take: clocks of several machines differ. */
const leaseMs = 30_000;
/** After the store has failed. */
const retryMs = 5_000;
/** Also without any notification it is looked at as often as this. */
const longestWaitMs = 10 * 60_000;

export function createDeliveryLoop(parts: LoopParts): DeliveryLoop {
  const { database, attempt, now, log, schedule, closeGraceMs } = parts;
  const underWay = new Map<Leased, Promise<void>>();
  const stop = new AbortController();
  let isClosed = false;
  let isWanted = false;
  let filling: Promise<void> | undefined;
  let cancelTimer = () => {};

  function wake(): void {
    isWanted = true;
    if (!isClosed) filling ??= fill();
  }

  function wakeIn(delayMs: number): void {
    cancelTimer();
    cancelTimer = schedule(wake, Math.min(delayMs, longestWaitMs));
  }

  /** Never rejects. */
  async function fill(): Promise<void> {
    while (isWanted && !isClosed) {
      isWanted = false;
      try {
        await takeDue();
      } catch (error) {
        log.warn({ reason: toReason(error) }, 'webhook deliveries cannot be read at the moment');
        wakeIn(retryMs);
      }
    }
    filling = undefined;
  }

  async function takeDue(): Promise<void> {
    while (underWay.size < maxAtOnce && !isClosed) {
      const at = now();
      const leased = await leaseDue(database, {
        lease: createId('lease'),
        now: at,
        until: at + leaseMs,
        busyHosts: crowded(underWay.keys(), 'host', maxPerHost),
        busySubscriptions: crowded(underWay.keys(), 'subscriptionId', maxPerSubscription),
      });
      if (leased === undefined) {
        // What is due and was not taken is being sent by others, or waits for a place: its end wakes us.
        const nextAt = await nextDueAt(database, at);
        if (nextAt !== undefined) wakeIn(Math.max(0, nextAt - now()));
        return;
      }
      underWay.set(leased, run(leased));
    }
  }

  /** Never rejects: what cannot be recorded is sent again when its lease has run out. */
  async function run(leased: Leased): Promise<void> {
    try {
      // Begun in a later turn: by then it is counted among those under way.
      await Promise.resolve();
      const outcome = await attempt(leased, stop.signal);
      await recordAttempt(database, leased, toTold(leased, outcome));
    } catch (error) {
      if (stop.signal.aborted) await returnLease(database, leased, now()).catch(() => {});
      else
        log.warn(
          { delivery: leased.id, reason: toReason(error) },
          'webhook attempt could not be made or recorded',
        );
    }
    underWay.delete(leased);
    wake();
  }

  function toTold({ id, host, attempts }: Leased, { status, error }: Outcome): Told {
    const at = now();
    const made = attempts + 1;
    if (error === undefined) {
      log.info({ delivery: id, host, status, attempt: made }, 'webhook delivered');
      return told('delivered', { endedAt: at, lastStatus: status });
    }
    const nextAt = nextAttemptAt(made, at);
    const fields = { delivery: id, host, attempt: made, reason: error };
    if (nextAt === undefined) log.warn(fields, 'webhook given up');
    else log.info(fields, 'webhook not delivered, to be sent again');
    return nextAt === undefined
      ? told('given_up', { endedAt: at, lastStatus: status, lastError: error })
      : told('waiting', { nextAttemptAt: nextAt, lastStatus: status, lastError: error });
  }

  return {
    wake,
    async idle() {
      while (filling !== undefined || underWay.size > 0) await Promise.all([filling, ...underWay.values()]);
    },
    async close() {
      isClosed = true;
      await filling;
      cancelTimer();
      const cancel = schedule(() => stop.abort(new Error('the gateway is closing')), closeGraceMs);
      await Promise.all(underWay.values());
      cancel();
    },
  };
}

function told(status: Told['status'], more: Partial<Told>): Told {
  return {
    status,
    nextAttemptAt: undefined,
    lastStatus: undefined,
    lastError: undefined,
    endedAt: undefined,
    ...more,
  };
}

/** The names that stand there as often as they may. */
function crowded(all: Iterable<Leased>, key: 'host' | 'subscriptionId', most: number): string[] {
  const counts = new Map<string, number>();
  for (const leased of all) counts.set(leased[key], (counts.get(leased[key]) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= most).map(([name]) => name);
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
