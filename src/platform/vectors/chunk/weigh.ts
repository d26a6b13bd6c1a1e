/**
 * How much of an embedding model's window a text takes, in characters of plain English, of which about four make a
 * token. Pure. Word pieces of other scripts, of numbers and of signs are shorter: without this a page of Chinese or a
 * table of figures would be cut off by the model at a third.
 */

/** English letters and spaces: about four to a token. */
const light = 1;
const sign = 2;
const otherAlphabet = 3;
/** Chinese, Japanese, Korean: a token for each. */
const ideograph = 4;

export function weightOf(text: string): number {
  let weight = 0;
  for (let at = 0; at < text.length; at++) weight += weightOfUnit(text.charCodeAt(at));
  return weight;
}

/** Of one UTF-16 unit. */
export function weightOfUnit(unit: number): number {
  if (unit < 0x80) {
    const isLetter = (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a;
    return isLetter || unit <= 0x20 ? light : sign;
  }
  if (unit < 0x250) return sign;
  return unit < 0x2e80 ? otherAlphabet : ideograph;
}
