/** Output that is there as a whole, in parts of a size that a reader can take. */
import type { JobOutput } from './protocol.ts';

/** The contract of a studio names it. */
const partBytes = 1024 * 1024;

export async function emitAll(bytes: Uint8Array, output: Pick<JobOutput, 'emit'>): Promise<void> {
  for (let start = 0; start < bytes.length; start += partBytes)
    await output.emit(bytes.subarray(start, start + partBytes));
}
