/**
 * Stored responses: kept for some days, read only by their subscription. What is past its time is never
 * answered, also before it is swept away. With the store down every question is a 503.
 */
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { shown } from '../../lib/quoted.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import { selectInputPage } from './input-page.ts';
import { responseIdOf } from './items.ts';
import { createJournal } from './journal.ts';
import * as store from './store.ts';
import { createSweep } from './sweep.ts';
import type { Responses } from './types.ts';
import { createWriter } from './writer.ts';

export interface ResponsesParts {
  database: Database;
  now: () => number;
  log: Log;
  /** How long they are kept. Asked each time: a reload may change it. */
  retentionDays: () => number;
  /**
   * Where responses wait for the database, so that nobody waits for it. Only where this process has it alone; without
   * one every response is in the table when its save resolves.
   */
  journalFolder?: string | undefined;
  firstSweepMs?: number;
  sweepEveryMs?: number;
  /** The longest conversation that is put together again. */
  maxTurns?: number;
  maxHistoryChars?: number;
  /** The most that single items which are referred to may have together. */
  maxReferredChars?: number;
  /** Of a page of items, where one item alone has not more. */
  maxPageChars?: number;
}

const dayMs = 24 * 3600 * 1000;
/** Not while everything else starts. */
const defaultFirstSweepMs = 60_000;
const defaultSweepEveryMs = 3600 * 1000;
/** No model reads as much; without a bound, one call could take all memory. As many as a body may have. */
const defaultMaxHistoryChars = 64 * 1024 * 1024;
/** Ends a walk that goes round in a circle, too. */
const defaultMaxTurns = 10_000;
/** Two million tokens. A short request can ask for as much, and has it kept once more. */
const defaultMaxReferredChars = 8 * 1024 * 1024;
const defaultMaxPageChars = 8 * 1024 * 1024;

export function createResponses(parts: ResponsesParts): Responses {
  const { database, now, log, retentionDays } = parts;
  const { maxTurns = defaultMaxTurns, maxHistoryChars = defaultMaxHistoryChars } = parts;
  const { maxReferredChars = defaultMaxReferredChars, maxPageChars = defaultMaxPageChars } = parts;
  /** What was made then, or before, has had its time. */
  const expiredAt = () => now() - retentionDays() * dayMs;
  const writer = createWriter(database);
  const journal =
    parts.journalFolder === undefined
      ? undefined
      : createJournal({ folder: parts.journalFolder, database, log });
  const sweep = createSweep({
    database,
    log,
    expiredAt,
    firstMs: parts.firstSweepMs ?? defaultFirstSweepMs,
    everyMs: parts.sweepEveryMs ?? defaultSweepEveryMs,
  });

  /** `ids` are the responses that it is about. */
  const read = <T>(ids: readonly string[], work: () => Promise<T>) =>
    asked(async () => {
      await journal?.moveThose(ids);
      return work();
    });

  return {
    save(response) {
      const row = store.toRow(response);
      if (journal === undefined) return asked(() => writer.write(row));
      if (journal.take(response.id, row)) return undefined;
      // What was taken before is in the table first: a turn never stands there without the one it goes on from.
      // Where that fails it is tried without: the database itself tells whether it is there.
      const moved = journal.move().catch(() => {});
      return asked(() => moved.then(() => writer.write(row)));
    },

    async find(subscriptionId, id) {
      if (!canBeStored(id)) return undefined;
      return read([id], () => store.findResponse(database, { subscriptionId, id, expiredAt: expiredAt() }));
    },

    async history(subscriptionId, id) {
      if (!canBeStored(id)) return 'unknown';
      const chain = { subscriptionId, id, expiredAt: expiredAt(), maxTurns, maxChars: maxHistoryChars };
      const found = await read([id], () => store.selectHistory(database, chain));
      if (found !== 'too long') return found;
      throw new GatewayError(
        'invalid_request',
        `The conversation is too long: it may have ${maxTurns} turns and ${maxHistoryChars} characters`,
        { param: 'previous_response_id' },
      );
    },

    async inputItems(subscriptionId, id, query) {
      if (!canBeStored(id)) return undefined;
      // Its own turn is one more than what it may go on from.
      const list = { subscriptionId, id, expiredAt: expiredAt(), maxTurns: maxTurns + 1 };
      const page = await read([id], () =>
        selectInputPage(database, { ...list, maxChars: maxPageChars }, query),
      );
      if (page === 'unknown') return undefined;
      if (page !== 'unknown item') return page;
      const problem = `there is no item ${shown(query.after ?? '')} in this list`;
      throw new GatewayError('invalid_request', `after: ${problem}`, { param: 'after' });
    },

    async items(subscriptionId, ids) {
      const wanted = { subscriptionId, ids: ids.filter(canBeStored), expiredAt: expiredAt() };
      const found = await read(wanted.ids.map(responseIdOf), () =>
        store.selectItems(database, { ...wanted, maxChars: maxHistoryChars }),
      );
      if (found === 'too long')
        throw tooLong(`the responses that items are referred to of have more than ${maxHistoryChars}`);
      let chars = 0;
      for (const { json } of found.values()) chars += json.length;
      if (chars > maxReferredChars) throw tooLong(`the items referred to have more than ${maxReferredChars}`);
      return found;
    },

    async remove(subscriptionId, id) {
      if (!canBeStored(id)) return false;
      return read([id], () => store.deleteResponse(database, { subscriptionId, id, expiredAt: expiredAt() }));
    },

    async close() {
      await Promise.all([sweep.close(), writer.close(), journal?.close()]);
    },
  };
}

function tooLong(problem: string): GatewayError {
  return new GatewayError('invalid_request', `input: ${problem} characters together`, { param: 'input' });
}

/** Ids come from clients. What no database can hold is not there, rather than a failure. */
function canBeStored(id: string): boolean {
  return id.isWellFormed() && !id.includes('\0');
}

async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    throw new GatewayError('overloaded', 'Stored responses cannot be reached at the moment', {
      retryAfterSeconds: 2,
      cause,
    });
  }
}
