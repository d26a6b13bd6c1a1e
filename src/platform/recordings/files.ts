/**
 * The files of recordings: `<job>/<attempt>-<index>.pcm` grows while the sound is made, and `<attempt>-<index>.end`
 * beside it says when it ended. A file that nothing replaces is complete as far as it goes, so a reader needs no lock.
 */
import assert from 'node:assert';
import { readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordingId } from './types.ts';

/** Listening is still possible for so long after the end. */
export const keptMs = 600_000;

type Name = Omit<RecordingId, 'jobId'>;

const samplesName = /^(\d+)-(\d+)\.pcm$/;

export function jobFolder(root: string, jobId: string): string {
  assert(/^[a-z0-9_]{1,100}$/.test(jobId), `${JSON.stringify(jobId)} is not the id of a job`);
  return join(root, jobId);
}

export function samplesPath(folder: string, { attempt, index }: Name): string {
  return join(folder, `${attempt}-${index}.pcm`);
}

function endPath(folder: string, { attempt, index }: Name): string {
  return join(folder, `${attempt}-${index}.end`);
}

/** What a job has, in no order. */
export async function listRecordings(folder: string): Promise<Name[]> {
  const names = await list(folder);
  return names.flatMap((name) => {
    const [, attempt, index] = samplesName.exec(name) ?? [];
    return index === undefined ? [] : [{ attempt: Number(attempt), index: Number(index) }];
  });
}

/** The song as the last attempt has it: what an earlier one left behind is worth nothing. */
export async function findCurrent(folder: string, index: number): Promise<Name | undefined> {
  const all = await listRecordings(folder);
  const last = Math.max(...all.map(({ attempt }) => attempt));
  return all.find((name) => name.attempt === last && name.index === index);
}

export async function markEnd(folder: string, name: Name, endedAt: number): Promise<void> {
  const path = endPath(folder, name);
  await writeFile(`${path}ing`, String(endedAt), { mode: 0o600 });
  // So that nobody reads half a time.
  await rename(`${path}ing`, path);
}

export async function readEnd(folder: string, name: Name): Promise<number | undefined> {
  try {
    return Number(await readFile(endPath(folder, name), 'utf8'));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The samples first: a mark without them means nothing, while samples without their mark would seem to grow. */
export async function removeRecording(folder: string, name: Name): Promise<void> {
  await rm(samplesPath(folder, name), { force: true });
  await rm(endPath(folder, name), { force: true });
  await rm(`${endPath(folder, name)}ing`, { force: true });
}

/** Nothing happens when something is in it, or when it is gone. */
export async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (!isMissing(error) && error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

/** What is in a folder; nothing, where there is none. */
export async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
