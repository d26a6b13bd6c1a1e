/** Finds where a model has begun to say the same thing over and over, which speech models do when they are lost. Pure. */

/** The longest phrase whose repetition is looked for, in tokens. */
const longestPhrase = 24;
/** Said so often in a row it is no longer speech: a chorus or a stutter has fewer. */
const repeats = 4;
/** And it has to be so long: "no, no, no, no" is something that people say. */
const fewestTokens = 16;

/**
 * How many tokens of the end are one phrase, said again and again: all but its first time. 0 where there is no
 * loop.
 */
export function loopedTokens(tokens: readonly number[]): number {
  for (let phrase = 1; phrase <= longestPhrase; phrase++) {
    const least = Math.max(phrase * repeats, fewestTokens);
    if (tokens.length < least) return 0;
    let same = 0;
    while (same + phrase < tokens.length && tokens.at(-1 - same) === tokens.at(-1 - same - phrase)) same += 1;
    if (same + phrase >= least) return same;
  }
  return 0;
}
