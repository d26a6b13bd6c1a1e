/**
 * Leases the files that wait and works at a few of them at once. Subscriptions take turns, a large file is worked at in
 * slices, and one lane is kept for small files, so that nobody's large files hold up another's small ones. A file whose
 * process died is taken over when its lease is over. With the database down nothing is leased; without embeddings files
 * wait as they are.
 */
import { randomBytes } from 'node:crypto';
import type { Timers } from '../../jobs/timers.ts';
import { type Run, type RunParts, startRun } from './run.ts';

export interface IngestParts
  extends Pick<RunParts, 'store' | 'objects' | 'cutter' | 'embedBatch' | 'now' | 'log'> {
  timers: Timers;
  limits?: Partial<IngestLimits>;
}

export interface IngestLimits {
  /** One for each file that is worked at here at once, with the most bytes that it may have. */
  lanes: readonly { readonly maxBytes?: number }[];
  sliceMs: number;
  batchItems: number;
}

export interface Ingest {
  start(): void;
  /** A file has been added. */
  wake(): void;
  /** Stops what runs here and gives it back. */
  close(): Promise<void>;
}

const leaseMs = 30_000;
const heartbeatEveryMs = 10_000;
/** New files of this process are told; this is for those of others, for dead processes and the ends of back-offs. */
const claimEveryMs = 2_000;
/** A run that does not stop keeps nobody else from the file for longer. */
const closeWaitMs = 10_000;
const smallBytes = 1_000_000;
const defaults: IngestLimits = {
  // Small files try the small lane first.
  lanes: [{ maxBytes: smallBytes }, {}, {}],
  sliceMs: 5_000,
  batchItems: 32,
};

export function createIngest({ timers, limits, ...given }: IngestParts): Ingest {
  const { lanes, sliceMs, batchItems } = { ...defaults, ...limits };
  const workerId = `ingest_${randomBytes(8).toString('hex')}`;
  const parts: RunParts = { ...given, workerId, sliceMs, batchItems, waits: new Map() };
  const { store, now, log } = parts;
  const runs = new Map<IngestLimits['lanes'][number], Run>();
  /** Those that were served, longest ago first. */
  let served: string[] = [];
  let isStarted = false;
  let isClosed = false;
  let isWanted = false;
  let claiming: Promise<void> | undefined;
  let stopTimers: (() => void)[] = [];

  /** One round at a time; what is asked for meanwhile is one more round. Never rejects. */
  function claim(): Promise<void> {
    isWanted = true;
    claiming ??= claimUntilDone();
    return claiming;
  }

  async function claimUntilDone(): Promise<void> {
    while (isWanted && !isClosed) {
      isWanted = false;
      try {
        await claimAll();
      } catch (error) {
        log.warn({ err: error }, 'no files could be leased');
      }
    }
    claiming = undefined;
  }

  async function claimAll(): Promise<void> {
    for (const lane of lanes) {
      if (runs.has(lane)) continue;
      const waiting = await store.waitingSubscriptions(now());
      if (waiting.length === 0) return;
      const isServed = new Set(served);
      const isWaiting = new Set(waiting);
      // Who was never served comes first.
      const inTurn = [
        ...waiting.filter((id) => !isServed.has(id)),
        ...served.filter((id) => isWaiting.has(id)),
      ];
      served = served.filter((id) => isWaiting.has(id));
      for (const subscriptionId of inTurn) if (isClosed || (await fill(lane, subscriptionId))) break;
    }
  }

  async function fill(lane: IngestLimits['lanes'][number], subscriptionId: string): Promise<boolean> {
    const at = now();
    const { maxBytes } = lane;
    const asked = { workerId, subscriptionId, now: at, leaseUntil: at + leaseMs, maxBytes };
    const file = await store.leaseFile(asked);
    // After a sleep of the machine every lease is over: what still runs here is not taken over from ourselves.
    const isOurs = file !== undefined && [...runs.values()].some(({ fileId }) => fileId === file.id);
    if (file === undefined || isOurs) return false;
    served = [...served.filter((id) => id !== subscriptionId), subscriptionId];
    const run = startRun(parts, file);
    runs.set(lane, run);
    void run.ended.then(() => {
      runs.delete(lane);
      if (!isClosed) void claim();
    });
    return true;
  }

  async function beat(): Promise<void> {
    const held = [...runs.values()];
    if (held.length === 0) return;
    try {
      const ids = held.map(({ fileId }) => fileId);
      const still = new Set(await store.renewLeases(workerId, ids, now() + leaseMs));
      for (const run of held) if (!still.has(run.fileId)) run.stop('lost');
    } catch (error) {
      log.warn({ err: error }, 'leases of files were not renewed');
    }
  }

  return {
    start() {
      if (isStarted || isClosed) return;
      isStarted = true;
      stopTimers = [
        timers.every('heartbeat', heartbeatEveryMs, beat),
        timers.every('claim', claimEveryMs, claim),
      ];
      void claim();
    },
    wake() {
      if (isStarted && !isClosed) void claim();
    },
    async close() {
      isClosed = true;
      for (const stopTimer of stopTimers) stopTimer();
      await claiming;
      for (const run of runs.values()) run.stop('closing');
      const over = new AbortController();
      const all = Promise.all([...runs.values()].map(({ ended }) => ended));
      await Promise.race([all, timers.pause(closeWaitMs, over.signal).catch(() => {})]);
      over.abort();
      if (runs.size > 0) log.warn({ files: runs.size }, 'files did not stop: their leases run out');
    },
  };
}
