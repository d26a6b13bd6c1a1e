/** Recordings as growing files: who records appends, who listens reads behind, in this process or in another. */
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../lib/log.ts';
import { isNoRoom, noRoomLeft } from '../objects/index.ts';
import { createBell } from './bell.ts';
import {
  findCurrent,
  isMissing,
  jobFolder,
  keptMs,
  listRecordings,
  markEnd,
  readEnd,
  removeRecording,
  samplesPath,
} from './files.ts';
import { follow } from './follow.ts';
import { createSweep } from './sweep.ts';
import type { Recorder, RecordingId, Recordings } from './types.ts';

export interface RecordingsParts {
  /** The data folder. */
  folder: string;
  now: () => number;
  log: Log;
  pollMs?: number;
  sweepEveryMs?: number;
}

const defaultPollMs = 200;
const defaultSweepEveryMs = 60_000;

export function createRecordings({
  folder: dataFolder,
  now,
  log,
  pollMs = defaultPollMs,
  sweepEveryMs = defaultSweepEveryMs,
}: RecordingsParts): Recordings {
  const root = join(dataFolder, 'recordings');
  const bell = createBell();
  const closing = new AbortController();
  const growing = new Map<string, FileHandle>();
  const sweep = createSweep({
    root,
    now,
    log,
    everyMs: sweepEveryMs,
    isGrowing: (path) => growing.has(path),
  });

  async function begin({ jobId, attempt, index }: RecordingId): Promise<FileHandle> {
    const folder = jobFolder(root, jobId);
    // A job that was given back is taken up with its number: what it had recorded is not continued but replaced.
    await removeRecording(folder, { attempt, index });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(samplesPath(folder, { attempt, index }), 'wx', 0o600);
    try {
      for (const earlier of await listRecordings(folder))
        if (earlier.attempt < attempt) await removeRecording(folder, earlier);
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  }

  function createRecorder(id: RecordingId, file: FileHandle): Recorder {
    const folder = jobFolder(root, id.jobId);
    const path = samplesPath(folder, id);
    // One after the other: two writes at once could come to stand in each other's middle.
    let last: Promise<void> = Promise.resolve();
    let isEnded = false;
    return {
      write(samples) {
        const written = last.then(async () => {
          await file.appendFile(samples).catch(toFailure);
          bell.ring(id.jobId);
        });
        last = written.catch(() => {});
        return written;
      },

      async end() {
        // After `close` there is nothing left to end.
        if (isEnded || closing.signal.aborted) return;
        isEnded = true;
        await last;
        try {
          // A later attempt has its place, or the job was removed: nobody asks when this one ended.
          if ((await file.stat()).nlink > 0) await markEnd(folder, id, now());
        } catch (error) {
          // Without its mark it would seem to grow for hours, on a disk that is full.
          if (isNoRoom(error)) await removeRecording(folder, id);
          else if (!isMissing(error)) throw error;
        } finally {
          if (growing.get(path) === file) growing.delete(path);
          await file.close();
          bell.ring(id.jobId);
        }
      },
    };
  }

  return {
    async record(id) {
      const file = await begin(id).catch(toFailure);
      growing.set(samplesPath(jobFolder(root, id.jobId), id), file);
      bell.ring(id.jobId);
      return createRecorder(id, file);
    },

    follow: (id, isOver, signal) =>
      follow(id, { root, bell, now, pollMs, isOver, signal: AbortSignal.any([signal, closing.signal]) }),

    async isKept({ jobId, index }) {
      const folder = jobFolder(root, jobId);
      const name = await findCurrent(folder, index);
      if (name === undefined) return false;
      const endedAt = await readEnd(folder, name);
      return endedAt === undefined || endedAt + keptMs > now();
    },

    async remove(jobId) {
      await rm(jobFolder(root, jobId), { recursive: true, force: true });
      bell.ring(jobId);
    },

    /** What is being recorded then has no end: whoever takes the job up records it anew. */
    async close() {
      closing.abort();
      await sweep.close();
      for (const file of growing.values()) await file.close();
      growing.clear();
    },
  };
}

function toFailure(error: unknown): never {
  throw isNoRoom(error) ? noRoomLeft('the recording', error) : error;
}
