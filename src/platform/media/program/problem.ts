/** What is wrong with a file, in words that follow the field's name: "cannot be read as mp3". */
export class Problem extends Error {}

/** A package that is not installed here, in words for the operator. */
export class Missing extends Error {}
