/** What is wrong with a file, in words that follow the field's name: "cannot be read as mp3". */
export class Problem extends Error {}
