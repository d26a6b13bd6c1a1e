/**
 * How much one grammar may be. Schemas come from clients, and a few hundred bytes of them can stand for any
 * number of rules, so the work is counted while it is done.
 */
import { GrammarError } from './grammar-error.ts';

/** Repetitions and groups are rules of their own to llama.cpp. 10,000 are read in less than half a second. */
export const mostRules = 10_000;
export const mostBytes = 256 * 1024;
/** Looks at a keyword, a property or a value; a schema of 20,000 values takes about as many. */
export const mostSteps = 200_000;
/** Counting bounds the work everywhere; the clock is for what the counting missed. */
const longestMs = 5_000;

const quoted = /"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]/g;
const repeated = /[(*+?]|\{(\d+)(?:,(\d*))?\}/g;

export class GrammarBudget {
  readonly #now: () => number;
  readonly #until: number;
  #steps = 0;
  #rules = 0;
  #bytes = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#until = now() + longestMs;
  }

  step(): void {
    this.#steps += 1;
    if (this.#steps > mostSteps) throw tooLarge('it takes too many steps to read');
    if (this.#steps % 256 === 0 && this.#now() > this.#until) throw tooLarge('it takes too long to read');
  }

  rule(body: string): void {
    this.step();
    this.#bytes += body.length + 8;
    if (this.#bytes > mostBytes) throw tooLarge(`its grammar is longer than ${mostBytes} characters`);
    this.#rules += 1;
    for (const [, least, most] of body.replace(quoted, '').matchAll(repeated)) {
      this.#rules += Math.max(1, Number(least ?? 0), Number(most ?? 0));
    }
    if (this.#rules > mostRules) throw tooLarge(`its grammar has more than ${mostRules} rules`);
  }
}

export function tooLarge(why: string): GrammarError {
  return new GrammarError(`The JSON schema is too large for this model: ${why}`);
}
