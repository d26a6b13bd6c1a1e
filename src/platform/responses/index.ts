/** The public face of stored responses. */
export { createItemIds } from './items.ts';
export { createResponses, type ResponsesParts } from './responses.ts';
export type * from './types.ts';
