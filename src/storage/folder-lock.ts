/**
 * Keeps a second process out of a data folder. The lock is an exclusive transaction on a tiny SQLite file:
 * the kernel drops it with the process, also after `kill -9`, so it can never be stale. POSIX locks are lost
 * when any handle of the process on that file is closed: nothing else may open `lock`, and the pid stands in
 * a file of its own.
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another process uses the data folder. `pid` is unknown in the instant before it has been written. */
export class FolderInUse extends Error {
  readonly pid: number | undefined;

  constructor(pid: number | undefined) {
    const who = pid === undefined ? 'another roundhouse process' : `another roundhouse process (pid ${pid})`;
    super(`${who} uses this data folder`);
    this.name = 'FolderInUse';
    this.pid = pid;
  }
}

/** SQLite makes its other files with the mode of this one. */
export const databaseFile = 'roundhouse.db';

/** A command of the command line may hold the folder for a moment. */
const patienceMs = 1_500;

/** Takes the folder, making it if it is not there, and answers what gives it back. Blocks while it waits. */
export function lockFolder(folder: string, { waitMs = patienceMs } = {}): () => void {
  makeFolder(folder);
  // Only its owner may read what is kept here, also in a folder that others can open.
  for (const name of ['lock', databaseFile]) closeSync(openSync(join(folder, name), 'a', 0o600));
  const pidFile = join(folder, 'roundhouse.pid');
  const lock = new DatabaseSync(join(folder, 'lock'), { timeout: waitMs });
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    const busy = 5;
    if ((error as { errcode?: number }).errcode === busy) throw new FolderInUse(readPid(pidFile));
    throw error;
  }
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return () => {
    rmSync(pidFile, { force: true });
    lock.close();
  };
}

/** Level by level: `mkdir` with `recursive` never returns where the kernel makes no folders, such as in /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return Number.isNaN(pid) ? undefined : pid;
  } catch {
    return undefined;
  }
}
