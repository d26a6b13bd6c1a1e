/**
 * The folder in which one process keeps its journal. Several may share a data folder (a gateway and a command
 * beside it, both on PostgreSQL), so each has a folder of its own and holds its lock while it lives. What a
 * dead one left behind is taken over, by one of the living.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FolderInUse, lockFolder } from '../../storage/folder-lock.ts';

const extension = '.jsonl';

export interface JournalFolder {
  readonly path: string;
  /** The files of its segments, oldest first. */
  segments(): string[];
  /** Gives it back, and removes it when no segment is left in it. */
  leave(): void;
}

export function createOwnFolder(root: string): JournalFolder {
  for (;;) {
    const path = join(root, randomBytes(6).toString('hex'));
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const folder = enter(path);
    // Another process may have seen it empty and removed it before the lock was taken.
    if (existsSync(join(path, 'lock'))) return folder;
    folder.leave();
  }
}

/** The folders that nobody holds. */
export function adoptFolders(root: string): JournalFolder[] {
  if (!existsSync(root)) return [];
  const adopted: JournalFolder[] = [];
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    try {
      adopted.push(enter(join(root, entry.name)));
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error;
    }
  }
  return adopted;
}

export function segmentName(number: number): string {
  return `${String(number).padStart(8, '0')}${extension}`;
}

function enter(path: string): JournalFolder {
  const unlock = lockFolder(path, { waitMs: 0 });
  const segments = () =>
    existsSync(path)
      ? readdirSync(path)
          .filter((name) => name.endsWith(extension))
          .toSorted()
      : [];
  return {
    path,
    segments,
    leave() {
      // Removed while the lock is still held, so that nobody enters in between.
      if (segments().length === 0) rmSync(path, { recursive: true, force: true });
      unlock();
    },
  };
}
