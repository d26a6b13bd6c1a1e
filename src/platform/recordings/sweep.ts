/** Removes recordings in the background: ten minutes after their end, and those whose maker died. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../lib/log.ts';
import { keptMs, list, listRecordings, readEnd, removeEmpty, removeRecording, samplesPath } from './files.ts';

export interface SweepParts {
  root: string;
  now: () => number;
  log: Log;
  everyMs: number;
  /** Whether this process records it. */
  isGrowing: (path: string) => boolean;
}

export interface Sweep {
  /** Waits for the round that is under way. */
  close(): Promise<void>;
}

/** A recording that has neither ended nor grown for so long never will. */
const abandonedMs = 6 * 3_600_000;

/** The first round begins at once, so that a restart finds what ended before it. */
export function createSweep({ root, now, log, everyMs, isGrowing }: SweepParts): Sweep {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping = sweep();

  /** Never rejects: what is left over waits for the next round. */
  async function sweep(): Promise<void> {
    try {
      for (const jobId of await list(root)) await sweepJob(join(root, jobId));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason }, 'old recordings could not be removed');
    }
    if (isClosed) return;
    timer = setTimeout(() => {
      sweeping = sweep();
    }, everyMs).unref();
  }

  async function sweepJob(folder: string): Promise<void> {
    let removed = 0;
    for (const name of await listRecordings(folder)) {
      const path = samplesPath(folder, name);
      const endedAt = await readEnd(folder, name);
      const isOver =
        endedAt === undefined
          ? !isGrowing(path) && (await lastWriteAt(path)) + abandonedMs <= now()
          : endedAt + keptMs <= now();
      if (!isOver) continue;
      await removeRecording(folder, name);
      removed++;
    }
    // A folder that was empty before may be one that is about to be filled.
    if (removed > 0) await removeEmpty(folder);
  }

  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}

/** Now, for what is gone meanwhile. */
async function lastWriteAt(path: string): Promise<number> {
  const info = await stat(path).catch(() => undefined);
  return info?.mtimeMs ?? Number.POSITIVE_INFINITY;
}
