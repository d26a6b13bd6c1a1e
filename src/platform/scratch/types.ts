/**
 * What requests bring while they last: the files of forms. Small ones stay in memory, the rest lies on disk in files
 * without a name, which end with the process that holds them, however that ends. A full disk is an `internal` failure
 * with nothing left.
 */
import type { Content } from '../../lib/content.ts';

export interface Kept extends Content {
  /** Lets go of it: who still reads it fails. */
  close(): Promise<void>;
}

export interface Scratch {
  /**
   * Takes pieces as fast as they can be written; a piece may be changed once the next one is asked for. Rejects with
   * what `data` rejects with, and nothing is left then.
   */
  keep(data: AsyncIterable<Uint8Array>): Promise<Kept>;
  close(): Promise<void>;
}
