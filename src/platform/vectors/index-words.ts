/** The words of a text, as the full-text search of either database takes them: letters and digits, no syntax. Pure. */

/** Of a question. What is longer is a document, and its first words say enough. */
const maxTerms = 32;
/** Enough for as many terms. One character may be 18 once it is written out (NFKC). */
const maxQuestionChars = 4_096;
const maxWordChars = 64;

export function toWords(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  ).map((word) => word.slice(0, maxWordChars));
}

/** What a question looks for: its words once each, without those that stand in every English text. */
export function toTerms(question: string): string[] {
  const words = [...new Set(toWords(question.slice(0, maxQuestionChars)))];
  const telling = words.filter((word) => !stopWords.has(word));
  return (telling.length > 0 ? telling : words).slice(0, maxTerms);
}

export interface CountedTerm {
  readonly term: string;
  /** How many items have it. */
  readonly count: number;
}

/**
 * The rarest terms, as many as together match no more items than may be ranked: a word that stands in every third item
 * tells little and costs most. At least one.
 */
export function pickTerms(terms: readonly CountedTerm[], maxMatches: number): string[] {
  const picked: string[] = [];
  let matches = 0;
  for (const { term, count } of [...terms]
    .filter(({ count }) => count > 0)
    .sort((one, other) => one.count - other.count)) {
    matches += count;
    if (picked.length > 0 && matches > maxMatches) break;
    picked.push(term);
  }
  return picked;
}

/** Those of PostgreSQL's `english` that are words of a question. */
const stopWords: ReadonlySet<string> = new Set(
  `i me my we our ours you your he him his she her it its they them their what which who whom this that these those am
  is are was were be been being have has had having do does did doing a an the and but if or because as until while of at
  by for with about against between into through during before after above below to from up down in out on off over under
  again further then once here there when where why how all any both each few more most other some such no nor not only
  own same so than too very s t can will just don should now`.split(/\s+/),
);
