/** Keeps what it is given in memory up to a size, and beyond it in a file whose name is removed as soon as it is open. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { inMemory } from '../../lib/content.ts';
import type { Log } from '../../lib/log.ts';
import { isNoRoom, noRoomLeft } from '../objects/room.ts';
import { ScratchFile } from './file.ts';
import type { Kept, Scratch } from './types.ts';

export interface ScratchParts {
  readonly folder: string;
  readonly log: Log;
  readonly now: () => number;
}

/** What is smaller is not worth a file. */
const smallBytes = 256 * 1024;
/** A name lives for a moment: one that is older belonged to a process that was killed in it. */
const abandonedMs = 60_000;

export function createScratch({ folder, log, now }: ScratchParts): Scratch {
  const sweeping = sweep();

  /** Never rejects: what is left over waits for the next start. */
  async function sweep(): Promise<void> {
    try {
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        if ((await stat(path)).mtimeMs + abandonedMs < now()) await rm(path, { force: true });
      }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') log.warn({ reason: message }, 'abandoned scratch files could not be removed');
    }
  }

  async function create(start: Uint8Array): Promise<ScratchFile> {
    const path = join(folder, randomBytes(12).toString('hex'));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const handle = await open(path, 'wx+', 0o600);
    const file = new ScratchFile(handle);
    try {
      await rm(path, { force: true });
      await file.append(start);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async function keep(data: AsyncIterable<Uint8Array>): Promise<Kept> {
    let file: ScratchFile | undefined;
    let small = Buffer.alloc(0);
    try {
      for await (const piece of data) {
        const isSmall = file === undefined && small.length + piece.byteLength < smallBytes;
        if (isSmall) small = Buffer.concat([small, piece]);
        else {
          file ??= await create(small);
          await file.append(piece);
        }
      }
      return file ?? { ...inMemory([small]), close: async () => {} };
    } catch (error) {
      await file?.close();
      throw error;
    }
  }

  return {
    async keep(data) {
      try {
        return await keep(data);
      } catch (error) {
        if (!isNoRoom(error)) throw error;
        log.error({ err: error }, 'no room left for what a request brings');
        throw noRoomLeft('another file', error);
      }
    },
    close: () => sweeping,
  };
}
