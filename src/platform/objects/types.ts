/**
 * Whole files by key: outputs, inputs of jobs, kept answers. On disk under the data folder, written beside their place
 * and moved there, so that a reader never sees half of one. A full disk is an `internal` failure with nothing left.
 */
import type { Readable } from 'node:stream';

/** Lower-case words, digits, `-`, `_` and `.` between slashes: `videos/video_12ab/0.mp4`. */
export type ObjectKey = string;

export interface ObjectInfo {
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly writtenAt: number;
}

/** Both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface Objects {
  /** Takes the place of what stood there. */
  put(key: ObjectKey, data: Uint8Array | AsyncIterable<Uint8Array>): Promise<ObjectInfo>;
  find(key: ObjectKey): Promise<ObjectInfo | undefined>;
  read(key: ObjectKey): Promise<Buffer | undefined>;
  /** A file that is deleted while it is read is read to its end. */
  open(key: ObjectKey, range?: ByteRange): Promise<Readable | undefined>;
  /** The object, and everything below the key. Nothing there is no failure. */
  remove(key: ObjectKey): Promise<void>;
  /**
   * A key below `folder` (one word) for something that nobody deletes by hand: it is gone soon after `expiresAt`. The
   * time stands in the key, so that a sweep needs no record of it.
   */
  passingKey(folder: string, expiresAt: number, name: string): ObjectKey;
  close(): Promise<void>;
}

/** Links that work without a key for a while. */
export interface Links {
  /** `exp=…&sig=…`, to follow the path of a link. The path begins after `/v1`: `/objects/images/…`. */
  sign(path: string, expiresAt: number): string;
  /** In constant time. `now` past `exp` is no. */
  isValid(path: string, query: { exp?: string | undefined; sig?: string | undefined }): boolean;
}
