/**
 * Gathers the chunks of a body. What stands around a chunk is larger than a tiny one, so a list of those would hold
 * hundreds of times their size: from the second one on they are copied into one growing buffer, and given back.
 */
import { release } from '../lib/release.ts';

const firstCapacity = 16 * 1024;
/** From here on the buffer is made as large as the sender has announced: growing 20 MB by doubling stalls for 30 ms. */
const largeBytes = 1024 * 1024;

export class ByteCollector {
  size = 0;
  readonly #announced: number;
  /** Most bodies arrive in one piece, which is then not copied at all. */
  #only: Buffer | undefined;
  #gathered: Buffer | undefined;

  /** `announced`: how much there will be at most, where that is known. Memory is taken only for what really comes. */
  constructor(announced = 0) {
    this.#announced = announced;
  }

  add(chunk: Buffer): void {
    if (this.size === 0) {
      this.#only = chunk;
      this.size = chunk.length;
      return;
    }
    if (this.#only !== undefined) {
      const first = this.#only;
      this.#only = undefined;
      this.size = 0;
      this.#append(first);
    }
    this.#append(chunk);
  }

  toBuffer(): Buffer {
    return this.#only ?? this.#gathered?.subarray(0, this.size) ?? Buffer.alloc(0);
  }

  #append(chunk: Buffer): void {
    const size = this.size + chunk.length;
    if (this.#gathered === undefined || size > this.#gathered.length) {
      const isLarge = size > largeBytes && this.#announced >= size;
      const larger = Buffer.allocUnsafe(isLarge ? this.#announced : Math.max(firstCapacity, 2 * size));
      this.#gathered?.copy(larger, 0, 0, this.size);
      this.#gathered = larger;
    }
    chunk.copy(this.#gathered, this.size);
    this.size = size;
    release(chunk);
  }
}
