/**
 * Sound that is heard while it is made: one growing file per song and attempt, in the data folder, so that any process
 * on the machine can follow it and a late listener begins at the first byte. Kept for a while after its end, across
 * restarts too.
 */
export interface RecordingId {
  readonly jobId: string;
  /** A retry starts over: followers of an earlier attempt are dropped. */
  readonly attempt: number;
  /** Of the song, from 0. */
  readonly index: number;
}

export interface Recorder {
  write(samples: Uint8Array): Promise<void>;
  /** The recording ends here, whole or not; it is kept for ten minutes from now. */
  end(): Promise<void>;
}

export interface Recordings {
  /** Begins an attempt's song. Recordings of earlier attempts of the job end and are removed. */
  record(id: RecordingId): Promise<Recorder>;
  /**
   * The samples from the first one on, following until the recording ends or a later attempt begins. Waits for a
   * recording that has not begun. `isOver` is asked from time to time while nothing comes: a dead maker ends nothing.
   */
  follow(
    id: Omit<RecordingId, 'attempt'>,
    isOver: () => Promise<boolean>,
    signal: AbortSignal,
  ): AsyncIterable<Buffer>;
  /** Whether there is something to follow: it grows, or has ended less than ten minutes ago. */
  isKept(id: Omit<RecordingId, 'attempt'>): Promise<boolean>;
  remove(jobId: string): Promise<void>;
  close(): Promise<void>;
}
