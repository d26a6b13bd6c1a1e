/** The thread that reads one hostile file, hands on its pieces batch by batch as they are asked for, and ends. */
import assert from 'node:assert';
import { once } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createChunker } from '../chunk/index.ts';
import type { Chunk } from '../parts.ts';
import { readPassages } from './read.ts';
import { damagedFile, invalid, type Refusal, toRefusal } from './refusal.ts';

export interface CutJob {
  readonly bytes: Uint8Array;
  readonly filename: string;
  /** So many pieces are there already: they are made, to know where the next begins, but not handed on. */
  readonly skip: number;
  readonly maxCharacters: number;
  readonly maxChunks: number;
  readonly batchChunks: number;
}

export type CutMessage =
  | { readonly chunks: readonly Chunk[] }
  | { readonly end: true }
  | { readonly refusal: Refusal };

async function* cut({ bytes, filename, skip, maxCharacters, maxChunks }: CutJob): AsyncGenerator<Chunk> {
  const chunker = createChunker(filename);
  let count = 0;
  let characters = 0;
  function* counted(chunks: readonly Chunk[]): Generator<Chunk> {
    for (const chunk of chunks) {
      if (count >= maxChunks)
        throw invalid(`The file makes more than ${maxChunks} pieces: split it into several files`);
      if (count++ >= skip) yield toStorable(chunk);
    }
  }
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for await (const passage of await readPassages(buffer, filename)) {
    characters += passage.text.length;
    if (characters > maxCharacters)
      throw invalid(
        `The file holds more text than the limit of ${maxCharacters} characters: split it into several files`,
      );
    yield* counted(chunker.push(passage));
  }
  yield* counted(chunker.end());
  if (count === 0) throw invalid('The file has no text: send one with text in it');
}

/** Files may hold what PostgreSQL cannot store and models do not take: U+0000, and halves of surrogate pairs. */
function toStorable({ text, description }: Chunk): Chunk {
  const clean = (one: string) => one.replaceAll('\0', ' ').toWellFormed();
  return { text: clean(text), description: clean(description) };
}

async function run(port: MessagePort, job: CutJob): Promise<void> {
  const say = (message: CutMessage) => port.postMessage(message);
  try {
    let batch: Chunk[] = [];
    for await (const chunk of cut(job)) {
      batch.push(chunk);
      if (batch.length < job.batchChunks) continue;
      say({ chunks: batch });
      batch = [];
      // A slow store slows the reading down, so that nothing piles up.
      await once(port, 'message');
    }
    if (batch.length > 0) say({ chunks: batch });
    say({ end: true });
  } catch (error) {
    const damaged = { code: 'invalid_file', message: damagedFile } as const;
    say({ refusal: toRefusal(error) ?? damaged });
  }
}

const port = parentPort;
assert(port !== null, 'this file runs as a worker thread');
await run(port, workerData as CutJob);
// The port would keep the thread alive.
port.close();
