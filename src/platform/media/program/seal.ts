/**
 * Takes from the process what it would need to open anything: every free file descriptor. Whatever a file makes
 * FFmpeg believe, opening a file or a socket then fails in the kernel. It works because the process was started
 * with a low hard limit; where none could be set, all is given back and it does not hold.
 */
import { closeSync, openSync } from 'node:fs';

const mostDescriptors = 256;

export class Seal {
  readonly #taken: number[] = [];
  #openings = 0;

  /** Whether it holds. */
  close(): boolean {
    try {
      while (this.#taken.length < mostDescriptors) this.#taken.push(openSync('/dev/null', 'r'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EMFILE') return true;
    }
    this.#open();
    return false;
  }

  /** For what is read from our own files in the middle of a job: code, never a client's file. */
  async lift<Result>(load: () => Promise<Result>): Promise<Result> {
    this.#openings += 1;
    this.#open();
    try {
      return await load();
    } finally {
      this.#openings -= 1;
      if (this.#openings === 0) this.close();
    }
  }

  #open(): void {
    for (const descriptor of this.#taken.splice(0)) closeSync(descriptor);
  }
}
