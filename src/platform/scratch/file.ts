/** A file that is only known by its handle: written once from front to back, then read by as many as want to. */
import assert from 'node:assert';
import type { FileHandle } from 'node:fs/promises';
import type { Kept } from './types.ts';

/** What a pipe to a process takes at once, about. */
const pieceBytes = 128 * 1024;

export class ScratchFile implements Kept {
  length = 0;
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** One after the other. */
  async append(bytes: Uint8Array): Promise<void> {
    // A disk that is nearly full takes a part of it, and says so only when it gets the rest.
    for (let at = 0; at < bytes.byteLength; ) {
      const { bytesWritten } = await this.#handle.write(bytes, at, bytes.byteLength - at, this.length);
      at += bytesWritten;
      this.length += bytesWritten;
    }
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    // The same memory for all of them: buffers that come and go make V8 collect everything, again and again.
    const piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, this.length));
    for (let at = 0; at < this.length; ) {
      const filled = await this.#fill(piece, at);
      at += filled;
      yield piece.subarray(0, filled);
    }
  }

  async toBuffer(): Promise<Buffer> {
    // Its memory is first touched by the thread that reads: in the event loop's own thread 20 MB take 10 ms.
    const all = Buffer.allocUnsafeSlow(this.length);
    for (let at = 0; at < all.length; ) at += await this.#fill(all.subarray(at), at);
    return all;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #fill(target: Buffer, at: number): Promise<number> {
    const { bytesRead } = await this.#handle.read(target, 0, target.length, at);
    assert(bytesRead > 0, 'a file does not get shorter that nobody else can open');
    return bytesRead;
  }
}
