/** Renews the leases of the claims that this process runs, as long as there are any. */
import type { Log } from '../../lib/log.ts';
import type { Database } from '../../storage/database.ts';
import { type ClaimRow, renewLeases } from './store.ts';

export const leaseMs = 30_000;
const heartbeatMs = 10_000;

export interface Leases {
  add(claim: ClaimRow): void;
  remove(claim: ClaimRow): void;
  /** What is left runs out by itself. */
  close(): Promise<void>;
}

export function createLeases(parts: { database: Database; now: () => number; log: Log }): Leases {
  const { database, now, log } = parts;
  const held = new Set<ClaimRow>();
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();

  /** Never rejects: two beats may be missed before a lease is over. */
  async function beat(): Promise<void> {
    try {
      await renewLeases(database, [...held], now() + leaseMs);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason, claims: held.size }, 'leases of idempotency keys could not be renewed');
    }
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    add(claim) {
      held.add(claim);
      timer ??= setInterval(() => {
        beating = beating.then(beat);
      }, heartbeatMs).unref();
    },

    remove(claim) {
      held.delete(claim);
      if (held.size === 0) stop();
    },

    async close() {
      stop();
      await beating;
    },
  };
}
