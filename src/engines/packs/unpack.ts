/**
 * Takes files out of a tarball whose bytes have been checked. Nothing else of it touches the disk, and nothing
 * of it is run. Its parts are put together here, each after the one before it.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { ReadEntry } from 'tar';
import { damaged } from './failure.ts';
import type { PackFile } from './types.ts';

export interface Unpacker {
  /** `index` says which of the pack's tarballs the file is. */
  take(tarballFile: string, index: number, signal: AbortSignal): Promise<void>;
}

/** Puts the files into `folder` under their names. They are whole when every tarball has been taken. */
export function createUnpacker(files: readonly PackFile[], folder: string): Unpacker {
  /** How many parts of a file stand in it. */
  const joined = new Map<PackFile, number>(files.map((file) => [file, 0]));
  const early = new Map<PackFile, Set<number>>(files.map((file) => [file, new Set()]));
  const sidePath = (file: PackFile, part: number) => join(folder, `${file.name}.part${part}`);

  async function write(file: PackFile, part: number, entry: ReadEntry): Promise<void> {
    // Tarballs keep their files in any order: what comes early waits beside the file.
    const isNext = joined.get(file) === part;
    if (entry.size > file.bytes) throw damaged(`${file.name} is larger than the ${file.bytes} bytes pinned`);
    const handle = await open(isNext ? join(folder, file.name) : sidePath(file, part), 'a', 0o600);
    try {
      for await (const chunk of entry) await handle.write(chunk);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    if (!isNext) early.get(file)?.add(part);
    else await joinWaiting(file, part + 1);
  }

  async function joinWaiting(file: PackFile, from: number): Promise<void> {
    let next = from;
    for (; early.get(file)?.has(next); next++) {
      const side = sidePath(file, next);
      const end = createWriteStream(join(folder, file.name), { flags: 'a', flush: true });
      await pipeline(createReadStream(side), end);
      await rm(side);
    }
    joined.set(file, next);
  }

  return {
    async take(tarballFile, index, signal) {
      const wanted = new Map<string, { file: PackFile; part: number }>();
      for (const file of files) {
        for (const [part, { tarball, path }] of file.parts.entries()) {
          if (tarball === index) wanted.set(path, { file, part });
        }
      }
      await readEntries(tarballFile, signal, async (path, entry) => {
        const found = wanted.get(path);
        if (found === undefined) return;
        wanted.delete(path);
        await write(found.file, found.part, entry);
      });
      for (const path of wanted.keys()) throw damaged(`${path} is missing in its tarball`);
    },
  };
}

/** Regular files only, by their path in the package; what `onFile` leaves unread is skipped. */
async function readEntries(
  tarballFile: string,
  signal: AbortSignal,
  onFile: (path: string, entry: ReadEntry) => Promise<void>,
): Promise<void> {
  // Only a pull needs it.
  const { Parser } = await import('tar');
  let failure: unknown;
  // An entry ends for the parser before its last bytes are written: the next one waits for them.
  let reading = Promise.resolve();
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      reading = reading.then(() => read(entry));
    },
  });
  const read = async (entry: ReadEntry) => {
    try {
      // The first folder is the package's own, which most call `package`.
      const path = entry.path.replace(/^[^/]*\//, '');
      if (entry.type === 'File' || entry.type === 'OldFile') await onFile(path, entry);
    } catch (error) {
      failure ??= error;
    } finally {
      entry.resume();
    }
  };
  parser.on('error', (error) => {
    failure ??= error;
  });
  const ended = once(parser, 'end');
  // Node's own gunzip works beside the event loop; the parser's would work on it.
  await pipeline(
    createReadStream(tarballFile, { highWaterMark: 256 * 1024 }),
    createGunzip(),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        if (failure !== undefined) throw failure;
        if (!parser.write(chunk)) await once(parser, 'drain', { signal });
      }
      parser.end();
      await ended;
      await reading;
      if (failure !== undefined) throw failure;
    },
    { signal },
  );
}
