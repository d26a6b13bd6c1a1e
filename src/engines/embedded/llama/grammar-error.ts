/** A JSON schema that cannot be written as a grammar: the message says which part of it. */
export class GrammarError extends Error {}
