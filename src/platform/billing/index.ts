/** The public face of billing. */
export { createBilling, type StartedBilling } from './billing.ts';
export { insertJobRow } from './job-row.ts';
export { priceOf, toUsd } from './price.ts';
export type * from './types.ts';
