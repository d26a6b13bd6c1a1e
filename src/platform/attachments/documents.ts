/**
 * Documents as text. A file is read in a thread of its own with limits on time, memory and output, so that a
 * hostile one neither blocks the event loop nor takes the process down; two are read at once, the rest wait.
 */
import { Worker } from 'node:worker_threads';
import { GatewayError, refusal } from '../../lib/errors.ts';
import { watchedThread, watchMemory } from '../../lib/thread-memory.ts';
import type { DocumentJob, DocumentOutcome } from './document-worker.ts';
import { acceptedDocuments, decodeText, sniffDocument } from './media-type.ts';

export interface Document {
  readonly bytes: Buffer;
  readonly filename: string;
  /** What the sender says it is: a hint where the bytes leave it open. */
  readonly mediaType: string;
  /** The field it came from: failures name it. */
  readonly param: string;
}

export interface DocumentReader {
  toText(document: Document, signal: AbortSignal): Promise<string>;
  /** Ends the threads under way. */
  close(): Promise<void>;
}

export interface DocumentLimits {
  timeoutMs: number;
  maxCharacters: number;
  /** That a thread may take: its heap, and the buffers outside of it. */
  maxMemoryBytes: number;
  atOnce: number;
}

/** Four million characters are about a million tokens: more than nearly any window. */
export const documentLimits: DocumentLimits = {
  timeoutMs: 20_000,
  maxCharacters: 4_000_000,
  maxMemoryBytes: 768 * 1024 * 1024,
  atOnce: 2,
};

/** Starts the thread; tests put one of their own here. */
export type StartWorker = (job: DocumentJob) => Worker;

export function createDocumentReader(
  limits: DocumentLimits = documentLimits,
  startWorker: StartWorker = startDocumentWorker,
): DocumentReader {
  const running = new Set<Worker>();
  const waiting: (() => void)[] = [];
  let free = limits.atOnce;

  async function enter(signal: AbortSignal): Promise<void> {
    if (free > 0) {
      free--;
      return;
    }
    const turn = Promise.withResolvers<void>();
    const onLeave = () => {
      const place = waiting.indexOf(turn.resolve);
      // Not in line any more: its turn has just come.
      if (place < 0) return;
      waiting.splice(place, 1);
      turn.reject(signal.reason);
    };
    waiting.push(turn.resolve);
    signal.addEventListener('abort', onLeave);
    await turn.promise.finally(() => signal.removeEventListener('abort', onLeave));
  }

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  }

  function run(job: DocumentJob, signal: AbortSignal): Promise<DocumentOutcome | { failure: 'too_slow' }> {
    const { promise, resolve, reject } = Promise.withResolvers<DocumentOutcome | { failure: 'too_slow' }>();
    const worker = startWorker(job);
    running.add(worker);
    const timer = setTimeout(() => resolve({ failure: 'too_slow' }), limits.timeoutMs);
    const stopWatching = watchMemory(worker, limits.maxMemoryBytes, () => resolve({ failure: 'damaged' }));
    const onLeave = () => reject(signal.reason);
    signal.addEventListener('abort', onLeave);
    worker.once('message', resolve);
    // A fault inside of a reader: the file's doing.
    worker.once('error', () => resolve({ failure: 'damaged' }));
    worker.once('exit', () => resolve({ failure: 'damaged' }));
    return promise.finally(async () => {
      clearTimeout(timer);
      stopWatching();
      signal.removeEventListener('abort', onLeave);
      await worker.terminate();
      running.delete(worker);
    });
  }

  return {
    async toText({ bytes, filename, mediaType, param }, signal) {
      signal.throwIfAborted();
      const kind = sniffDocument(bytes, filename, mediaType);
      if (kind === undefined)
        throw refusal(param, `is not a document of an accepted kind: ${acceptedDocuments}`);
      const { maxCharacters } = limits;
      let text: string;
      if (kind === 'text') text = decodeText(bytes).trim();
      else {
        await enter(signal);
        try {
          signal.throwIfAborted();
          // A copy of its own: it is handed over, and a small Buffer shares its memory with others.
          const outcome = await run({ kind, bytes: new Uint8Array(bytes), maxCharacters }, signal);
          if ('failure' in outcome) throw toRefusal(outcome.failure, kind, param, limits);
          text = outcome.text;
        } finally {
          leave();
        }
      }
      if (text === '') throw refusal(param, emptyDocument(kind));
      if (text.length > maxCharacters) throw tooLong(param, maxCharacters);
      return text;
    },
    async close() {
      await Promise.all([...running].map((worker) => worker.terminate()));
    },
  };
}

function startDocumentWorker(job: DocumentJob): Worker {
  return new Worker(new URL('./document-worker.ts', import.meta.url), {
    workerData: job,
    transferList: [job.bytes.buffer as ArrayBuffer],
    resourceLimits: watchedThread,
    // Whatever a reader prints is not for our output.
    stdout: true,
    stderr: true,
  });
}

function toRefusal(
  failure: 'encrypted' | 'damaged' | 'too_long' | 'too_slow',
  kind: string,
  param: string,
  { timeoutMs, maxCharacters }: DocumentLimits,
): GatewayError {
  switch (failure) {
    case 'encrypted':
      return refusal(param, 'is encrypted: send it without a password');
    case 'damaged':
      return refusal(param, `cannot be read as ${kind}`);
    case 'too_slow':
      return refusal(param, `could not be converted to text within ${timeoutMs / 1000} s`);
    case 'too_long':
      return tooLong(param, maxCharacters);
  }
}

function emptyDocument(kind: string): string {
  return kind === 'pdf' ? 'has no text: scanned pages are not read' : 'has no text';
}

function tooLong(param: string, maxCharacters: number): GatewayError {
  const message = `${param} holds more text than the limit of ${maxCharacters} characters`;
  return new GatewayError('too_large', message, { param });
}
