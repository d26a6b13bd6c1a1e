/** The public face of scratch files. */
export { createScratch, type ScratchParts } from './scratch.ts';
export type * from './types.ts';
