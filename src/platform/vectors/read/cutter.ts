/**
 * Files to pieces, in a thread of its own for each, with limits on time, memory and output, so that a hostile file
 * neither blocks the event loop nor takes the process down.
 */
import { Worker } from 'node:worker_threads';
import { watchedThread, watchMemory } from '../../../lib/thread-memory.ts';
import type { Chunk } from '../parts.ts';
import type { CutJob, CutMessage } from './cut-worker.ts';
import { damagedFile, invalid, unsupported } from './refusal.ts';

export interface CutFile {
  /** Handed over: of no use to the caller any more. */
  readonly bytes: Buffer;
  readonly filename: string;
  /** So many pieces are there already. */
  readonly skip: number;
}

export interface Cutter {
  /** Batches of pieces, in their order. Rejects with a refusal (`refusal.ts`), or with the signal's reason. */
  cut(file: CutFile, signal: AbortSignal): AsyncGenerator<readonly Chunk[]>;
}

export interface CutLimits {
  /** That the thread works in all; what the caller takes to store a batch is not counted. */
  timeoutMs: number;
  /** Twenty million characters are about five million tokens: what OpenAI takes in one file. */
  maxCharacters: number;
  maxChunks: number;
  batchChunks: number;
  /** That a thread may take: its heap, and the buffers outside of it. */
  maxMemoryBytes: number;
}

export const cutLimits: CutLimits = {
  timeoutMs: 180_000,
  maxCharacters: 20_000_000,
  maxChunks: 50_000,
  batchChunks: 64,
  maxMemoryBytes: 768 * 1024 * 1024,
};

/** Starts the thread; tests put one of their own here. */
export type StartCutWorker = (job: CutJob) => Worker;

export function createCutter(
  limits: CutLimits = cutLimits,
  startWorker: StartCutWorker = startCutWorker,
): Cutter {
  return {
    async *cut({ bytes, filename, skip }, signal) {
      signal.throwIfAborted();
      const { maxCharacters, maxChunks, batchChunks } = limits;
      const worker = startWorker({
        bytes: toOwn(bytes),
        filename,
        skip,
        maxCharacters,
        maxChunks,
        batchChunks,
      });
      const inbox = openInbox(worker, limits, signal);
      try {
        for (;;) {
          const message = await inbox.next();
          if ('refusal' in message) {
            const { code } = message.refusal;
            throw code === 'invalid_file'
              ? invalid(message.refusal.message)
              : unsupported(message.refusal.message);
          }
          if ('end' in message) return;
          yield message.chunks;
          worker.postMessage('next');
        }
      } finally {
        inbox.close();
        await worker.terminate();
      }
    },
  };
}

interface Inbox {
  next(): Promise<CutMessage>;
  close(): void;
}

/** The thread's messages in order; whatever ends it early is the last one. */
function openInbox(worker: Worker, { timeoutMs, maxMemoryBytes }: CutLimits, signal: AbortSignal): Inbox {
  const messages: CutMessage[] = [];
  let waiting: PromiseWithResolvers<CutMessage> | undefined;
  let failure: unknown;
  let leftMs = timeoutMs;

  function receive(message: CutMessage): void {
    if (waiting === undefined) messages.push(message);
    else waiting.resolve(message);
    waiting = undefined;
  }
  function fail(error: unknown): void {
    failure ??= error;
    waiting?.reject(failure);
    waiting = undefined;
  }
  const tooLarge = () =>
    fail(invalid('The file takes too much memory to be read: split it into several files'));
  const onLeave = () => fail(signal.reason);
  signal.addEventListener('abort', onLeave);
  worker.on('message', receive);
  worker.once('error', (error: NodeJS.ErrnoException) =>
    error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge() : fail(invalid(damagedFile, error)),
  );
  worker.once('exit', () => fail(invalid(damagedFile)));
  const stopWatching = watchMemory(worker, maxMemoryBytes, tooLarge);

  return {
    async next() {
      const ready = messages.shift();
      if (ready !== undefined) return ready;
      if (failure !== undefined) throw failure;
      const slow = invalid(
        `The file could not be read within ${timeoutMs / 1000} s: split it into several files`,
      );
      const timer = setTimeout(() => fail(slow), leftMs);
      const startedAt = performance.now();
      waiting = Promise.withResolvers();
      try {
        return await waiting.promise;
      } finally {
        clearTimeout(timer);
        leftMs = Math.max(1, leftMs - (performance.now() - startedAt));
      }
    },
    close() {
      stopWatching();
      signal.removeEventListener('abort', onLeave);
    },
  };
}

/** A small Buffer shares its memory with others and is copied; a large one is handed over as it is. */
function toOwn(bytes: Buffer): Uint8Array {
  const isWhole = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
  return isWhole ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
}

function startCutWorker(job: CutJob): Worker {
  return new Worker(new URL('./cut-worker.ts', import.meta.url), {
    workerData: job,
    transferList: [job.bytes.buffer as ArrayBuffer],
    resourceLimits: watchedThread,
    // Whatever a reader prints is not for our output.
    stdout: true,
    stderr: true,
  });
}
