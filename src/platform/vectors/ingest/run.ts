/**
 * One run at a file: read and cut it, embed what has no vector yet, finish. Every step is saved before the next one
 * begins, and knows what the steps before it have saved:
 *
 *   leased → cutting (pieces are kept, batch by batch) → cut → embedding (pieces become items, batch by batch) → completed
 *
 * A run that dies is followed by one that goes on behind the last batch. Whatever says that the file is not the run's
 * own any more (it was deleted, or its lease went to another) ends it without a word.
 */
import type { Log } from '../../../lib/log.ts';
import type { Objects } from '../../objects/types.ts';
import type { Cutter } from '../read/index.ts';
import type { EmbedBatch } from './embed-batch.ts';
import { givenUp, judge, maxAttempts } from './failure.ts';
import type { IngestStore, LeasedFile, LeaseHold } from './types.ts';

export interface RunParts {
  store: IngestStore;
  objects: Pick<Objects, 'read'>;
  cutter: Cutter;
  embedBatch: EmbedBatch;
  now: () => number;
  log: Log;
  workerId: string;
  /** After so long of embedding a file goes to the end of the line, so that a large one keeps no small one waiting. */
  sliceMs: number;
  /** How many pieces are embedded and saved at once. */
  batchItems: number;
  /** How often in a row a model's embeddings were not to be had; it is kept over all runs. */
  waits: Map<string, number>;
}

export interface Run {
  readonly fileId: string;
  /** Never rejects. */
  readonly ended: Promise<void>;
  /** `lost`: the file is another's, or nobody's, by now. `closing`: it is given back. */
  stop(reason: Leaving): void;
}

type Leaving = 'lost' | 'closing';

export function startRun(parts: RunParts, file: LeasedFile): Run {
  const { store, log, now, waits } = parts;
  const hold: LeaseHold = { fileId: file.id, workerId: parts.workerId };
  const leaving = new AbortController();

  async function run(): Promise<void> {
    try {
      if (file.attempts >= maxAttempts) {
        log.error({ file: file.id, attempts: file.attempts }, 'a file was interrupted too often');
        await store.failFile(hold, givenUp);
      } else if (await cutFile(parts, file, hold, leaving.signal)) {
        await embedFile(parts, file, hold, leaving.signal);
      }
    } catch (error) {
      await settle(error).catch((cause) =>
        log.warn({ file: file.id, err: cause }, 'a file was not given back: its lease runs out'),
      );
    }
  }

  async function settle(error: unknown): Promise<void> {
    if (leaving.signal.aborted) {
      if (leaving.signal.reason === ('closing' satisfies Leaving)) await store.giveBack(hold, now());
      return;
    }
    const count = waits.get(file.modelId) ?? 0;
    const verdict = judge(error, count);
    switch (verdict.type) {
      case 'fail':
        log.info({ file: file.id, reason: verdict.error.message }, 'a file cannot be read');
        await store.failFile(hold, verdict.error);
        return;
      case 'wait':
        waits.set(file.modelId, count + 1);
        log.warn({ file: file.id, model: file.modelId, err: error }, 'a file waits for its embeddings');
        await store.giveBack(hold, now() + verdict.retryAfterMs);
        return;
      case 'drop':
        log.error({ file: file.id, err: error }, 'a file failed: it is tried again when its lease is over');
    }
  }

  return { fileId: file.id, ended: run(), stop: (reason) => leaving.abort(reason) };
}

/** False when the file is not the run's own any more. */
async function cutFile(
  { store, objects, cutter }: RunParts,
  { isCut, chunkCount, filename, objectKey }: LeasedFile,
  hold: LeaseHold,
  signal: AbortSignal,
): Promise<boolean> {
  if (isCut) return true;
  const bytes = await objects.read(objectKey);
  if (bytes === undefined) throw new Error('the upload is gone');
  let next = chunkCount;
  for await (const chunks of cutter.cut({ bytes, filename, skip: chunkCount }, signal)) {
    if (!(await store.saveChunks(hold, next, chunks))) return false;
    next += chunks.length;
  }
  return store.markCut(hold);
}

async function embedFile(
  { store, embedBatch, now, sliceMs, batchItems, waits }: RunParts,
  file: LeasedFile,
  hold: LeaseHold,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = now();
  for (;;) {
    signal.throwIfAborted();
    const items = await store.bareItems(file.id, batchItems);
    if (items.length === 0) {
      await store.finishFile(hold);
      return;
    }
    const { vectors, bill } = await embedBatch(file, items, signal);
    waits.delete(file.modelId);
    const saved = items.map(({ id }, index) => ({ itemId: id, vector: vectors[index] as Float32Array }));
    if (!(await store.saveVectors(hold, saved, bill))) return;
    if (items.length < batchItems || now() - startedAt < sliceMs) continue;
    await store.giveBack(hold, now());
    return;
  }
}
