/** A JSON schema that cannot be written as a grammar: the message says which part of it. */
export class GrammarError extends Error {
  /** Where in the schema, such as `properties.name.pattern`; empty for the schema itself. */
  path: string | undefined;

  constructor(message: string, path?: string) {
    super(message);
    this.path = path;
  }

  /** The message with the place, both short enough to be read. */
  get explanation(): string {
    const place = this.path === undefined || this.path === '' ? '' : ` (at ${shorten(this.path)})`;
    return `${this.message}${place}`;
  }
}

/** What a client sent, as a message may quote it. */
export function shorten(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 199)}…`;
}
