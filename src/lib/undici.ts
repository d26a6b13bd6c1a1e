/**
 * Loads undici when it is first needed: it takes 29 MB, which a gateway without remote engines and without
 * fetched media need not spend. Synchronous, so that whoever builds an engine need not wait.
 */
import { createRequire } from 'node:module';

export function loadUndici(): typeof import('undici') {
  return createRequire(import.meta.url)('undici') as typeof import('undici');
}
