/** The starts of the last minute, oldest first: what makes the sliding minute exact. */

/** A start counts while it is strictly less than this old. */
export const windowMs = 60_000;

const firstCapacity = 16;

/**
 * A ring of numbers that doubles when it is full. It holds at most what one minute allowed, is never copied on
 * the way of an ordinary request, and a changed limit neither moves nor loses anything in it.
 */
export class StartTimes {
  #ring = new Float64Array(firstCapacity);
  #oldest = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Drops what the minute no longer counts. */
  forget(now: number): void {
    while (this.#count > 0 && now - this.#at(0) >= windowMs) {
      this.#oldest = (this.#oldest + 1) % this.#ring.length;
      this.#count--;
    }
  }

  push(now: number): void {
    if (this.#count === this.#ring.length) this.#grow();
    this.#ring[(this.#oldest + this.#count) % this.#ring.length] = now;
    this.#count++;
  }

  /** How long until the n-th oldest (1 is the oldest) no longer counts; Infinity where there are fewer. */
  msUntilForgotten(n: number, now: number): number {
    return n > this.#count ? Number.POSITIVE_INFINITY : Math.max(0, this.#at(n - 1) + windowMs - now);
  }

  #at(index: number): number {
    return this.#ring[(this.#oldest + index) % this.#ring.length] as number;
  }

  #grow(): void {
    const larger = new Float64Array(this.#ring.length * 2);
    for (let i = 0; i < this.#count; i++) larger[i] = this.#at(i);
    this.#ring = larger;
    this.#oldest = 0;
  }
}
