/**
 * The transactions that end a job. Each one holds all that belongs to the ending: the guarded change of state, the bill
 * when it completed, the event for its webhook, and the files that nobody needs any more. A crash before the commit has
 * changed nothing; after it the outbox, the ledger and the leftovers hold what is still to be done.
 */
import assert from 'node:assert';
import type { Log } from '../../lib/log.ts';
import type { Database, Sql } from '../../storage/database.ts';
import { insertJobRow } from '../billing/index.ts';
import type { Links } from '../objects/types.ts';
import type { Recordings } from '../recordings/types.ts';
import type { Ending, Webhooks } from '../webhooks/types.ts';
import { channels } from './channels.ts';
import { attemptOf, folderOf, inputsOf } from './files.ts';
import { addLeftovers, type Leftovers } from './leftovers.ts';
import type { Lease } from './row.ts';
import * as store from './store.ts';
import type { Job, JobErrorCode, JobKind, JobOutput } from './types.ts';

export interface EndingsParts {
  database: Database;
  webhooks: Webhooks;
  recordings: Recordings;
  links: Links;
  leftovers: Leftovers;
  kinds: readonly JobKind[];
  now: () => number;
  retentionMs: () => number;
  log: Log;
}

/** Each answers undefined, and has changed nothing, when the job is not in a state to be ended so. */
export interface Endings {
  complete(token: store.Token, outputs: readonly JobOutput[]): Promise<Job | undefined>;
  fail(token: store.Token, failure: JobError): Promise<Job | undefined>;
  failPending(id: string, failure: JobError): Promise<Job | undefined>;
  cancel(id: string): Promise<Job | undefined>;
  /** The one that is named, or the next that is due. */
  expire(id?: string): Promise<Job | undefined>;
  /** An ended job, in the state in which it was seen: its record and files. Answers whether it was deleted. */
  remove(job: Job): Promise<boolean>;
}

export interface JobError {
  readonly error: string;
  readonly errorCode: JobErrorCode;
}

/** A run that does not know yet that its job was taken from it may write for so long. */
const stragglerMs = 60_000;

interface Files {
  readonly keys: readonly string[];
  /** Where a run may still be writing, they are looked after once more. */
  readonly againAt?: number;
}

export function createEndings(parts: EndingsParts): Endings {
  const { database, webhooks, recordings, links, leftovers, kinds, now, retentionMs, log } = parts;

  async function end(
    ending: Ending,
    change: (tx: Sql, at: number) => Promise<Lease | undefined>,
    filesOf: (lease: Lease, at: number) => Files,
  ): Promise<Job | undefined> {
    const done = await database.transaction(async (tx) => {
      // Not before: one who waits for the database would end it in the past.
      const at = now();
      const lease = await change(tx, at);
      if (lease === undefined) return undefined;
      const files = filesOf(lease, at);
      if (ending === 'completed') await bill(tx, lease, at);
      await addLeftovers(tx, files.keys, files.againAt ?? at);
      await announce(tx, lease.job, ending);
      return { job: lease.job, files };
    });
    if (done === undefined) return undefined;
    const { job, files } = done;
    if (job.callbackUrl !== undefined) webhooks.wake();
    await (files.againAt === undefined ? leftovers.clear(files.keys) : leftovers.clearTwice(files.keys));
    return job;
  }

  async function bill(tx: Sql, { job, pricePicoUsd = 0n }: Lease, at: number): Promise<void> {
    await insertJobRow(tx, database.dialect, {
      id: job.id,
      subscriptionId: job.subscriptionId,
      keyId: job.keyId,
      modelId: job.modelId,
      operation: job.kind,
      at,
      durationMs: at - (job.startedAt ?? at),
      streamed: false,
      outcome: 'completed',
      quantities: { seconds: job.billedSeconds },
      costPicoUsd: pricePicoUsd,
    });
  }

  async function announce(tx: Sql, job: Job, ending: Ending): Promise<void> {
    if (job.callbackUrl !== undefined) {
      const kind = kinds.find((candidate) => candidate.kind === job.kind);
      assert(kind !== undefined, `somebody knows how ${job.kind} jobs are told`);
      await webhooks.enqueue(tx, {
        subscriptionId: job.subscriptionId,
        jobId: job.id,
        kind: job.kind,
        ending,
        url: job.callbackUrl,
        data: kind.toPlain(job, links),
      });
    }
    if (ending === 'cancelled') await tx.notify(channels.cancelled, job.id);
    // Its slot is free.
    if (ending !== 'expired') await tx.notify(channels.waiting, job.kind);
  }

  return {
    complete: (token, outputs) =>
      end(
        'completed',
        (tx, at) => store.completeJob(tx, token, { now: at, expiresAt: at + retentionMs(), outputs }),
        ({ job }, at) => toUnneeded(job, at),
      ),

    fail: (token, failure) =>
      end(
        'failed',
        (tx, at) => store.failJob(tx, token, { ...failure, now: at, expiresAt: at + retentionMs() }),
        toWhole,
      ),

    failPending: (id, failure) =>
      end(
        'failed',
        (tx, at) => store.failPending(tx, id, { ...failure, now: at, expiresAt: at + retentionMs() }),
        toWhole,
      ),

    cancel: (id) =>
      end(
        'cancelled',
        (tx, at) => store.cancelJob(tx, id, { now: at, expiresAt: at + retentionMs() }),
        toWhole,
      ),

    expire: (id) =>
      end(
        'expired',
        (tx, at) => store.expireJob(tx, database.dialect, { now: at, recordUntil: at + retentionMs(), id }),
        toWhole,
      ),

    async remove({ id, status }) {
      // The files of any other are leftovers since it ended.
      const keys = status === 'completed' ? [folderOf(id)] : [];
      const at = now();
      const isDeleted = await database.transaction(async (tx) => {
        if (!(await store.deleteJob(tx, id, status))) return false;
        await addLeftovers(tx, keys, at);
        return true;
      });
      if (!isDeleted) return false;
      await leftovers.clear(keys);
      await recordings.remove(id).catch((error) => {
        log.warn({ job: id, err: error }, 'a recording was not removed: it goes in its own time');
      });
      return true;
    },
  };
}

/** Everything of the job; a run that was under way writes for a moment longer. */
function toWhole({ job }: Lease, at: number): Files {
  const keys = [folderOf(job.id)];
  return job.attempt === 0 || job.status === 'expired' ? { keys } : { keys, againAt: at + stragglerMs };
}

/** Of a completed job: its inputs, and what earlier attempts may have left. */
function toUnneeded({ id, inputKeys, attempt }: Job, at: number): Files {
  const keys = inputKeys.length === 0 ? [] : [inputsOf(id)];
  for (let earlier = 1; earlier < attempt; earlier++) keys.push(attemptOf(id, earlier));
  return attempt > 1 ? { keys, againAt: at + stragglerMs } : { keys };
}
