/**
 * Durable jobs: what takes longer than a request. A row in the database is the job; workers lease it, render, and end it
 * in one transaction with its bill and its webhook event. Without the database nothing is created, read or ended; a
 * worker that cannot renew its lease stops.
 */
import type { Engine } from '../../engines/contract/engine.ts';
import type { ModelType } from '../../engines/contract/model-type.ts';
import type { RenderContext } from '../../engines/contract/render.ts';
import type { Caller } from '../accounts/types.ts';
import type { Model } from '../catalog/index.ts';
import type { Media } from '../media/types.ts';
import type { Links, Objects } from '../objects/types.ts';
import type { Recordings } from '../recordings/types.ts';
import type { JobStatus } from './states.ts';

export type { JobStatus };

/** The types of models that work by jobs. */
export type JobKindName = Extract<ModelType, 'video' | 'music'>;

/** One file that a job has made. */
export interface JobOutput {
  readonly index: number;
  readonly objectKey: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly durationSeconds: number;
  /** What only the kind knows of it: width, height, … */
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

/** In the words of the contract. */
export type JobErrorCode =
  | 'invalid_request'
  | 'invalid_image'
  | 'invalid_media'
  | 'image_download_failed'
  | 'media_download_failed'
  | 'content_policy_violation'
  | 'payload_too_large'
  | 'provider_unavailable'
  | 'provider_overloaded'
  | 'timeout'
  | 'server';

export interface Job<Request = unknown> {
  /** `video_` or `music_` and 24 hex characters. */
  readonly id: string;
  readonly kind: JobKindName;
  readonly subscriptionId: string;
  readonly keyId: string;
  readonly modelId: string;
  readonly status: JobStatus;
  /** What is rendered, in the kind's own form; bytes stand in `inputKeys`. */
  readonly request: Request;
  /** Objects that hold the inputs, in the request's order. */
  readonly inputKeys: readonly string[];
  readonly callbackUrl: string | undefined;
  /** `https://…/v1` as the client that created it saw the gateway: links in its events begin with it. */
  readonly baseUrl: string;
  /** Unix milliseconds, all of them. */
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  /** Only of one that completed. */
  readonly completedAt: number | undefined;
  /** Outputs of a completed job, and records of the others that have ended, are gone after it. */
  readonly expiresAt: number | undefined;
  /** Only while pending: jobs of the same model ahead of it. */
  readonly queuePosition: number | undefined;
  /** 0 to 100, estimated, never falling. */
  readonly progress: number;
  /** From 1 once it has started: the runs so far, also those that were interrupted. */
  readonly attempt: number;
  readonly outputs: readonly JobOutput[];
  /** Whole seconds that completing it bills, decided when it is created. */
  readonly billedSeconds: number;
  /** Of a completed or expired job, where its model has a price. */
  readonly costPicoUsd: bigint | undefined;
  /** Only when failed. */
  readonly error: string | undefined;
  readonly errorCode: JobErrorCode | undefined;
}

export interface NewJob {
  readonly kind: JobKindName;
  readonly caller: Caller;
  readonly model: Model<'video'> | Model<'music'>;
  readonly request: unknown;
  readonly inputs: readonly Buffer[];
  readonly callbackUrl: string | undefined;
  readonly baseUrl: string;
  readonly billedSeconds: number;
  readonly expectedMs: number;
}

export interface JobPage {
  readonly jobs: readonly Job[];
  readonly hasMore: boolean;
}

export interface JobListing {
  /** The id after which the page begins. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

export type Removal = { readonly outcome: 'cancelled'; readonly job: Job } | { readonly outcome: 'deleted' };

/** Absent: of any. */
export interface JobFilter {
  readonly kind?: JobKindName | undefined;
  readonly subscriptionId?: string | undefined;
  readonly modelId?: string | undefined;
  readonly status?: JobStatus | undefined;
}

/** The jobs of all subscriptions. */
export interface OperatorJobs {
  list(filter: JobFilter, listing: JobListing): Promise<JobPage>;
  find(id: string): Promise<Job | undefined>;
  /** Throws `conflict` when it has ended. Undefined: there is no such job. */
  cancel(id: string): Promise<Job | undefined>;
}

export interface Jobs {
  create(job: NewJob): Promise<Job>;
  find(kind: JobKindName, id: string, subscriptionId: string | undefined): Promise<Job | undefined>;
  list(kind: JobKindName, subscriptionId: string, listing: JobListing): Promise<JobPage>;
  /**
   * Cancels a job that has not ended, deletes one that has. Decided by the state that is seen first: when one that is
   * to be cancelled ends before that, throws `conflict` (permanent) and changes nothing. Undefined: there is no such job.
   */
  remove(kind: JobKindName, id: string, subscriptionId: string): Promise<Removal | undefined>;
  readonly operator: OperatorJobs;
  /** Begins to lease and sweep. A gateway that leaves the work to worker processes does not call it. */
  start(): void;
  /** Gives leases back: what was under way is taken up by another process. */
  close(): Promise<void>;
}

/** What a kind's `run` is given. */
export interface JobRun<Request = unknown> extends RenderContext {
  readonly job: Job<Request>;
  readonly model: Model;
  /** Chosen among the model's engines, its slot taken; the same for a whole attempt. */
  readonly engine: Engine;
  /** Aborted when the job is cancelled, its lease is lost or the process stops. */
  readonly signal: AbortSignal;
  readonly objects: Objects;
  readonly media: Media;
  readonly recordings: Recordings;
  /** Where an output belongs: a place of this attempt alone. What a run leaves there that is not the job's is removed. */
  outputKey(index: number, extension: string): string;
}

/** How one kind of job is run and told. `api/index.ts` lists them, one line each. */
export interface JobKind<Request = unknown> {
  readonly kind: JobKindName;
  /** Renders and stores. Throws a GatewayError on failure: `unreachable`, `overloaded`, `timeout` and `internal` are tried again. */
  run(run: JobRun<Request>): Promise<readonly JobOutput[]>;
  /** The job as a plain client reads it, for its events. */
  toPlain(job: Job<Request>, links: Links): unknown;
}
