/**
 * Files that nobody needs any more. Their keys are written in the transaction that makes them useless and stay there
 * until they are gone, so that a crash or a failing disk leaves none behind.
 */
import type { Log } from '../../lib/log.ts';
import type { Database, Sql } from '../../storage/database.ts';
import type { Objects } from '../objects/types.ts';

export interface Leftovers {
  /** Tries at once, and leaves what fails to the sweep. Never rejects. */
  clear(keys: readonly string[]): Promise<void>;
  /** The same, but the sweep comes once more in any case: something may still be writing there. */
  clearTwice(keys: readonly string[]): Promise<void>;
  /** What is due. Answers how many there were. */
  sweep(limit: number): Promise<number>;
}

const retryMs = 60_000;

export function createLeftovers({
  database,
  objects,
  now,
  log,
}: {
  database: Database;
  objects: Objects;
  now: () => number;
  log: Log;
}): Leftovers {
  async function each(keys: readonly string[], work: (key: string) => Promise<unknown>): Promise<void> {
    for (const key of keys) {
      try {
        await work(key);
      } catch (error) {
        log.warn({ key, err: error }, 'files of a job could not be removed: they are tried again');
      }
    }
  }

  async function clear(keys: readonly string[]): Promise<void> {
    await each(keys, async (key) => {
      await objects.remove(key);
      await takeBack(database, key);
    });
  }

  return {
    clear,
    clearTwice: (keys) => each(keys, (key) => objects.remove(key)),
    async sweep(limit) {
      const keys = await postponeDue(database, now(), now() + retryMs, limit);
      await clear(keys);
      return keys.length;
    },
  };
}

export async function addLeftovers(tx: Sql, keys: readonly string[], removeAt: number): Promise<void> {
  for (const key of keys) {
    await tx.query(
      `insert into job_leftovers (object_key, remove_at) values ($1, $2)
       on conflict (object_key) do update set remove_at = excluded.remove_at`,
      [key, removeAt],
    );
  }
}

/** Whether it stood there: if not, the file may be gone. */
export async function takeBack(sql: Sql, key: string): Promise<boolean> {
  const rows = await sql.query('delete from job_leftovers where object_key = $1 returning object_key', [key]);
  return rows.length > 0;
}

/** Takes them on: put off before they are removed, so that a key that fails every time holds up none of the others. */
async function postponeDue(sql: Sql, now: number, until: number, limit: number): Promise<string[]> {
  const rows = await sql.query<{ object_key: string }>(
    `update job_leftovers set remove_at = $2 where remove_at <= $1 and object_key in (
       select object_key from job_leftovers where remove_at <= $1 order by remove_at limit $3)
     returning object_key`,
    [now, until, limit],
  );
  return rows.map(({ object_key }) => object_key);
}
