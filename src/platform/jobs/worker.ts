/**
 * Leases jobs and runs them: of each model first in, first out, as many at once over all processes as the model has
 * slots, so that a busy model holds up no other. A job whose process died is taken over. With the database down nothing
 * is leased, and runs go on until their lease is over.
 */
import assert from 'node:assert';
import type { Catalog } from '../catalog/index.ts';
import { channels } from './channels.ts';
import { maxFailures } from './failure.ts';
import type { Lease } from './row.ts';
import { type Run, type RunParts, startRun } from './run.ts';
import * as store from './store.ts';
import type { JobKind } from './types.ts';

export interface WorkerParts extends RunParts {
  kinds: readonly JobKind[];
}

export interface Worker {
  /** Begins to lease. */
  start(): void;
  /** Stops what runs here and gives it back. */
  close(): Promise<void>;
  readonly runs: ReadonlySet<Run>;
}

const heartbeatEveryMs = 10_000;
/** New jobs and free slots are told; this is for what nobody tells: dead processes, and the ends of back-offs. */
const claimEveryMs = 2_000;
const defaultSlots = 2;
/** A run that does not stop keeps nobody else from the job for longer. */
const closeWaitMs = 10_000;

export function createWorker(parts: WorkerParts): Worker {
  const { database, catalog, endings, objects, kinds, now, log, timers, workerId, leaseMs } = parts;
  const kindNames = kinds.map(({ kind }) => kind);
  const runs = new Set<Run>();
  let isStarted = false;
  let isClosed = false;
  let isWanted = false;
  let claiming: Promise<void> | undefined;
  let rounding: Promise<void> | undefined;
  let stopTimers: (() => void)[] = [];
  let stopListening: (() => Promise<void>)[] = [];

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
        log.warn({ err: error }, 'no jobs could be leased');
      }
    }
    claiming = undefined;
  }

  async function claimAll(): Promise<void> {
    if (kindNames.length === 0) return;
    // After a sleep of the machine every lease is over: what still runs here is not taken over from ourselves.
    await Promise.all([...runs].filter((run) => run.isLapsed()).map((run) => run.beat()));
    while (!isClosed) {
      const asked = { kinds: kindNames, workerId, now: now(), leaseUntil: now() + leaseMs };
      const lease = await store.claimAbandoned(database, database.dialect, asked);
      if (lease === undefined) break;
      if (lease.failures < maxFailures) begin(lease);
      else await giveUp(lease);
    }
    for (const { kind, modelId } of await store.selectWaitingModels(database)) {
      if (!kindNames.includes(kind)) continue;
      const slots = slotsOf(catalog, kind, modelId);
      while (!isClosed && (await startNext(modelId, slots)));
    }
  }

  /** Whether there may be another one to start. */
  async function startNext(modelId: string, slots: number): Promise<boolean> {
    const head = await store.findHead(database, modelId);
    if (head === undefined) return false;
    if (!(await hasInputs(head.inputKeys))) {
      const error = 'An input of the job is gone';
      await endings.failPending(head.id, { error, errorCode: 'invalid_media' });
      return true;
    }
    const lease = await database.transaction(async (tx) => {
      await store.takeTurn(tx, database.dialect, modelId);
      const at = now();
      const asked = { modelId, slots, workerId, now: at, leaseUntil: at + leaseMs };
      return store.claimPending(tx, database.dialect, asked);
    });
    if (lease !== undefined) begin(lease);
    return lease !== undefined;
  }

  async function hasInputs(keys: readonly string[]): Promise<boolean> {
    for (const key of keys) if ((await objects.find(key)) === undefined) return false;
    return true;
  }

  async function giveUp({ job }: Lease): Promise<void> {
    log.error({ job: job.id, model: job.modelId, attempt: job.attempt }, 'a job was interrupted too often');
    const error = `The render was interrupted ${maxFailures} times`;
    await endings.fail({ id: job.id, workerId, attempt: job.attempt }, { error, errorCode: 'server' });
  }

  function begin(lease: Lease): void {
    const kind = kinds.find((candidate) => candidate.kind === lease.job.kind);
    assert(kind !== undefined, 'only jobs of known kinds are leased');
    const run = startRun(parts, kind, lease);
    runs.add(run);
    void run.ended.then(() => {
      runs.delete(run);
      if (isStarted && !isClosed) void claim();
    });
  }

  async function beatAll(): Promise<void> {
    await Promise.all([...runs].map((run) => run.beat()));
  }

  /** A database that cannot be reached now is asked again with the next round. */
  async function listen(): Promise<void> {
    if (stopListening.length > 0 || isClosed) return;
    const onCancelled = (id: string) => {
      for (const run of runs) if (run.jobId === id) run.stop('cancelled');
    };
    try {
      stopListening.push(
        await database.listen(channels.cancelled, onCancelled, () => void beatAll()),
        await database.listen(
          channels.waiting,
          () => void claim(),
          () => void claim(),
        ),
      );
    } catch (error) {
      log.warn({ err: error }, 'jobs are not listened for');
    }
  }

  function round(): Promise<void> {
    rounding ??= listen()
      .then(claim)
      .finally(() => {
        rounding = undefined;
      });
    return rounding;
  }

  return {
    runs,
    start() {
      if (isStarted || isClosed) return;
      isStarted = true;
      stopTimers = [
        timers.every('heartbeat', heartbeatEveryMs, beatAll),
        timers.every('claim', claimEveryMs, round),
      ];
      void round();
    },
    async close() {
      isClosed = true;
      for (const stopTimer of stopTimers) stopTimer();
      await rounding;
      await claiming;
      for (const run of runs) run.stop('closing');
      const over = new AbortController();
      const all = Promise.all([...runs].map(({ ended }) => ended));
      const tooLong = timers.pause(closeWaitMs, over.signal).catch(() => {});
      await Promise.race([all, tooLong]);
      over.abort();
      if (runs.size > 0) log.warn({ runs: runs.size }, 'jobs did not stop: their leases run out');
      for (const stop of stopListening) await stop();
      stopListening = [];
    },
  };
}

/** What the model says now; one that is gone fails its jobs, a few at a time. */
function slotsOf(catalog: Catalog, kind: JobKind['kind'], modelId: string): number {
  try {
    return catalog.resolve(kind, modelId).model.slots ?? defaultSlots;
  } catch {
    return defaultSlots;
  }
}
