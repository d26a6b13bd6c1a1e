/**
 * Hears notifications of PostgreSQL on one connection of its own. While there are listeners the connection
 * is kept: a lost one is noticed (by TCP, or by a question that stays unanswered), every listener is told of
 * the gap, and it is made again after waits that grow; then the listeners are told once more, because what
 * was sent in between is gone.
 */
import type { Client } from 'pg';
import type { Log } from '../lib/log.ts';
import { StoreUnavailable } from './database.ts';
import { createTurns } from './transaction.ts';

export interface PostgresListener {
  add(channel: string, onMessage: (payload: string) => void, onGap: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

interface Listener {
  channel: string;
  onMessage(payload: string): void;
  onGap(): void;
}

const pingEveryMs = 10_000;
const pingTimeoutMs = 5_000;
const firstWaitMs = 100;
/** A revocation is promised within a second, also after an outage. */
const longestWaitMs = 1_000;

export function createPostgresListener(deps: {
  createClient(): Client;
  log: Log | undefined;
}): PostgresListener {
  const { createClient, log } = deps;
  const listeners = new Set<Listener>();
  const inTurn = createTurns();
  let connection: Promise<Client> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;

  /** Fails with the one attempt it makes; `reconnect` makes the next. */
  function connect(): Promise<Client> {
    connection ??= open().catch((error) => {
      connection = undefined;
      throw toUnavailable(error);
    });
    return connection;
  }

  async function open(): Promise<Client> {
    const client = createClient();
    // A lost connection also ends, and that is where it is handled.
    client.on('error', (error) =>
      log?.warn({ reason: toReason(error) }, 'lost the connection that listens to PostgreSQL'),
    );
    client.on('notification', ({ channel, payload = '' }) => {
      for (const listener of listeners) {
        if (listener.channel !== channel) continue;
        queueMicrotask(() => listeners.has(listener) && listener.onMessage(payload));
      }
    });
    try {
      await client.connect();
      const channels = new Set([...listeners].map((listener) => listener.channel));
      for (const channel of channels) await inTurn(() => listenTo(client, channel));
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    const ping = setInterval(() => inTurn(() => checkAlive(client)), pingEveryMs);
    client.once('end', () => {
      clearInterval(ping);
      connection = undefined;
      tellOfGap();
      reconnect(1);
    });
    return client;
  }

  function reconnect(attempt: number): void {
    if (closed || listeners.size === 0) return;
    const longest = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));
    // Half of it random, so that the replicas of a restarted server do not return in step.
    const waitMs = longest / 2 + (Math.random() * longest) / 2;
    retry = setTimeout(() => {
      connect().then(tellOfGap, (error) => {
        log?.warn({ reason: toReason(error), attempt }, 'cannot listen to PostgreSQL yet');
        reconnect(attempt + 1);
      });
    }, waitMs);
  }

  function tellOfGap(): void {
    for (const listener of listeners) queueMicrotask(() => listeners.has(listener) && listener.onGap());
  }

  return {
    async add(channel, onMessage, onGap) {
      if (closed) throw new StoreUnavailable('the database is closed');
      const listener: Listener = { channel, onMessage, onGap };
      listeners.add(listener);
      try {
        const client = await connect();
        await inTurn(() => listenTo(client, channel));
      } catch (error) {
        listeners.delete(listener);
        throw toUnavailable(error);
      }
      return async () => {
        listeners.delete(listener);
        // A connection that is gone listens to nothing.
        const client = await connection?.catch(() => undefined);
        if (client === undefined || closed) return;
        await inTurn(async () => {
          const isWanted = [...listeners].some((other) => other.channel === channel);
          if (!isWanted) await unlisten(client, channel).catch(() => {});
        });
      };
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      listeners.clear();
      await connection?.then((client) => client.end()).catch(() => {});
    },
  };
}

async function listenTo(client: Client, channel: string): Promise<void> {
  await client.query(`listen ${client.escapeIdentifier(channel)}`);
}

async function unlisten(client: Client, channel: string): Promise<void> {
  await client.query(`unlisten ${client.escapeIdentifier(channel)}`);
}

/** A server that vanished without a word leaves a connection that looks open. */
async function checkAlive(client: Client): Promise<void> {
  const ping: { text: string; query_timeout: number } = { text: 'select 1', query_timeout: pingTimeoutMs };
  await client.query(ping).catch(() => client.end());
}

function toUnavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  return new StoreUnavailable(`PostgreSQL cannot be reached: ${toReason(error)}`, { cause: error });
}

/** A host with several addresses fails with one error for all of them, and that has a code but no message. */
export function toReason(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || 'unknown reason';
}
