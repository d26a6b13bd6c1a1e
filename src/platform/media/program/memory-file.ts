/** A file in memory for writing: containers go back to their header when the length is known. */
import { AVSEEK_CUR, AVSEEK_SET, AVSEEK_SIZE } from 'node-av/constants';
import { IOContext } from 'node-av/lib';

export interface MemoryFile {
  readonly io: IOContext;
  toBytes(): Buffer;
}

const writeBytes = 64 * 1024;

export function createMemoryFile(): MemoryFile {
  let bytes = Buffer.alloc(writeBytes);
  let length = 0;
  let position = 0;
  const io = new IOContext();
  io.allocContextWithCallbacks(
    writeBytes,
    1,
    null,
    (chunk) => {
      const end = position + chunk.length;
      if (end > bytes.length) {
        const larger = Buffer.alloc(Math.max(bytes.length * 2, end));
        bytes.copy(larger, 0, 0, length);
        bytes = larger;
      }
      chunk.copy(bytes, position);
      position = end;
      length = Math.max(length, end);
      return chunk.length;
    },
    (offset, whence) => {
      if (whence === AVSEEK_SIZE) return BigInt(length);
      const base = whence === AVSEEK_SET ? 0 : whence === AVSEEK_CUR ? position : length;
      position = base + Number(offset);
      return BigInt(position);
    },
  );
  return { io, toBytes: () => bytes.subarray(0, length) };
}
