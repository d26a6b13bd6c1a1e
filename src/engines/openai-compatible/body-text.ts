/** A body as the JSON text that is sent. */
import type { Fields } from './flavor.ts';

/**
 * Half a character, as a client can send it by an escape, is valid JSON but no text: servers in Python fail on it
 * with a 500, and a few of those would have the engine set aside for everybody. It becomes U+FFFD. Only such
 * halves are written as escapes, so ordinary bodies cost one search.
 */
export function toBodyText(body: Fields): string {
  const text = JSON.stringify(body);
  return text.includes('\\ud') ? JSON.stringify(body, toWellFormed) : text;
}

function toWellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
