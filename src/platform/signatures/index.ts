/** The public face of signatures. */
export { createSignatures, type StartedSignatures } from './signatures.ts';
export type * from './types.ts';
