/**
 * One leased job in this process, from the attempt to what becomes of it. The lease is renewed by heartbeats; when it
 * cannot be renewed in time, or the job was taken or cancelled, the run stops and leaves nothing behind. Whatever it
 * writes is guarded by its token, so a run that is wrong about its lease changes nothing.
 */
import { RenderHandedOver } from '../../engines/contract/render.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import type { Objects } from '../objects/types.ts';
import { type AttemptParts, attemptJob, type Outcome } from './attempt.ts';
import { channels } from './channels.ts';
import type { Endings } from './endings.ts';
import { isWorthAnotherAttempt, maxFailures, toBackoffMs, toJobError } from './failure.ts';
import { attemptOf } from './files.ts';
import { toTold } from './progress.ts';
import type { Lease } from './row.ts';
import * as store from './store.ts';
import type { Timers } from './timers.ts';
import type { JobKind, JobOutput } from './types.ts';

export type StopReason = 'cancelled' | 'lost' | 'closing' | 'late';

export interface RunParts extends AttemptParts {
  database: Database;
  objects: Objects;
  endings: Endings;
  now: () => number;
  log: Log;
  timers: Timers;
  workerId: string;
  leaseMs: number;
}

export interface Run {
  readonly jobId: string;
  /** When nothing of it is left in this process. Never rejects. */
  readonly ended: Promise<void>;
  /** Whether another process may take the job over by now. */
  isLapsed(): boolean;
  /** Renews the lease and writes the progress. Never rejects. */
  beat(): Promise<void>;
  stop(reason: StopReason): void;
}

/** A render that takes so many times as long as expected, and this long at least, will not end: its slot is freed. */
const patience = 20;
const leastPatienceMs = 40 * 60_000;
/** Progress is written this often, where an engine tells it; each time is a heartbeat too. */
const progressEveryMs = 1_000;
/** A database that is away for less than a lease costs no finished work. */
const persistPausesMs = [500, 1_000, 2_000, 4_000, 8_000];

export function startRun(parts: RunParts, kind: JobKind, lease: Lease): Run {
  const { database, objects, recordings, endings, now, log, timers, workerId, leaseMs } = parts;
  const { job } = lease;
  const token: store.Token = { id: job.id, workerId, attempt: job.attempt };
  const about = { job: job.id, model: job.modelId, attempt: job.attempt };
  const stopping = new AbortController();
  const lateAt = now() + Math.max(leastPatienceMs, lease.expectedMs * patience);
  let { leaseUntil } = lease;
  let told = 0;
  let toldAt = 0;
  let reason: StopReason | undefined;

  function stop(why: StopReason): void {
    if (reason !== undefined) return;
    reason = why;
    const said = `the run was stopped: ${why}`;
    // What the engine makes is made for the process that goes on with the job: else it is stopped there too.
    const goesOn = why === 'lost' || why === 'closing';
    stopping.abort(goesOn ? new RenderHandedOver(said) : new Error(said));
  }

  /** The lease is not ours any more: the job was cancelled, or another process has taken it over. */
  async function lose(): Promise<void> {
    const current = await store.findJob(database, job.id, {}, now());
    stop(current?.status === 'in_progress' ? 'lost' : 'cancelled');
  }

  async function beat(): Promise<void> {
    if (now() >= lateAt) stop('late');
    const until = now() + leaseMs;
    try {
      if (await store.renewLease(database, token, { leaseUntil: until, told })) leaseUntil = until;
      else await lose();
    } catch (error) {
      // Another process may take it over from then on: two must not render it for long.
      if (now() >= leaseUntil) stop('lost');
      log.warn({ ...about, err: error }, 'the lease of a job could not be renewed');
    }
  }

  function progress(fraction: number): void {
    told = Math.max(told, toTold(fraction));
    if (now() - toldAt < progressEveryMs) return;
    toldAt = now();
    void beat();
  }

  async function remember(note: { text: string; engine: string }): Promise<void> {
    if (await store.keepNote(database, token, note)) return;
    await lose();
    stopping.signal.throwIfAborted();
  }

  /** Undefined when the database stays away; then the lease runs out and another process decides. */
  async function persist<T>(write: () => Promise<T>): Promise<T | undefined> {
    for (const pauseMs of persistPausesMs) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || now() >= leaseUntil) throw error;
        log.warn({ ...about, err: error }, 'the database did not take what became of a job');
        await timers.pause(pauseMs);
      }
    }
    return undefined;
  }

  async function settle(outcome: Outcome): Promise<void> {
    if (outcome.type === 'made') return finish(outcome.outputs);
    if (reason === 'cancelled' || reason === 'lost') return discard();
    if (reason === 'closing') return giveBack();
    return failed(reason === 'late' ? { ...outcome, error: tooLate() } : outcome);
  }

  /** The guard decides, whatever this run has heard meanwhile. */
  async function finish(outputs: readonly JobOutput[]): Promise<void> {
    const completed = await persist(() => endings.complete(token, outputs));
    if (completed === undefined) return discard();
    log.info({ ...about, durationMs: now() - (job.startedAt ?? now()) }, 'a job completed');
  }

  async function failed({ error, engine }: Extract<Outcome, { type: 'failed' }>): Promise<void> {
    const failures = lease.failures + 1;
    log.warn({ ...about, engine, failures, err: error }, 'an attempt at a job failed');
    if (!isWorthAnotherAttempt(error) || failures >= maxFailures) {
      const ended = await persist(() => endings.fail(token, toJobError(error)));
      return ended === undefined ? discard() : undefined;
    }
    const isKept = await persist(() =>
      store.releaseLease(database, token, {
        notBefore: now() + toBackoffMs(failures, error),
        failures,
        told,
        tried: engine === undefined ? lease.tried : [...new Set([...lease.tried, engine])],
        // What an engine did not answer may still be at work there; what it has refused is not.
        keepsNote: error.kind === 'unreachable' || error.kind === 'timeout',
      }),
    );
    if (isKept !== true) return discard();
    await objects.remove(attemptOf(job.id, job.attempt));
    // Who begins to listen before the next attempt plays waits for it, and hears nothing of this one.
    await recordings.remove(job.id);
  }

  /** Another process goes on at once, with the engine's own job where there is one. The attempt did not fail. */
  async function giveBack(): Promise<void> {
    const { failures, tried } = lease;
    const left = { notBefore: now(), failures, told, tried, keepsNote: true };
    const isOurs = await store.releaseLease(database, token, left);
    if (!isOurs) return discard();
    await objects.remove(attemptOf(job.id, job.attempt));
    await database.notify(channels.waiting, job.kind);
  }

  /**
   * The job is not ours any more: what was made goes. But a commit whose answer was lost may have happened, so what the
   * job says it was made of stays; and while it may still be ours, ending it will tidy up.
   */
  async function discard(): Promise<void> {
    const current = await store.findJob(database, job.id, {}, now());
    const isOurs = current?.attempt === job.attempt;
    if (isOurs && (current.status === 'completed' || current.status === 'in_progress')) return;
    await objects.remove(attemptOf(job.id, job.attempt));
  }

  async function work(): Promise<void> {
    try {
      await settle(await attemptJob(parts, { kind, lease, signal: stopping.signal, remember, progress }));
    } catch (error) {
      // The lease runs out, and another process takes it up.
      log.error({ ...about, err: error }, 'what became of a job could not be written');
    }
  }

  return { jobId: job.id, ended: work(), isLapsed: () => now() >= leaseUntil, beat, stop };
}

function tooLate(): GatewayError {
  return new GatewayError('timeout', 'The engine did not end the render in time');
}
