/**
 * The journal: responses that are kept and not in the table yet, in files that survive this process.
 *
 * A response is written by one synchronous `write(2)`, so its answer goes on at once: no promise, no timer and no
 * message to another thread for each. A tenth of a second later the file goes to the database's thread as a whole,
 * which reads it by its path; then it is removed. Whoever asks for a response that is still in a file has it moved first; a
 * file is gone before any of its responses can be removed, so that none comes back with the next start.
 *
 * Only where this process has the database alone: another one would not see what is here.
 * Once a file could not be moved, or when too many wait, nothing is taken: see `docs/decisions/0026`. As the ledger's
 * (`platform/billing/journal.ts`), but of texts, moved as whole files, and by one process alone.
 */
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../lib/log.ts';
import { type Database, StoreUnavailable } from '../../storage/database.ts';
import { toFileRow } from '../../storage/row-file.ts';
import { insertFile, type ResponseRow } from './store.ts';

export interface Journal {
  /** True when it cannot be lost any more; false when it has to take another way. */
  take(id: string, row: ResponseRow): boolean;
  /** Resolves when those of the responses that were taken are in the table. */
  moveThose(ids: readonly string[]): Promise<void>;
  /** Resolves when all that was taken is in the table. */
  move(): Promise<void>;
  /** Takes nothing more. What cannot be moved stays for the next start. */
  close(): Promise<void>;
}

export interface JournalParts {
  folder: string;
  database: Database;
  log: Log;
}

interface Segment {
  readonly path: string;
  /** Undefined when another process left it: then it may hold any. */
  readonly ids: string[] | undefined;
  chars: number;
  /** Present while it is written to. */
  fd: number | undefined;
}

const extension = '.rows';
/** From the first response of a file until it is moved. */
const delayMs = 100;
/** Some 250 responses: everybody else waits for the database as long as they take, 3 ms. */
const segmentChars = 512 * 1024;
/** Longer ones are not worth holding up the event loop. */
const maxChars = 256 * 1024;
/** So far the database may be behind. */
const maxSegments = 16;
/** After a failure the disk is left alone for a moment: a full one is not cured by asking. */
const pauseMs = 1_000;

export function createJournal({ folder, database, log }: JournalParts): Journal {
  /** Oldest first; only the last one is written to. */
  const segments: Segment[] = [];
  let lastNumber = 0;
  let moving = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  /** The last file could not be moved. */
  let isBehind = false;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  adopt();

  /** What a process before this one did not move. */
  function adopt(): void {
    for (const name of existsSync(folder) ? readdirSync(folder).toSorted() : []) {
      // Also of what was set aside: its name is not given again.
      lastNumber = Math.max(lastNumber, Number.parseInt(name, 10) || 0);
      if (!name.endsWith(extension)) continue;
      segments.push({ path: join(folder, name), ids: undefined, chars: 0, fd: undefined });
    }
    if (segments.length > 0) moveLater(0);
  }

  function moveLater(afterMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      move().catch(() => isClosed || moveLater(pauseMs));
    }, afterMs).unref();
  }

  /** Everything that is there now, after what is under way already. */
  function move(): Promise<void> {
    const last = segments.at(-1);
    if (last === undefined) return moving;
    finish(last);
    const moved = moving.then(async () => {
      while (segments.includes(last)) await moveFirst();
    });
    moving = moved.catch(() => {});
    return moved;
  }

  async function moveFirst(): Promise<void> {
    const [{ path }] = segments as [Segment];
    try {
      if (existsSync(path)) await insert(path);
      else log.error({ path }, 'a file of kept responses is gone');
      await rm(path, { force: true });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      if (!isBehind) log.warn({ reason }, 'kept responses cannot be moved to the database');
      isBehind = true;
      throw cause instanceof StoreUnavailable ? cause : new StoreUnavailable(reason, { cause });
    }
    if (isBehind) log.info({}, 'kept responses are moved to the database again');
    isBehind = false;
    segments.shift();
  }

  async function insert(path: string): Promise<void> {
    try {
      const unread = await insertFile(database, path);
      if (unread > 0) log.warn({ path, unread }, 'a file of kept responses ends in the middle of one');
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // What no database takes: a person has to look at it.
      await rename(path, `${path}.set-aside`);
      log.error({ err: error, path }, 'a file of kept responses was set aside');
    }
  }

  function begin(): Segment {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, String(++lastNumber).padStart(8, '0') + extension);
    const segment: Segment = { path, ids: [], chars: 0, fd: openSync(path, 'ax', 0o600) };
    segments.push(segment);
    return segment;
  }

  function write(text: string): Segment {
    const last = segments.at(-1);
    const segment = last?.fd === undefined ? begin() : last;
    try {
      const size = Buffer.byteLength(text);
      let written = writeSync(segment.fd as number, text);
      while (written < size) written += writeSync(segment.fd as number, Buffer.from(text).subarray(written));
      return segment;
    } catch (error) {
      // A part of it may be down: as the end of its file it is known to be no row.
      finish(segment);
      throw error;
    }
  }

  return {
    take(id, row) {
      if (isClosed || isBehind || row.chars > maxChars || segments.length > maxSegments) return false;
      if (performance.now() < pausedUntil) return false;
      try {
        const segment = write(toFileRow(row.values));
        segment.ids?.push(id);
        segment.chars += row.chars;
        moveLater(delayMs);
        if (segment.chars >= segmentChars) move().catch(() => {});
        return true;
      } catch (error) {
        pausedUntil = performance.now() + pauseMs;
        log.warn({ err: error }, 'the files of kept responses cannot be written');
        return false;
      }
    },

    async moveThose(ids) {
      if (
        segments.some((segment) => segment.ids === undefined || ids.some((id) => segment.ids?.includes(id)))
      )
        await move();
    },

    move,

    async close() {
      isClosed = true;
      clearTimeout(timer);
      await move().catch(() => {});
    },
  };
}

function finish(segment: Segment): void {
  if (segment.fd !== undefined) closeSync(segment.fd);
  segment.fd = undefined;
}
