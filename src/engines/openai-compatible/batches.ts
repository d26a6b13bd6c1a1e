/** Long lists in parts that an engine takes, some of them at a time. */

/** TEI takes bodies of up to 2 MB. */
const batchBytes = 1_000_000;

export interface Batch<T> {
  /** The place of its first item in the whole list. */
  readonly from: number;
  readonly items: readonly T[];
}

/** At most `most` items and about a megabyte in each; items of one kind only. */
export function toBatches<T extends string | readonly number[]>(
  items: readonly T[],
  most: number,
): Batch<T>[] {
  const batches: Batch<T>[] = [];
  let from = 0;
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    // A token is written with up to six digits and a comma.
    const size = typeof item === 'string' ? Buffer.byteLength(item) : item.length * 7;
    const isFull = index - from >= most || bytes + size > batchBytes;
    if (index > from && (isFull || typeof item !== typeof items[from])) {
      batches.push({ from, items: items.slice(from, index) });
      from = index;
      bytes = 0;
    }
    bytes += size;
  }
  if (from < items.length) batches.push({ from, items: items.slice(from) });
  return batches;
}

/** The first failure ends the others and is rejected. Results are in the order of the work. */
export async function runSome<T, R>(
  work: readonly T[],
  parallel: number,
  run: (item: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): Promise<R[]> {
  if (work.length === 1) return [await run(work[0]!, signal)];
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < work.length && !either.aborted) {
      const index = next++;
      results[index] = await run(work[index]!, either);
    }
  };
  const workers = Array.from({ length: Math.min(parallel, work.length) }, worker);
  try {
    await Promise.all(workers);
  } catch (error) {
    failed.abort(error);
    // None is left behind: what they end with is the failure that is thrown already.
    await Promise.allSettled(workers);
    throw error;
  }
  signal.throwIfAborted();
  return results;
}
