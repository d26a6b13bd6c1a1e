/** Bytes that need not stand in memory: those of a file are read piece by piece, by whoever needs them. */

export interface Content {
  /** In bytes. */
  readonly length: number;
  /** From the first byte on, every time. A piece is good until the next one is asked for. */
  pieces(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** For those who need all of it at once; takes as much memory. */
  toBuffer(): Promise<Buffer>;
}

export type Bytes = Uint8Array | Content;

/** `parts` lie one behind the other; they are only joined for those who want one buffer. */
export function inMemory(parts: readonly Uint8Array[]): Content {
  return {
    length: parts.reduce((sum, { byteLength }) => sum + byteLength, 0),
    pieces: () => parts,
    async toBuffer() {
      const [only] = parts;
      return parts.length === 1 && Buffer.isBuffer(only) ? only : Buffer.concat(parts);
    },
  };
}

export function toContent(bytes: Bytes): Content {
  return bytes instanceof Uint8Array ? inMemory([bytes]) : bytes;
}

/** Enough to tell what it is: at least 64 KiB where there is so much of a file. */
export async function firstPiece(content: Content): Promise<Buffer> {
  for await (const { buffer, byteOffset, byteLength } of content.pieces())
    return Buffer.from(buffer, byteOffset, byteLength);
  return Buffer.alloc(0);
}
