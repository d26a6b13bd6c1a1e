/**
 * Signed calls to a client's server when a job has ended. An event is written in the transaction that ends the job, so
 * none is lost; it is sent until the receiver takes it or the ladder of retries is over.
 */
import type { Sql } from '../../storage/database.ts';
import type { JobKindName } from '../jobs/types.ts';

export interface WebhookSecret {
  readonly secret: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Until then the secret before it signs too. */
  readonly previousExpiresAt: number | undefined;
}

export type Ending = 'completed' | 'failed' | 'cancelled' | 'expired';

export interface WebhookEvent {
  readonly subscriptionId: string;
  readonly jobId: string;
  readonly kind: JobKindName;
  readonly ending: Ending;
  readonly url: string;
  /** The job as a plain client reads it. */
  readonly data: unknown;
}

export type DeliveryStatus = 'waiting' | 'delivered' | 'given_up';

export interface Delivery {
  /** `<job id>-<ending>`, which the receiver gets as idempotency key. */
  readonly id: string;
  readonly subscriptionId: string;
  readonly jobId: string;
  readonly type: string;
  readonly url: string;
  readonly status: DeliveryStatus;
  /** Of the present ladder: sending again by hand begins at 0. */
  readonly attempts: number;
  readonly createdAt: number;
  /** Only while waiting; during an attempt, when it would be taken to have died. */
  readonly nextAttemptAt: number | undefined;
  readonly lastStatus: number | undefined;
  readonly lastError: string | undefined;
  readonly deliveredAt: number | undefined;
}

export interface DeliveryFilter {
  readonly subscriptionId?: string | undefined;
  readonly jobId?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** The id after which the list goes on. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface Webhooks {
  /** Made on the first call. */
  secret(subscriptionId: string): Promise<WebhookSecret>;
  rotate(subscriptionId: string): Promise<WebhookSecret>;
  /** Throws `invalid_request` naming `param` unless it is https and on a public host, as far as the name tells. */
  checkUrl(url: string, param: string): void;
  /** Within the transaction of the state change. The same job and ending twice is one delivery. */
  enqueue(tx: Sql, event: WebhookEvent): Promise<void>;
  /** Something was enqueued and is committed. */
  wake(): void;
  /** Newest first. */
  deliveries(filter: DeliveryFilter): Promise<Delivery[]>;
  /** One, with the text that is sent. */
  delivery(deliveryId: string): Promise<(Delivery & { readonly body: string }) | undefined>;
  /** Sends it once more, now, with a ladder of its own. Undefined: there is none by that id. */
  resend(deliveryId: string): Promise<Delivery | undefined>;
  /** Begins to deliver and to sweep. A process that leaves the work to others does not call it. */
  start(): Promise<void>;
  /** What is under way gets a moment to end; the rest is taken up by another process, or at the next start. */
  close(): Promise<void>;
}
