/**
 * Objects as files. A new one is written into a folder of its own, brought safely to the disk and then moved to its
 * place, so that a crash at any point leaves either the whole object or none.
 */
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Log } from '../../lib/log.ts';
import { checkKey, toPassingKey } from './keys.ts';
import { isNoRoom, noRoomLeft } from './room.ts';
import { createSweep } from './sweep.ts';
import type { ObjectInfo, ObjectKey, Objects } from './types.ts';

export interface ObjectsParts {
  folder: string;
  log: Log;
  now: () => number;
  sweepEveryMs?: number;
}

const defaultSweepEveryMs = 300_000;

export function createObjects({
  folder,
  log,
  now,
  sweepEveryMs = defaultSweepEveryMs,
}: ObjectsParts): Objects {
  // No key begins with a dot.
  const incoming = join(folder, '.incoming');
  const writing = new Set<string>();
  const sweep = createSweep({
    folder,
    incoming,
    log,
    now,
    everyMs: sweepEveryMs,
    isOpen: (name) => writing.has(name),
  });

  function pathOf(key: ObjectKey): string {
    checkKey(key);
    return join(folder, key);
  }

  return {
    async put(key, data) {
      const path = pathOf(key);
      const writtenAt = now();
      const name = randomBytes(12).toString('hex');
      const incomingPath = join(incoming, name);
      writing.add(name);
      try {
        await mkdir(incoming, { recursive: true, mode: 0o700 });
        const bytes = await writeFile(incomingPath, data, writtenAt);
        await moveTo(path, incomingPath, folder);
        return { bytes, writtenAt };
      } catch (error) {
        await rm(incomingPath, { force: true });
        if (!isNoRoom(error)) throw error;
        log.error({ key, err: error }, 'no room left for an object');
        throw noRoomLeft('another file', error);
      } finally {
        writing.delete(name);
      }
    },

    async find(key) {
      return orNothing(async () => {
        const info = await stat(pathOf(key));
        return info.isFile() ? toInfo(info) : undefined;
      });
    },

    read: (key) => orNothing(() => readFile(pathOf(key))),

    open: (key, range) =>
      orNothing(async () => {
        const file = await open(pathOf(key));
        if ((await file.stat()).isFile()) return file.createReadStream({ ...range });
        await file.close();
        return undefined;
      }),

    async remove(key) {
      await orNothing(() => rm(pathOf(key), { recursive: true, force: true }));
    },

    passingKey: toPassingKey,
    close: () => sweep.close(),
  };
}

function toInfo({ size, mtimeMs }: { size: number; mtimeMs: number }): ObjectInfo {
  return { bytes: size, writtenAt: Math.round(mtimeMs) };
}

/** Answers how many bytes there were. */
async function writeFile(
  path: string,
  data: Uint8Array | AsyncIterable<Uint8Array>,
  writtenAt: number,
): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  try {
    let bytes = 0;
    for await (const chunk of data instanceof Uint8Array ? [data] : data) {
      await file.appendFile(chunk);
      bytes += chunk.length;
    }
    await file.utimes(writtenAt / 1000, writtenAt / 1000);
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** A new name is safe on the disk only when the folder that holds it is. */
async function moveTo(path: string, from: string, root: string): Promise<void> {
  const folder = dirname(path);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  await rename(from, path);
  await syncFolder(folder);
  if (made === undefined) return;
  for (let above = dirname(folder); above.length >= root.length; above = dirname(above))
    await syncFolder(above);
}

async function syncFolder(path: string): Promise<void> {
  let folder: FileHandle | undefined;
  try {
    folder = await open(path);
    await folder.sync();
  } finally {
    await folder?.close();
  }
}

/** There is nothing at that place, or a folder. */
async function orNothing<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined;
    throw error;
  }
}
