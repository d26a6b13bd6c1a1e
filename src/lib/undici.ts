/** Loads undici when it is first needed: it takes 29 MB, which a gateway that fetches nothing need not spend. */
import { createRequire } from 'node:module';

export function loadUndici(): typeof import('undici') {
  return createRequire(import.meta.url)('undici') as typeof import('undici');
}
