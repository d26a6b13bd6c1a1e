/** The public face of stored responses. */
export { createResponses, type ResponsesParts } from './responses.ts';
export type * from './types.ts';
