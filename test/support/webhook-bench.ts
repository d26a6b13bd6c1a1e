/** Webhooks on a real database and a clock of the test's own, with real receivers on loopback. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { migrationsFolder } from '../../src/compose.ts';
import { createLog } from '../../src/lib/log.ts';
import { createSafeFetch, type SafeFetchOptions } from '../../src/lib/safe-fetch.ts';
import {
  createWebhooks,
  type Delivery,
  type RunningWebhooks,
  type WebhookEvent,
  type WebhooksParts,
} from '../../src/platform/webhooks/index.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrate } from '../../src/storage/migrate.ts';
import type { TestCertificate } from './certificate.ts';
import { createTestDatabase } from './database.ts';

export interface TestClock {
  now(): number;
  schedule(work: () => void, delayMs: number): () => void;
  /** Moves on and calls what has become due, in its order. */
  advance(ms: number): void;
  /** When each timer that is set is due. */
  timers(): number[];
}

export function createTestClock(start: number): TestClock {
  let time = start;
  const timers = new Map<() => void, number>();
  return {
    now: () => time,
    schedule(work, delayMs) {
      const timer = () => work();
      timers.set(timer, time + delayMs);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      time += ms;
      const due = [...timers].filter(([, at]) => at <= time).sort(([, a], [, b]) => a - b);
      for (const [timer] of due) if (timers.delete(timer)) timer();
    },
    timers: () => [...timers.values()],
  };
}

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Receiver {
  readonly port: number;
  readonly received: Received[];
  /** Resolves when so many have come. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Answers 200 unless told otherwise. Reads each request to its end first. */
export async function startReceiver(
  answer: RequestListener = (_, response) => void response.end(),
  certificate?: TestCertificate,
): Promise<Receiver> {
  const received: Received[] = [];
  const waiting: { count: number; resolve(): void }[] = [];
  const listener: RequestListener = async (request, response) => {
    const body = await buffer(request);
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, body });
    for (const { count, resolve } of waiting) if (received.length >= count) resolve();
    answer(request, response);
  };
  const server = certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    arrived(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (received.length >= count) resolve();
      else waiting.push({ count, resolve });
      return promise;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export interface WebhookBench {
  readonly database: Database;
  readonly databaseUrl: string | undefined;
  readonly clock: TestClock;
  readonly logged: Record<string, unknown>[];
  /** Started, and closed with the bench. Names resolve to loopback, which is allowed. */
  open(parts?: Partial<WebhooksParts>, egress?: SafeFetchOptions): Promise<RunningWebhooks>;
  receive(answer?: RequestListener, certificate?: TestCertificate): Promise<Receiver>;
  /** Writes an event as a job does, in a transaction of its own. */
  send(webhooks: RunningWebhooks, event: Partial<WebhookEvent> & { url: string }): Promise<void>;
  /** Moves the clock on and waits until everything that has become due is done. */
  advance(webhooks: RunningWebhooks, ms: number): Promise<void>;
  close(): Promise<void>;
}

export const loopback: SafeFetchOptions = {
  allowedNetworks: ['127.0.0.0/8'],
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
};

export async function createWebhookBench(): Promise<WebhookBench> {
  const test = await createTestDatabase();
  await migrate(test.database, { folder: migrationsFolder });
  const clock = createTestClock(Date.UTC(2026, 10, 15, 3));
  const logged: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void logged.push(JSON.parse(line)) });
  const opened: { close(): Promise<void> }[] = [];
  return {
    database: test.database,
    databaseUrl: test.databaseUrl,
    clock,
    logged,
    async open(parts = {}, egress = loopback) {
      const safeFetch = createSafeFetch(egress);
      const { now, schedule } = clock;
      const webhooks = createWebhooks({ database: test.database, safeFetch, now, log, schedule, ...parts });
      opened.unshift(webhooks, safeFetch);
      await webhooks.start();
      return webhooks;
    },
    async receive(answer, certificate) {
      const receiver = await startReceiver(answer, certificate);
      opened.push(receiver);
      return receiver;
    },
    async send(webhooks, event) {
      await test.database.transaction((tx) => webhooks.enqueue(tx, { ...sampleEvent, ...event }));
      webhooks.wake();
      await webhooks.idle();
    },
    async advance(webhooks, ms) {
      clock.advance(ms);
      await webhooks.idle();
    },
    async close() {
      for (const part of opened) await part.close();
      await test.close();
    },
  };
}

const sampleEvent: Omit<WebhookEvent, 'url'> = {
  subscriptionId: 'sub_1',
  jobId: 'video_0123456789abcdef01234567',
  kind: 'video',
  ending: 'completed',
  data: {
    id: 'video_0123456789abcdef01234567',
    status: 'completed',
    unsigned_urls: ['https://gateway.example/v1/videos/video_0123456789abcdef01234567/content?index=0'],
  },
};

/** The one delivery that there is. */
export async function onlyDelivery(webhooks: RunningWebhooks): Promise<Delivery> {
  const [delivery, ...others] = await webhooks.deliveries({ limit: 2 });
  if (delivery === undefined || others.length > 0) throw new Error('there is not exactly one delivery');
  return delivery;
}
