/** Runs the work of a transaction with the same rules on both databases. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sql } from './database.ts';

/** One connection that has begun a transaction. */
export interface OpenTransaction extends Sql {
  commit(): Promise<void>;
  /** Never rejects: a connection that cannot roll back is thrown away, which is the same. */
  rollback(): Promise<void>;
}

export interface Transactions {
  /** Throws when the caller stands inside the work of a transaction and did not use its `tx`. */
  checkOutside(): void;
  run<T>(open: OpenTransaction, work: (tx: Sql) => Promise<T>): Promise<T>;
}

const defaultIdleMs = 30_000;

export function createTransactions({ idleMs = defaultIdleMs }: { idleMs?: number } = {}): Transactions {
  // Without it, a query on the database inside a transaction would wait for that transaction, which waits
  // for the query: on SQLite for ever, on PostgreSQL once the pool is empty.
  const inside = new AsyncLocalStorage<{ over: boolean }>();

  return {
    checkOutside() {
      if (inside.getStore()?.over === false) {
        throw new Error('the database was used inside a transaction: use the tx that the work is given');
      }
    },

    async run<T>(open: OpenTransaction, work: (tx: Sql) => Promise<T>): Promise<T> {
      const state = { over: false };
      const inFlight = new Set<Promise<unknown>>();
      let failure: { error: unknown } | undefined;
      const idle = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        if (inFlight.size > 0) timer.refresh();
        else idle.reject(new Error(`a transaction asked nothing for ${idleMs} ms and was rolled back`));
      }, idleMs);

      async function attempt<R>(ask: () => Promise<R>): Promise<R> {
        if (state.over) throw new Error('this transaction is over: await every query inside its work');
        // PostgreSQL allows nothing but a rollback after a failed statement; SQLite would go on.
        if (failure !== undefined) throw failure.error;
        const asked = ask();
        inFlight.add(asked);
        try {
          return await asked;
        } catch (error) {
          failure ??= { error };
          throw error;
        } finally {
          inFlight.delete(asked);
          if (!state.over) timer.refresh();
        }
      }

      const tx: Sql = {
        query: (text, values) => attempt(() => open.query(text, values)),
        each: (text, lists) => attempt(() => open.each(text, lists)),
        eachJson: (text, lists) => attempt(() => open.eachJson(text, lists)),
        script: (text) => attempt(() => open.script(text)),
        notify: (channel, payload) => attempt(() => open.notify(channel, payload)),
      };
      try {
        const result = await Promise.race([inside.run(state, () => work(tx)), idle.promise]);
        while (inFlight.size > 0) await Promise.allSettled(inFlight);
        if (failure !== undefined) throw failure.error;
        state.over = true;
        await open.commit();
        return result;
      } catch (error) {
        state.over = true;
        await open.rollback();
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Starts each piece of work when the one before it has ended, however it ended. */
export function createTurns(): <T>(start: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (start) => {
    const turn = last.then(start);
    last = turn.catch(() => {});
    return turn;
  };
}
