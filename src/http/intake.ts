/**
 * A file of a form on its way to where it is kept: gathered into pieces that are worth a write, in memory that is used
 * again for the next one. While a piece is written its sender is not read, so that a turn of the event loop has little of
 * each file, where a socket alone would hand over 2 MB.
 */

const fullBytes = 256 * 1024;
const firstCapacity = 16 * 1024;
const nothing = Buffer.alloc(0);

export class Intake {
  #memory: Buffer = nothing;
  #filled = 0;
  #isEnded = false;
  #failure: unknown;
  #wake: (() => void) | undefined;
  readonly #onChange: () => void;

  /** `onChange` is called when it has become full, and when it is so no more. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get isFull(): boolean {
    return this.#filled >= fullBytes && this.#failure === undefined;
  }

  /** Copies it. What comes although it is full is taken as well. */
  add(piece: Uint8Array): void {
    const filled = this.#filled + piece.byteLength;
    if (filled > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(firstCapacity, filled, 2 * this.#memory.length));
      this.#memory.copy(larger, 0, 0, this.#filled);
      this.#memory = larger;
    }
    this.#memory.set(piece, this.#filled);
    this.#filled = filled;
    if (!this.isFull) return;
    this.#onChange();
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** There will be no end: whoever takes the pieces fails with this. */
  fail(error: unknown): void {
    this.#failure ??= error;
    this.#wake?.();
  }

  /** A piece is good until the next one is asked for. */
  async *pieces(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        if (this.#failure !== undefined) throw this.#failure;
        if (this.isFull || (this.#isEnded && this.#filled > 0)) {
          const bytes = this.#filled;
          yield this.#memory.subarray(0, bytes);
          this.#memory.copyWithin(0, bytes, this.#filled);
          this.#filled -= bytes;
          this.#onChange();
        } else if (this.#isEnded) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      // It is known for as long as its request lasts, and a form may have many of them.
      this.#memory = nothing;
      this.#filled = 0;
    }
  }
}
