/**
 * Webhooks: secrets, an outbox that is written with the state change, and the loop that empties it.
 *
 * Store down: secrets and deliveries are a 503, and no event can be written, but then no job can end either. What
 * was sent and could not be recorded is sent again, with the same body and key. The loop looks again every 5 s. A
 * receiver that fails changes its own delivery and nothing else: neither the job nor its bill is read or written here.
 */
import assert from 'node:assert';
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { SafeFetch } from '../../lib/safe-fetch.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import { createAttempt } from './attempt.ts';
import { createDeliveryLoop, type DeliveryLoop, type Schedule } from './deliver.ts';
import * as outbox from './outbox.ts';
import { readSecrets, rotateSecrets } from './secrets.ts';
import { createSweep, type Sweep } from './sweep.ts';
import type { WebhookSecret, Webhooks } from './types.ts';

export interface WebhooksParts {
  database: Database;
  /** The one door for addresses that come from outside. */
  safeFetch: Pick<SafeFetch, 'check' | 'post'>;
  now: () => number;
  log: Log;
  settings?: {
    /** The word in `X-Service-Signature` and `X-Service-Idempotency-Key`. Default `Service`. */
    brand?: string;
  };
  schedule?: Schedule;
  answerTimeoutMs?: number;
  closeGraceMs?: number;
}

export interface RunningWebhooks extends Webhooks {
  /** Resolves when nothing is being sent and nothing that is due can be. */
  idle(): Promise<void>;
}

const channel = 'webhooks';
/** "Answer any 2xx within 10 seconds." */
const defaultAnswerTimeoutMs = 10_000;
const defaultCloseGraceMs = 2_000;
const headerWord = /^[A-Za-z][A-Za-z0-9-]{0,40}$/;

export function createWebhooks(parts: WebhooksParts): RunningWebhooks {
  const { database, safeFetch, now, log, schedule = scheduleTimeout } = parts;
  const brand = parts.settings?.brand ?? 'Service';
  assert(headerWord.test(brand), `a brand stands in the name of a header: "${brand}" cannot`);
  const attempt = createAttempt({
    database,
    poster: safeFetch,
    now,
    brand,
    answerTimeoutMs: parts.answerTimeoutMs ?? defaultAnswerTimeoutMs,
  });
  let loop: DeliveryLoop | undefined;
  let sweep: Sweep | undefined;
  let stopListening: (() => Promise<void>) | undefined;

  return {
    secret: async (subscriptionId) =>
      toWebhookSecret(await asked(() => readSecrets(database, subscriptionId, now()))),

    rotate: async (subscriptionId) =>
      toWebhookSecret(await asked(() => rotateSecrets(database, subscriptionId, now()))),

    checkUrl: (url, param) => void safeFetch.check(url, param),

    async enqueue(tx, event) {
      await outbox.insertDelivery(tx, event, now());
      // Heard by every process once it is committed.
      await tx.notify(channel, '');
    },

    wake: () => loop?.wake(),

    deliveries: (filter) => asked(() => outbox.selectDeliveries(database, filter)),

    delivery: (deliveryId) => asked(() => outbox.findDelivery(database, deliveryId)),

    resend: (deliveryId) =>
      asked(() =>
        database.transaction(async (tx) => {
          const restarted = await outbox.restartDelivery(tx, deliveryId, now());
          await tx.notify(channel, '');
          return restarted;
        }),
      ),

    async start() {
      const { closeGraceMs = defaultCloseGraceMs } = parts;
      const started = createDeliveryLoop({ database, attempt, now, log, schedule, closeGraceMs });
      loop = started;
      stopListening = await database.listen(channel, started.wake, started.wake);
      sweep = createSweep({ sql: database, now, log, schedule });
      started.wake();
    },

    idle: async () => loop?.idle(),

    async close() {
      await stopListening?.();
      await Promise.all([loop?.close(), sweep?.close()]);
    },
  };
}

function toWebhookSecret({ secret, createdAt, previousExpiresAt }: WebhookSecret): WebhookSecret {
  return { secret, createdAt, previousExpiresAt };
}

/** Never keeps the process alive. */
function scheduleTimeout(work: () => void, delayMs: number): () => void {
  const timer = setTimeout(work, delayMs).unref();
  return () => clearTimeout(timer);
}

async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    throw new GatewayError('overloaded', 'Webhooks cannot be reached at the moment', {
      retryAfterSeconds: 2,
      cause,
    });
  }
}
