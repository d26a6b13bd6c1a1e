/**
 * One listener: reads the file at its own pace from the first byte and waits at its end for more. Nothing is held for
 * it in memory, so however slow it is, neither the one who records nor another listener notices.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { Bell } from './bell.ts';
import { findCurrent, isMissing, jobFolder, keptMs, listRecordings, readEnd, samplesPath } from './files.ts';
import type { RecordingId } from './types.ts';

export interface FollowParts {
  root: string;
  bell: Bell;
  now: () => number;
  /** How long a change that another process makes may go unnoticed. */
  pollMs: number;
  /** Aborted when the gateway closes or the listener leaves. */
  signal: AbortSignal;
  isOver: () => Promise<boolean>;
}

const chunkBytes = 64 * 1024;
/** So many polls in a row without news, and it is asked whether anybody still makes anything. */
const quietPolls = 5;

interface Opened {
  file: FileHandle;
  attempt: number;
}

export async function* follow(
  { jobId, index }: Omit<RecordingId, 'attempt'>,
  { root, bell, now, pollMs, signal, isOver }: FollowParts,
): AsyncGenerator<Buffer, void, void> {
  const folder = jobFolder(root, jobId);
  const ear = bell.listen(jobId);
  let quiet = 0;
  const wait = async () => {
    quiet = (await ear.wait(pollMs, signal)) === 'rung' ? 0 : quiet + 1;
  };
  const isNothingComing = async () => {
    if (quiet < quietPolls) return false;
    quiet = 0;
    return isOver();
  };

  let opened: Opened | undefined;
  try {
    for (let isLast = false; ; isLast = await isNothingComing()) {
      opened = await openCurrent(folder, index, now);
      if (opened !== undefined) break;
      if (isLast || signal.aborted) return;
      await wait();
    }
    const { file, attempt } = opened;
    for (let hasEnded = false; ; ) {
      // Asked before the bytes are looked for: what was written until then is still read.
      const isLast = await isNothingComing();
      hasEnded ||= (await readEnd(folder, { attempt, index })) !== undefined;
      const state = await standing(file, folder, { attempt, index });
      if (signal.aborted || state === 'replaced' || (state === 'removed' && !hasEnded)) return;
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, null);
      if (bytesRead > 0) {
        quiet = 0;
        yield chunk.subarray(0, bytesRead);
      } else if (hasEnded || isLast) return;
      else await wait();
    }
  } finally {
    ear.close();
    await opened?.file.close();
  }
}

async function openCurrent(folder: string, index: number, now: () => number): Promise<Opened | undefined> {
  const name = await findCurrent(folder, index);
  if (name === undefined) return undefined;
  const endedAt = await readEnd(folder, name);
  if (endedAt !== undefined && endedAt + keptMs <= now()) return undefined;
  try {
    return { file: await open(samplesPath(folder, name)), attempt: name.attempt };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Of a file that is open: whether it is still the song, another attempt has begun, or it was removed for good. */
async function standing(
  file: FileHandle,
  folder: string,
  { attempt, index }: { attempt: number; index: number },
): Promise<'current' | 'replaced' | 'removed'> {
  // A file without a name in any folder has been removed.
  if ((await file.stat()).nlink > 0) return 'current';
  const all = await listRecordings(folder);
  const isReplaced = all.some(
    (other) => other.attempt > attempt || (other.attempt === attempt && other.index === index),
  );
  return isReplaced ? 'replaced' : 'removed';
}
