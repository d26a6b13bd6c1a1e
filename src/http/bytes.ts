/**
 * Gathers the chunks of a body. A chunk is a view on the socket's 64 KiB read buffer, so a list of tiny chunks
 * would hold hundreds of times their size: from the second one on they are copied into one growing buffer.
 */
export interface ByteCollector {
  readonly size: number;
  add(chunk: Buffer): void;
  toBuffer(): Buffer;
}

const firstCapacity = 16 * 1024;

export function createByteCollector(): ByteCollector {
  let only: Buffer | undefined;
  let gathered: Buffer | undefined;
  let size = 0;

  function append(chunk: Buffer): void {
    if (gathered === undefined || size + chunk.length > gathered.length) {
      const larger = Buffer.allocUnsafe(Math.max(firstCapacity, 2 * (size + chunk.length)));
      gathered?.copy(larger, 0, 0, size);
      gathered = larger;
    }
    chunk.copy(gathered, size);
    size += chunk.length;
  }

  return {
    get size() {
      return size;
    },
    add(chunk) {
      // Most bodies arrive in one piece, which is then not copied at all.
      if (size === 0) {
        only = chunk;
        size = chunk.length;
        return;
      }
      if (only !== undefined) {
        const first = only;
        only = undefined;
        size = 0;
        append(first);
      }
      append(chunk);
    },
    toBuffer: () => only ?? gathered?.subarray(0, size) ?? Buffer.alloc(0),
  };
}
