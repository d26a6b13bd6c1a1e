/** Ends answers that nobody reads: what waits for such a client is memory, open files and perhaps an engine. */
import type { ServerResponse } from 'node:http';

/** A reader that took not a byte of what waits for it in this time. */
const defaultStuckReaderMs = 30_000;

/**
 * From now on a reader that takes nothing of what waits for it counts as gone. One that is slow is waited for, and so
 * is one for whom there is nothing yet. Holds for this answer: Node sets the socket's time anew for the next one.
 */
export function expectReader(response: ServerResponse, stuckReaderMs = defaultStuckReaderMs): void {
  response.setTimeout(stuckReaderMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
