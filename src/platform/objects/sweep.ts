/** Removes what is over, in the background: passing folders after their hour, and what writers that died left behind. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../lib/log.ts';
import { parsePassingFolder } from './keys.ts';

export interface SweepParts {
  folder: string;
  incoming: string;
  log: Log;
  now: () => number;
  everyMs: number;
  /** Whether this process writes to it. */
  isOpen: (incomingName: string) => boolean;
}

export interface Sweep {
  /** Waits for the round that is under way. */
  close(): Promise<void>;
}

/** A writer that has not written for so long is dead. */
const abandonedMs = 3_600_000;

/** The first round begins at once, so that a restart finds what passed in between. */
export function createSweep({ folder, incoming, log, now, everyMs, isOpen }: SweepParts): Sweep {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping = sweep();

  /** Never rejects: what is left over waits for the next round. */
  async function sweep(): Promise<void> {
    try {
      const removed = (await sweepPassing()) + (await sweepAbandoned());
      if (removed > 0) log.info({ removed }, 'removed expired objects');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason }, 'expired objects could not be removed');
    }
    if (isClosed) return;
    timer = setTimeout(() => {
      sweeping = sweep();
    }, everyMs).unref();
  }

  async function sweepPassing(): Promise<number> {
    let removed = 0;
    for (const kind of await list(folder)) {
      for (const name of kind.startsWith('.') ? [] : await list(join(folder, kind))) {
        const overAt = parsePassingFolder(name);
        if (overAt === undefined || overAt > now()) continue;
        await rm(join(folder, kind, name), { recursive: true, force: true });
        removed++;
      }
    }
    return removed;
  }

  async function sweepAbandoned(): Promise<number> {
    let removed = 0;
    for (const name of await list(incoming)) {
      if (isOpen(name)) continue;
      const path = join(incoming, name);
      const info = await stat(path).catch(() => undefined);
      if (info === undefined || info.mtimeMs + abandonedMs > now()) continue;
      await rm(path, { force: true });
      removed++;
    }
    return removed;
  }

  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}

/** What is in a folder; nothing, where there is none. */
async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
