/**
 * Keeps the memory of a thread that works at something hostile within a limit, from outside. V8's own limit cannot: when
 * one allocation is larger than what is left of it (a table of properties that doubles, a list that grows by half), it
 * does not end the thread but the process. So V8's limit is out of the reach of a single allocation, and the watch ends
 * the thread long before. Each thread is measured for itself: what one takes is not held against the others.
 */
import type { ResourceLimits, Worker } from 'node:worker_threads';

/** The largest allocations are of a gigabyte. Address space, not memory. */
export const watchedThread: ResourceLimits = { maxOldGenerationSizeMb: 4096 };

const everyMs = 50;

/** Of its heap, and of the buffers that stand outside of it. Answers how to stop watching. */
export function watchMemory(worker: Worker, maxBytes: number, onExceeded: () => void): () => void {
  let isAsking = false;

  async function look(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    try {
      // Answered between two steps of the thread's own work, however long that goes on.
      const { total_heap_size: heap, external_memory: outside } = await worker.getHeapStatistics();
      if (heap + outside > maxBytes) onExceeded();
    } catch {
      // It has not begun yet, or is over.
    } finally {
      isAsking = false;
    }
  }

  const timer = setInterval(() => void look(), everyMs);
  return () => clearInterval(timer);
}
