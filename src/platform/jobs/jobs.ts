/** Jobs as handlers know them: made, read, listed, cancelled and deleted. The work on them is in `worker.ts`. */
import assert from 'node:assert';
import { GatewayError } from '../../lib/errors.ts';
import { createId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import { priceOf } from '../billing/index.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Engines } from '../engines/index.ts';
import type { Media } from '../media/types.ts';
import type { Links, Objects } from '../objects/types.ts';
import type { Recordings } from '../recordings/types.ts';
import type { Webhooks } from '../webhooks/types.ts';
import { channels } from './channels.ts';
import { createEndings } from './endings.ts';
import { inputsOf } from './files.ts';
import { addLeftovers, createLeftovers, takeBack } from './leftovers.ts';
import type { Run } from './run.ts';
import { hasEnded, removalOf } from './states.ts';
import * as store from './store.ts';
import { createSweep } from './sweep.ts';
import { realTimers, type Timers } from './timers.ts';
import type { Job, JobFilter, JobKind, JobListing, JobPage, Jobs, NewJob, Removal } from './types.ts';
import { createWorker } from './worker.ts';

export interface JobsSettings {
  /** How long outputs, and the records of jobs that have ended, are kept. */
  readonly retentionHours: number;
}

export interface JobsParts {
  database: Database;
  objects: Objects;
  media: Media;
  recordings: Recordings;
  webhooks: Webhooks;
  links: Links;
  engines: Engines;
  catalog: Catalog;
  kinds: readonly JobKind[];
  now: () => number;
  log: Log;
  /** Asked each time: a reload may change them. */
  settings: () => JobsSettings;
  /** Another one for every process. */
  workerId?: string;
  leaseMs?: number;
  timers?: Timers;
}

export interface WorkingJobs extends Jobs {
  /** What is rendered in this process now. */
  readonly runs: ReadonlySet<Run>;
}

const hourMs = 3600 * 1000;
const defaultLeaseMs = 30_000;
/** Inputs whose job was not written by then never get one. */
const creationMs = 600_000;

export function createJobs(parts: JobsParts): WorkingJobs {
  const { database, objects, now, log, settings } = parts;
  const { timers = realTimers, leaseMs = defaultLeaseMs, workerId = createId('worker') } = parts;
  const retentionMs = () => settings().retentionHours * hourMs;
  const leftovers = createLeftovers({ database, objects, now, log });
  const endings = createEndings({ ...parts, leftovers, retentionMs });
  const worker = createWorker({ ...parts, endings, timers, workerId, leaseMs });
  const sweep = createSweep({ database, endings, leftovers, now, log, timers });
  let lastCreatedAt = 0;

  /** Later than the one before, so that two of one millisecond keep their order in line. */
  function nextCreatedAt(): number {
    lastCreatedAt = Math.max(now(), lastCreatedAt + 1);
    return lastCreatedAt;
  }

  /** Kept before the job is written; should that never happen, the leftovers know of them. */
  async function putInputs(id: string, inputs: readonly Buffer[]): Promise<string[]> {
    if (inputs.length === 0) return [];
    await addLeftovers(database, [inputsOf(id)], now() + creationMs);
    const keys = inputs.map((_, index) => `${inputsOf(id)}/${index}`);
    for (const [index, key] of keys.entries()) await objects.put(key, inputs[index] as Buffer);
    return keys;
  }

  /** As it is before any worker can see it: pending. */
  async function insert(id: string, asked: NewJob, inputKeys: readonly string[]): Promise<Job | undefined> {
    const { kind, caller, model } = asked;
    const { request, billedSeconds, expectedMs, callbackUrl, baseUrl } = asked;
    const hasPrice = model.pricing?.completion !== undefined;
    return database.transaction(async (tx) => {
      if (inputKeys.length > 0 && !(await takeBack(tx, inputsOf(id)))) {
        throw new GatewayError('timeout', 'Keeping the inputs took too long; try again');
      }
      await store.insertJob(tx, {
        id,
        kind,
        subscriptionId: caller.subscriptionId,
        keyId: caller.keyId,
        modelId: model.id,
        createdAt: nextCreatedAt(),
        expectedMs,
        billedSeconds,
        // The price that holds when the client asks is the one that it pays.
        pricePicoUsd: hasPrice ? priceOf(model, { seconds: billedSeconds }) : undefined,
        callbackUrl,
        baseUrl,
        request,
        inputKeys,
      });
      await tx.notify(channels.waiting, kind);
      return store.findJob(tx, id, {}, now());
    });
  }

  /** A commit whose answer was lost may have happened. If it has not, the leftovers know of the inputs, in most cases. */
  async function afterFailure(id: string, error: unknown): Promise<Job> {
    if (error instanceof StoreUnavailable) {
      const found = await store.findJob(database, id, {}, now()).catch(() => undefined);
      if (found !== undefined) return found;
    } else await objects.remove(inputsOf(id));
    throw error;
  }

  /** A completed job past its time is expired for whoever reads it, also before the sweep comes. */
  async function upToDate(job: Job): Promise<Job> {
    const isDue = job.status === 'completed' && job.expiresAt !== undefined && job.expiresAt <= now();
    if (!isDue) return job;
    return (await endings.expire(job.id)) ?? (await store.findJob(database, job.id, {}, now())) ?? job;
  }

  async function find(id: string, filter: JobFilter): Promise<Job | undefined> {
    const job = await store.findJob(database, id, filter, now());
    return job === undefined ? undefined : upToDate(job);
  }

  async function list(filter: JobFilter, listing: JobListing): Promise<JobPage> {
    const jobs = await store.selectJobs(database, filter, listing, now());
    const page = await Promise.all(jobs.slice(0, listing.limit).map(upToDate));
    return { jobs: page, hasMore: jobs.length > listing.limit };
  }

  async function cancel(job: Job): Promise<Job> {
    const cancelled = await endings.cancel(job.id);
    if (cancelled === undefined) throw changed(job);
    return cancelled;
  }

  async function remove(job: Job): Promise<Removal | undefined> {
    if (removalOf(job.status) === 'cancel') return { outcome: 'cancelled', job: await cancel(job) };
    if (await endings.remove(job)) return { outcome: 'deleted' };
    // Somebody else deleted it, or its outputs expired in this very moment.
    if ((await store.findJob(database, job.id, {}, now())) === undefined) return undefined;
    throw changed(job);
  }

  return {
    runs: worker.runs,

    create: (asked) =>
      answered(async () => {
        const id = createId(asked.kind);
        const inputKeys = await putInputs(id, asked.inputs);
        const job = await insert(id, asked, inputKeys).catch((error) => afterFailure(id, error));
        assert(job !== undefined, 'what was just written is there');
        return job;
      }),

    find: (kind, id, subscriptionId) => answered(() => find(id, { kind, subscriptionId })),

    list: (kind, subscriptionId, listing) => answered(() => list({ kind, subscriptionId }, listing)),

    remove: (kind, id, subscriptionId) =>
      answered(async () => {
        const job = await find(id, { kind, subscriptionId });
        return job === undefined ? undefined : remove(job);
      }),

    operator: {
      list: (filter, listing) => answered(() => list(filter, listing)),
      find: (id) => answered(() => find(id, {})),
      cancel: (id) =>
        answered(async () => {
          const job = await find(id, {});
          if (job === undefined) return undefined;
          if (hasEnded(job.status)) {
            throw new GatewayError('conflict', `The job ${id} is ${job.status}: it cannot be cancelled`);
          }
          return cancel(job);
        }),
    },

    start() {
      worker.start();
      sweep.start();
    },

    async close() {
      await worker.close();
      await sweep.close();
    },
  };
}

function changed({ id }: Job): GatewayError {
  return new GatewayError('conflict', `The job ${id} changed its state meanwhile: read it again`, {
    permanent: true,
  });
}

async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new GatewayError('overloaded', 'Jobs cannot be read or written at the moment; try again', {
      cause: error,
    });
  }
}
