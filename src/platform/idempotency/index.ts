/** The public face of idempotency. */
export { createIdempotency, type IdempotencyParts } from './idempotency.ts';
export type * from './types.ts';
