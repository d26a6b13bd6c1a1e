/**
 * One process at a time works on a pack. The lock is an exclusive transaction on a tiny SQLite file, as for the
 * data folder: the kernel drops it with the process, also after `kill -9`, so it can never be stale. The file
 * itself stays: who deleted it could let two in.
 */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const busy = 5;

/** Answers what gives the lock back, or undefined when another holds it. */
export function tryLock(file: string): (() => void) | undefined {
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === busy) return undefined;
    throw error;
  }
  return () => lock.close();
}

const lookAgainMs = 250;

/** Waits for the lock; `onWait` hears of each look in vain. */
export async function takeLock(
  file: string,
  { signal, onWait }: { signal: AbortSignal; onWait: () => void },
): Promise<() => void> {
  while (true) {
    signal.throwIfAborted();
    const release = tryLock(file);
    if (release !== undefined) return release;
    onWait();
    await sleep(lookAgainMs, undefined, { signal });
  }
}
