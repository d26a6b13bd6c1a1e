/**
 * Writes responses in groups: while one write is under way those that come are gathered, and the next write
 * takes them all, for one message to the database's thread and one commit.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import { insertRows, type ResponseRow } from './store.ts';

export interface Writer {
  /** Resolves when it is committed. */
  write(row: ResponseRow): Promise<void>;
  /** Writes what was gathered. */
  close(): Promise<void>;
}

interface Waiting {
  row: ResponseRow;
  resolve(): void;
  reject(error: unknown): void;
}

/** A group that is too large would hold up everybody else who asks the database. */
const maxGroup = 200;
const maxGroupChars = 8 * 1024 * 1024;
/**
 * From the beginning of a write to that of the next, so that a quick disk does not make every response a group
 * of its own: on SQLite, at 1,000 a second, 240 µs of CPU each without the pause and 140 with it. A response that
 * comes alone does not wait.
 */
const pauseMs = 5;

export function createWriter(database: Database): Writer {
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let isClosed = false;
  let lastBeganAt = Number.NEGATIVE_INFINITY;

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const waitMs = lastBeganAt + pauseMs - performance.now();
      if (waitMs > 0 && waiting.length < maxGroup) await delay(waitMs);
      lastBeganAt = performance.now();
      await writeGroup(takeGroup());
    }
    writing = undefined;
  }

  /** From the front, at least one. */
  function takeGroup(): Waiting[] {
    let chars = 0;
    const end = waiting.findIndex(({ row }, index) => {
      chars += row.chars;
      return index > 0 && (index === maxGroup || chars > maxGroupChars);
    });
    const group = end === -1 ? waiting : waiting.slice(0, end);
    waiting = end === -1 ? [] : waiting.slice(end);
    return group;
  }

  /** Never rejects. */
  async function writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      await insertRows(
        database,
        group.map(({ row }) => row.values),
      );
      for (const { resolve } of group) resolve();
    } catch (error) {
      // One by one then, so that one bad row does not take the others along.
      if (group.length > 1 && !(error instanceof StoreUnavailable)) {
        for (const one of group) await writeGroup([one]);
      } else {
        for (const { reject } of group) reject(error);
      }
    }
  }

  return {
    write(row) {
      if (isClosed) return Promise.reject(new StoreUnavailable('stored responses are closed'));
      return new Promise((resolve, reject) => {
        waiting.push({ row, resolve, reject });
        writing ??= writeAll();
      });
    },

    async close() {
      isClosed = true;
      await writing;
    },
  };
}
