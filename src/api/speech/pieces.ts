/**
 * Sound that one side makes and another takes away: a list between the two that holds the maker back while the
 * taker is slow.
 */
import type { SpeechRun } from '../../engines/contract/speech.ts';

/** Ten seconds of sound: more is not made before the reader has some of it. */
const highWaterBytes = 480_000;

export class SoundPieces<End> {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #run: SpeechRun | undefined;
  #isPaused = false;
  #end: { readonly value: End } | undefined;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** Whose sound it is, from now on. */
  follow(run: SpeechRun): void {
    this.#run = run;
    this.#isPaused = false;
  }

  push(pcm: Buffer): void {
    this.#pieces.push(pcm);
    this.#bytes += pcm.length;
    if (this.#bytes > highWaterBytes && !this.#isPaused) {
      this.#isPaused = true;
      this.#run?.pause();
    }
    this.#wake?.();
  }

  end(value: End): void {
    this.#end = { value };
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake?.();
  }

  /** Answers what `end` was told; throws what `fail` was told, after the pieces before it. */
  async *take(): AsyncGenerator<Buffer, End> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        this.#bytes -= piece.length;
        yield piece;
        this.#release();
      } else if (this.#failure !== undefined) throw this.#failure.error;
      else if (this.#end !== undefined) return this.#end.value;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  #release(): void {
    if (!this.#isPaused || this.#bytes > highWaterBytes / 2) return;
    this.#isPaused = false;
    this.#run?.resume();
  }
}
